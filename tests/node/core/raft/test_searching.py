"""Finding the leader: whom a replica asks when, and how long it waits (KIP-595, 595-56, 595-57)."""

import itertools

import pytest

from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.core.effects import Send
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages.generated.fetch_response import FetchResponse
from tests.node.core.raft.messages import elected
from tests.support.node.quorum_harness import Quorum

OBSERVER = 4
TWENTY_MS = milliseconds(20)


def following():
    """A quorum at rest whose observer has found the leader, node 1; the trace starts empty."""
    quorum = elected(observers=1)
    quorum.advance(milliseconds(300))
    assert quorum.members[OBSERVER].raft.leader == 1
    quorum.trace.clear()
    return quorum


def targets(quorum):
    """Whom the observer has asked since the trace was cleared, in order."""
    return [
        effect.destination
        for node_id, effect in quorum.trace
        if node_id == OBSERVER and isinstance(effect, Send)
    ]


def lose_fetch(quorum):
    """The connection of the observer's Fetch is refused or reset."""
    member = quorum.members[OBSERVER]
    correlation = max(member.sends)
    del member.sends[correlation]
    quorum.messages = [message for message in quorum.messages if message.source != OBSERVER]
    quorum._resume(member, correlation, None)


def tick_when_due(quorum):
    quorum.now = max(quorum.now, quorum.members[OBSERVER].raft.deadline())
    quorum.tick(OBSERVER)


@pytest.mark.requirement("595-56")
def test_a_lost_fetch_turns_to_each_other_voter_at_once_and_then_waits():
    quorum = following()
    at = quorum.now
    for _ in range(3):
        lose_fetch(quorum)
    assert sorted(targets(quorum)) == [2, 3]
    assert quorum.members[OBSERVER].raft.deadline() == at + TWENTY_MS


@pytest.mark.requirement("595-57")
def test_a_voter_that_never_answers_is_asked_ever_less_often():
    quorum = following()
    times = {1: [], 2: [], 3: []}
    for _ in range(30):
        lose_fetch(quorum)
        if not quorum.members[OBSERVER].sends:
            tick_when_due(quorum)
        times[targets(quorum)[-1]].append(quorum.now)
    waits = [after - before for before, after in zip(times[2], times[2][1:], strict=False)]
    doubling = [milliseconds(ms) for ms in (20, 40, 80, 160, 320, 640, 1000, 1000)]
    assert waits[:8] == doubling


@pytest.mark.requirement("595-57")
def test_a_voter_of_another_cluster_is_asked_ever_less_often():
    quorum = Quorum(1, observers=1, cluster_ids={1: "another"})
    quorum.start(2)
    member, waits = quorum.members[2], []
    answer = FetchResponse(error_code=ErrorCode.INCONSISTENT_CLUSTER_ID)
    for _ in range(4):
        correlation = max(member.sends)
        del member.sends[correlation]
        quorum._resume(member, correlation, answer)
        waits.append(member.raft.deadline() - quorum.now)
        quorum.now = member.raft.deadline()
        quorum.tick(2)
    assert waits == [milliseconds(ms) for ms in (20, 40, 80, 160)]


@pytest.mark.requirement("595-56")
def test_voters_without_a_leader_are_asked_again_soon_and_in_turn():
    quorum = Quorum(3, observers=1)
    for node_id in quorum.members:
        quorum.start(node_id)
    quorum.messages.clear()
    times = [quorum.now]
    for _ in range(8):
        quorum.request(targets(quorum)[-1], last_fetch(quorum), 17, OBSERVER, correlation(quorum))
        quorum.quiesce()
        tick_when_due(quorum)
        times.append(quorum.now)
    waits = [after - before for before, after in itertools.pairwise(times)]
    assert waits == [milliseconds(ms) for ms in (20, 40, 80, 100, 100, 100, 100, 100)]
    asked = targets(quorum)
    assert all(one != next_one for one, next_one in itertools.pairwise(asked))


def last_fetch(quorum):
    fetches = [e.message for n, e in quorum.trace if n == OBSERVER and isinstance(e, Send)]
    return fetches[-1]


def correlation(quorum):
    quorum.messages = [message for message in quorum.messages if message.source != OBSERVER]
    return max(quorum.members[OBSERVER].sends)


@pytest.mark.requirement("595-57")
def test_a_voter_that_kept_us_waiting_is_left_alone_as_long():
    quorum = following()
    quorum.cut = {(OBSERVER, 1), (1, OBSERVER)}
    quorum.advance(milliseconds(10_000))
    asked = targets(quorum)
    assert 2 <= asked.count(1) <= 3  # two seconds each, and two between them
    assert asked.count(2) > 20
    assert asked.count(3) > 20


@pytest.mark.requirement("595-56")
def test_a_leader_that_another_voter_names_is_asked_at_once_however_long_it_was_silent():
    quorum = following()
    for _ in range(3):
        lose_fetch(quorum)
    quorum.trace.clear()
    quorum.do(OBSERVER, lambda raft: raft._state.on_epoch_info(2, 3, quorum.instant))
    assert targets(quorum) == [3]
