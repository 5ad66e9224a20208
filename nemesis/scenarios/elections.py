"""Fault scenarios that aim at elections: lost and late votes, and rival candidates.

A voter fails at the moment of its vote, or a vote response arrives when the candidate already
stands for a later epoch. See catalogue.py for the scenarios of logs, leases and clocks.
"""

from collections.abc import Sequence
from random import Random

from kraftproof.cluster.protocol import Link, NodeInfo
from kraftproof.nemesis.fault import Fault, Role
from kraftproof.nemesis.kill import Kill
from kraftproof.nemesis.partition import Cut
from kraftproof.nemesis.pause import Pause
from kraftproof.nemesis.scenarios.steps import (
    ACTIVE,
    ALL_STANDBYS,
    MOST_STANDBYS,
    FaultStep,
    in_order,
    standby,
)


def vote_response_lost(random: Random, nodes: Sequence[NodeInfo]) -> list[FaultStep]:
    """The leader is gone, and a voter dies or stops receiving at the moment of its vote.

    A voter that restarts at once gets the vote request again. If a voter that receives nothing
    becomes a candidate, the vote responses arrive when the voter is a candidate of a later epoch.
    If the vote elects another leader, the first record of that epoch reaches no voter, and the
    former leader returns with a longer log of an older epoch (Figure 8 of Raft).
    """
    del nodes
    steps: list[FaultStep] = []
    start_s = 0.0
    for _ in range(random.randrange(1, 4)):
        away_s = random.uniform(1.2, 2.2)
        away: Fault = Cut(shape="leader", around=ACTIVE, others=ALL_STANDBYS)
        if random.random() < 0.5:
            away, away_s = Kill(target=ACTIVE), random.uniform(2.0, 4.0)
        steps.append((start_s, start_s + away_s, away))
        for _ in range(random.randrange(1, 3)):
            at_s = start_s + random.uniform(0.8, 1.15)
            voter = standby(random.randrange(MOST_STANDBYS))
            if random.random() < 0.4:
                steps.append((at_s, at_s + random.uniform(0.1, 0.4), Kill(target=voter)))
            else:
                steps.append((at_s, at_s + random.uniform(0.6, 1.1), _deaf(random, voter)))
        start_s += max(away_s, 2.2) + random.uniform(0.2, 1.0)
    return in_order(steps)


def _deaf(random: Random, voter: Role) -> Cut:
    """Return a cut of all traffic to a voter from the other standbys or from all controllers."""
    others = (ACTIVE, *ALL_STANDBYS) if random.random() < 0.5 else ALL_STANDBYS
    return Cut(shape="deaf", around=voter, others=others, direction="in")


def late_rival(random: Random, nodes: Sequence[NodeInfo]) -> list[FaultStep]:
    """The former leader's vote requests arrive after a voter follows the winner of the epoch.

    The voter was down during the election, so the voter has no vote in the epoch. The voter learns
    of the winner from other nodes only, so the voter has no record of the winner. The scenario
    needs five voters: with three voters the winner needs every vote except the rival's.
    """
    controllers = [node.node_id for node in nodes if node.has("controller")]
    # The injector would skip a cut whose only other end is down.
    brokers = [node.node_id for node in nodes if node.has("broker")]
    steps: list[FaultStep] = []
    start_s = 0.0
    for _ in range(random.randrange(1, 4)):
        voter, cut_s = random.choice(controllers), start_s + random.uniform(0.3, 0.5)
        rival = Cut(shape="rival", around=ACTIVE, others=ALL_STANDBYS)
        winner = Cut(
            shape="winner",
            around=ACTIVE,
            others=(voter, *random.sample(brokers, 1)),
            direction="out",
        )
        steps.append((start_s, cut_s + random.uniform(1.25, 1.4), Kill(target=voter)))
        steps.append((cut_s, cut_s + random.uniform(1.75, 2.05), rival))
        steps.append((cut_s + 1.1, cut_s + random.uniform(2.3, 3.0), winner))
        start_s = cut_s + random.uniform(2.5, 3.5)
    return in_order(steps)


def rivals(random: Random, nodes: Sequence[NodeInfo]) -> list[FaultStep]:
    """Several paused voters resume past their election timeouts; some vote requests are late."""
    controllers = [node.node_id for node in nodes if node.has("controller")]
    asleep_s = random.uniform(1.3, 2.2)
    sleepers = random.sample(
        controllers, random.randint(min(2, len(controllers)), len(controllers))
    )
    lie_in_s = random.choice((0.0, 1.5))
    steps: list[FaultStep] = [
        *((0.0, asleep_s, Pause(target=sleeper)) for sleeper in sleepers),
        (0.0, asleep_s + lie_in_s, Pause(target=ACTIVE)),
    ]
    pairs = [Link(a, b) for a in controllers for b in controllers if a != b]
    for _ in range(random.randrange(1, 6) if pairs else 0):
        start_s = asleep_s + random.uniform(-0.2, 0.1)
        late = Cut(
            shape="late-votes", links=tuple(sorted(random.sample(pairs, len(pairs) // 3 or 1)))
        )
        steps.append((start_s, start_s + random.uniform(0.2, 1.1), late))
    return in_order(steps)


def voters_die(random: Random, nodes: Sequence[NodeInfo]) -> list[FaultStep]:
    """Many candidates compete; voters die just after their votes and restart at once."""
    controllers = [node.node_id for node in nodes if node.has("controller")]
    asleep_s = random.uniform(1.3, 2.2)
    steps: list[FaultStep] = [(0.0, asleep_s, Pause(target=sleeper)) for sleeper in controllers]
    for _ in range(random.randrange(2, 6)):
        start_s = asleep_s + random.choice((random.uniform(0.0, 0.02), random.uniform(0.0, 1.2)))
        victim = Kill(target=random.choice(controllers))
        steps.append((start_s, start_s + random.uniform(0.02, 0.2), victim))
    return in_order(steps)


def killed_in_election(random: Random, nodes: Sequence[NodeInfo]) -> list[FaultStep]:
    """Voters die and restart during an election: votes must survive a restart."""
    controllers = [node.node_id for node in nodes if node.has("controller")]
    steps: list[FaultStep] = [(0.0, random.uniform(2.0, 5.0), Kill(target=ACTIVE))]
    for _ in range(random.randrange(2, 6)):
        start_s = random.uniform(0.3, 3.0)
        victim = Kill(target=random.choice(controllers))
        steps.append((start_s, start_s + random.uniform(0.02, 0.3), victim))
    return in_order(steps)
