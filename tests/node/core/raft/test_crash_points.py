"""A node that dies between any two of its effects keeps its word (KIP-595 "Quorum State"; 595-08).

The same story is told again and again, each time with a node that dies one effect later; it comes
back from what its disk has, and is asked for the vote that it may have given already.
"""

from collections import defaultdict

import pytest

from kraftproof.node.core.effects import Reply, Send
from kraftproof.node.wire.messages import begin_quorum_epoch_request, vote_request, vote_response
from tests.node.core.raft.messages import begin, partition_of, reply_to, vote
from tests.support.node.quorum_harness import Quorum
from tests.support.node.quorum_member import role_deadline

VOTERS = (1, 2, 3)
LONGER_LOG = (9, 9)
"""End offset and epoch: nobody can refuse it for its log."""


class DiedError(Exception):
    """The doomed node has carried out what it was given time for."""


class Mortal(Quorum):
    """One node carries out so many effects and no more; the last is not to be seen in the trace."""

    def __init__(self, doomed, effects):
        self.doomed, self.left = doomed, effects
        super().__init__(len(VOTERS))

    def carry_out(self, member, effect):
        if member.node_id == self.doomed:
            if self.left == 0:
                self.trace.pop()
                raise DiedError
            self.left -= 1
        super().carry_out(member, effect)


def story(quorum):
    """Node 1 wins epoch 1 and commits; 3 wins epoch 2; 2 stands in 3 and follows 1 in 4."""
    for node_id in VOTERS:
        quorum.start(node_id)
    quorum.quiesce()
    stand(quorum, 1)
    quorum.propose(1, "a")
    quorum.quiesce()
    quorum.cut = {(1, 2), (2, 1), (1, 3), (3, 1)}
    quorum.propose(1, "lost")
    stand(quorum, 3)
    quorum.cut = set()
    quorum.quiesce()
    quorum.cut = {(2, 1), (2, 3), (1, 2), (3, 2)}
    stand(quorum, 2)
    reply_to(quorum, 2, begin(9, 1), 1)
    reply_to(quorum, 1, vote(10, 3, *LONGER_LOG), 1)


def stand(quorum, node_id):
    quorum.now = max(quorum.now, role_deadline(quorum.members[node_id]))
    quorum.tick(node_id)
    quorum.quiesce()


def words(trace, doomed):
    """What a node has told others: whom it voted for by epoch, which it led, the largest epoch."""
    votes, led, told = defaultdict(set), set(), 0
    for node_id, effect in trace:
        if node_id != doomed:
            continue
        match effect:
            case Send(message=vote_request.VoteRequest() as message):
                epoch = partition_of(message).replica_epoch
                votes[epoch].add(doomed)
            case Send(message=begin_quorum_epoch_request.BeginQuorumEpochRequest() as message):
                epoch = partition_of(message).leader_epoch
                led.add(epoch)
            case Reply(message=vote_response.VoteResponse() as message):
                epoch = partition_of(message).leader_epoch
            case _:
                continue
        told = max(told, epoch)
    return votes, led, told


def granted(quorum, doomed, epoch):
    """The candidates of an epoch that a node gives its vote, asked by both in turn."""
    others = [node_id for node_id in VOTERS if node_id != doomed]
    return {
        candidate
        for candidate in others
        if partition_of(
            reply_to(quorum, doomed, vote(epoch, candidate, *LONGER_LOG), 1)
        ).vote_granted
    }


def votes_told(quorum, doomed):
    """Whom a node has told that they have its vote, by epoch: its own answers, by their askers."""
    return {
        (partition_of(effect.message).leader_epoch, quorum.hears[effect.request])
        for node_id, effect in quorum.trace
        if node_id == doomed
        and isinstance(effect, Reply)
        and isinstance(effect.message, vote_response.VoteResponse)
        and partition_of(effect.message).vote_granted
        and quorum.hears[effect.request] is not None
    }


@pytest.mark.requirement("595-07")
@pytest.mark.requirement("595-08")
@pytest.mark.parametrize("doomed", VOTERS)
def test_a_crash_between_any_two_effects_breaks_no_word(doomed):
    whole = Mortal(doomed, 10_000)
    story(whole)
    effects = 10_000 - whole.left
    assert effects > 20
    for lived in range(effects):
        quorum = Mortal(doomed, lived)
        with pytest.raises(DiedError):
            story(quorum)
        quorum.left = 10_000
        votes, led, told = words(quorum.trace, doomed)
        given = defaultdict(set, votes)
        for epoch, candidate in votes_told(quorum, doomed):
            given[epoch].add(candidate)
        quorum.crash(doomed, lose_unflushed=True)
        quorum.start(doomed)
        raft = quorum.members[doomed].raft
        assert raft.epoch >= told, f"after {lived} effects"
        assert not raft.is_leader
        now_given = granted(quorum, doomed, raft.epoch) | given[raft.epoch]
        assert len(now_given) <= 1, f"after {lived} effects: {now_given} in epoch {raft.epoch}"
        assert raft.epoch not in led or now_given <= {doomed}
