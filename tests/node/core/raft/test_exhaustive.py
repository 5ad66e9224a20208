"""Small scopes of the quorum, explored exhaustively (KIP-595 "Test Plan"; 595-77).

Every order of messages, losses, fsyncs, time-outs, crashes and proposals that a few actions can
have, from a few situations; states that are the same but for the time are visited once. The
invariants are those of the random runs (test_random_quorums.py).
Simplifications: a link delivers in order, as TCP does; a node that crashes is back at once;
time-outs come in any order, whatever their length.
"""

from collections import deque

import pytest

from kraftproof.node.wire.messages import fetch_request
from tests.node.core.raft.messages import elected
from tests.node.core.raft.test_random_quorums import Invariants
from tests.support.node.quorum_harness import Quorum
from tests.support.node.quorum_member import role_deadline

LAST_EPOCH = 3


class Situation:
    """One path: how it begins, what has been done, what can be done next."""

    def __init__(self, begin, budget, path=()):
        self.quorum = begin()
        self.flushes_at_once = "flush" not in budget
        self.invariants = Invariants(self.quorum)
        self.tidy()
        self.invariants.check()
        self.left = dict(budget)
        self.path = path
        for action in path:
            self.take(action)

    def take(self, action):
        name, *arguments = action
        self.left[name] = self.left.get(name, 1_000) - 1
        getattr(self, name)(*arguments)
        self.tidy()
        self.invariants.check()

    def tidy(self):
        """Do at once what has no choice in this scope."""
        for member in self.quorum.members.values():
            while member.is_up and member.flushes and self.flushes_at_once:
                self.quorum.flush(member.node_id)
        self.drop_what_leads_nowhere()

    def drop_what_leads_nowhere(self):
        """Leave out the search for a leader and what is sent to the dead: it changes nothing."""
        members = self.quorum.members
        self.quorum.messages = [
            message
            for message in self.quorum.messages
            if members[message.destination].is_up
            and not (
                isinstance(message.payload, fetch_request.FetchRequest)
                and not members[message.destination].raft.is_leader
            )
        ]

    def choices(self):
        quorum = self.quorum
        members = [member for member in quorum.members.values() if member.is_up]
        links = sorted({(m.source, m.destination) for m in quorum.messages})
        actions = [("deliver", *link) for link in links]
        actions += [("lose", *link) for link in links]
        actions += [("flush", m.node_id) for m in members if m.flushes]
        actions += [("crash", m.node_id) for m in members]
        actions += [("propose", m.node_id) for m in members if m.raft.is_leader]
        actions += [("timeout", m.node_id) for m in members if m.raft.epoch < LAST_EPOCH]
        return [action for action in actions if self.left.get(action[0], 1) > 0]

    def first_of(self, source, destination):
        messages = self.quorum.messages
        link = (source, destination)
        index = next(i for i, m in enumerate(messages) if (m.source, m.destination) == link)
        return messages.pop(index)

    def deliver(self, source, destination):
        self.quorum.deliver_one(self.first_of(source, destination))

    def lose(self, source, destination):
        self.quorum.lose(self.first_of(source, destination))

    def flush(self, node_id):
        self.quorum.flush(node_id)

    def crash(self, node_id):
        self.quorum.crash(node_id, lose_unflushed=True)
        self.quorum.start(node_id)

    def propose(self, node_id):
        self.quorum.propose(node_id, "a")

    def timeout(self, node_id):
        self.quorum.now = max(self.quorum.now, role_deadline(self.quorum.members[node_id]))
        self.quorum.tick(node_id)

    def fingerprint(self):
        """All that decides what can follow, but for the time."""
        quorum = self.quorum
        nodes = tuple(self.of_node(m) for m in quorum.members.values() if m.is_up)
        links = {}
        for message in quorum.messages:
            links.setdefault((message.source, message.destination), []).append(message.payload)
        queues = tuple((link, tuple(links[link])) for link in sorted(links))
        return repr((nodes, queues, sorted(self.left.items()) if self.left else ()))

    def of_node(self, member):
        raft = member.raft
        role = raft.role
        return (
            role.name,
            getattr(role, "granted", ()),
            getattr(role, "refused", ()),
            member.disk.durable,
            [(batch.base_offset, batch.epoch, len(batch.records)) for batch in member.disk.batches],
            member.disk.flushed,
            raft.flushed,
            raft.high_watermark,
            [(f.generation - raft.log.generation, f.end_offset) for f in member.flushes],
            [voter.acknowledged for voter in role.replicas.voters.values()]
            if raft.is_leader
            else (),
        )


def explore(begin, budget, depth):
    """Visit each state once, the nearest first; how many there were, and what was seen.

    `budget` bounds how often an action may be taken; fsyncs are a choice of their own if named.
    """
    seen, leaders, committed, exits = set(), set(), 0, []
    situations = deque([Situation(begin, budget)])
    while situations:
        situation = situations.popleft()
        leaders |= set(situation.invariants.leaders)
        committed = max(committed, len(situation.invariants.committed))
        exits += [m.exit for m in situation.quorum.members.values() if m.exit is not None]
        if len(situation.path) == depth or exits:
            continue
        for action in situation.choices():
            following = Situation(begin, budget, (*situation.path, action))
            mark = following.fingerprint()
            if mark not in seen:
                seen.add(mark)
                situations.append(following)
    return len(seen), sorted(leaders), committed, exits


def split():
    """Two of three voters stand in the same epoch; nobody has heard of it yet."""
    quorum = Quorum(3)
    for node_id in quorum.members:
        quorum.start(node_id)
    quorum.quiesce()
    quorum.messages.clear()
    for node_id in (1, 2):
        quorum.now = max(quorum.now, role_deadline(quorum.members[node_id]))
        quorum.tick(node_id)
    return quorum


def diverged():
    """Node 1 has a record of epoch 1 that nobody else has; node 2 leads epoch 2; node 3 is down."""
    quorum = elected()
    quorum.cut = {(1, 2), (2, 1), (1, 3), (3, 1)}
    quorum.propose(1, "lost")
    quorum.flush(1)
    quorum.now = role_deadline(quorum.members[2])
    quorum.tick(2)
    quorum.quiesce()
    quorum.crash(3)
    quorum.cut = set()
    quorum.messages.clear()
    leader = quorum.members[2]
    for correlation in sorted(leader.sends):
        del leader.sends[correlation]
        quorum._resume(leader, correlation, None)
    quorum.now = max(quorum.now, leader.raft.deadline())
    quorum.tick(2)
    (begin,) = quorum.messages
    quorum.messages.clear()
    quorum.deliver_one(begin)
    return quorum


@pytest.mark.requirement("595-77")
def test_no_order_of_an_election_makes_two_leaders_of_an_epoch():
    states, leaders, _, exits = explore(split, {"timeout": 1, "crash": 1, "lose": 0}, depth=5)
    assert states > 1_000
    assert leaders == [1, 2]
    assert exits == []


@pytest.mark.requirement("595-77")
def test_no_order_of_fetches_and_truncations_loses_what_is_committed():
    budget = {"timeout": 0, "crash": 1, "lose": 1, "propose": 1, "flush": 1_000}
    states, leaders, committed, exits = explore(diverged, budget, depth=11)
    assert states > 500
    assert leaders == [2]
    assert committed > 2
    assert exits == []
