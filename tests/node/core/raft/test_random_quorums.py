"""Random quorums: crashes that lose what was not flushed, cut links, lost messages, one seed a run.

After each step the invariants of KIP-595 hold; at the end, healed, a leader commits and all agree.
"""

from random import Random

import pytest

from kraftproof.node.core.base.config import Timeouts
from kraftproof.node.core.base.types import milliseconds
from tests.support.node.quorum_harness import Quorum
from tests.support.node.quorum_member import deadline_of

CHAOS = Timeouts(
    election_ns=milliseconds(500),
    election_backoff_max_ns=milliseconds(500),
    fetch_ns=milliseconds(1000),
)


class Invariants:
    """What must hold after every step, with what has been seen so far."""

    def __init__(self, quorum):
        self.quorum = quorum
        self.leaders = {}
        self.committed = []
        self.seen = {}

    def check(self):
        for member in self.quorum.members.values():
            if member.is_up:
                self.check_member(member)

    def check_member(self, member):
        raft, key = member.raft, (member.node_id, member.starts)
        epoch, high_watermark = self.seen.get(key, (0, 0))
        assert raft.epoch >= epoch, "an epoch fell"
        assert raft.high_watermark >= high_watermark, "a high watermark fell"
        self.seen[key] = (raft.epoch, raft.high_watermark)
        if raft.is_leader:
            leader = self.leaders.setdefault(raft.epoch, key)
            assert leader == key, f"two leaders in epoch {raft.epoch}: {leader} and {key}"
        self.check_committed(member)

    def check_committed(self, member):
        raft = member.raft
        batches = list(raft.log.batches(0, raft.high_watermark))
        known = min(len(batches), len(self.committed))
        if batches[:known] != self.committed[:known]:
            raise AssertionError(f"committed records differ at node {member.node_id}")
        if len(batches) <= len(self.committed):
            return
        self.committed = batches
        holders = [
            voter
            for voter in self.quorum.members.values()
            if voter.config.is_controller
            and voter.disk.flushed >= raft.high_watermark
            and voter.disk.batches[: len(batches)] == batches
        ]
        voters = sum(m.config.is_controller for m in self.quorum.members.values())
        assert len(holders) > voters // 2, "committed without a flushed majority"


def deliver(quorum, random, names):
    if quorum.messages:
        nearest = min(len(quorum.messages), 4)
        quorum.deliver_one(quorum.messages.pop(random.randrange(nearest)))


def flush(quorum, random, names):
    flushing = [n for n, m in quorum.members.items() if m.is_up and m.flushes]
    if flushing:
        quorum.flush(random.choice(flushing))


def propose(quorum, random, names):
    leaders = [n for n, m in quorum.members.items() if m.is_up and m.raft.is_leader]
    if leaders:
        quorum.propose(random.choice(leaders), f"topic-{next(names)}")


def lose(quorum, random, names):
    if quorum.messages:
        quorum.lose(quorum.messages.pop(0))


def crash(quorum, random, names):
    up = [n for n, m in quorum.members.items() if m.is_up]
    if up:
        quorum.crash(random.choice(up), lose_unflushed=random.random() < 0.7)


def restart(quorum, random, names):
    down = [n for n, m in quorum.members.items() if not m.is_up]
    if down:
        quorum.start(random.choice(down))


def cut(quorum, random, names):
    side = [n for n in quorum.members if random.random() < 0.5]
    quorum.cut = {
        (a, b)
        for a in quorum.members
        for b in quorum.members
        if (a in side) != (b in side) and random.random() < 0.9
    }


def heal(quorum, random, names):
    quorum.cut = set()


def pass_time(quorum, random, names):
    due = [(d, n) for n, m in quorum.members.items() if (d := deadline_of(m)) is not None]
    if not due:
        return
    when, node_id = random.choice(sorted(due)[:2])
    quorum.now = max(quorum.now, when)
    quorum.expire()
    if quorum.members[node_id].is_up:
        quorum.tick(node_id)


WEIGHTS = {
    deliver: 110,
    flush: 34,
    pass_time: 28,
    propose: 14,
    lose: 4,
    crash: 3,
    restart: 4,
    cut: 2,
    heal: 1,
}


def run(seed, voters, steps):
    random = Random(seed)
    quorum = Quorum(voters, 1, seed=seed, timeouts=CHAOS)
    invariants = Invariants(quorum)
    names = iter(range(10_000))
    for node_id in quorum.members:
        quorum.start(node_id)
    for _ in range(steps):
        (act,) = random.choices(list(WEIGHTS), weights=WEIGHTS.values())
        act(quorum, random, names)
        invariants.check()
    recover(quorum, invariants)
    return quorum, invariants


def recover(quorum, invariants):
    quorum.cut = set()
    for node_id, member in quorum.members.items():
        assert member.exit is None, member.exit
        if not member.is_up:
            quorum.start(node_id)
    for _ in range(40):
        quorum.advance(milliseconds(200))
        invariants.check()
    leader = next(n for n, m in quorum.members.items() if m.raft.is_leader)
    quorum.propose(leader, "the-last")
    for _ in range(4):  # the others hear that it has committed when their Fetches have waited
        quorum.advance(milliseconds(200))
        invariants.check()
    ends = {m.raft.high_watermark for m in quorum.members.values()}
    assert ends == {quorum.members[leader].raft.log.end_offset}, "not all have caught up"


@pytest.mark.requirement("595-12")
@pytest.mark.requirement("595-27")
@pytest.mark.requirement("595-29")
@pytest.mark.requirement("595-75")
@pytest.mark.requirement("595-76")
@pytest.mark.parametrize("voters", [2, 3, 5])
@pytest.mark.parametrize("seed", range(12))
def test_invariants_hold(seed, voters):
    _, invariants = run(seed, voters, 1500)
    assert invariants.leaders
    assert invariants.committed


@pytest.mark.requirement("595-75")
def test_one_seed_is_one_run():
    traces = [repr(run(7, 3, 400)[0].trace) for _ in range(2)]
    assert traces[0] == traces[1]
