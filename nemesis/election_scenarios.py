"""Short sequences of faults that aim at elections: at votes, rivals, and what is heard of both.

A voter is hurt in the moment in which it gives its vote, or an answer comes when its candidate
stands for a later epoch already. Not: scenarios of logs, leases and clocks (nemesis/scenarios.py).
"""

from collections.abc import Sequence
from random import Random

from kraftproof.cluster.protocol import Link, NodeInfo
from kraftproof.nemesis.fault import Fault, Role
from kraftproof.nemesis.kill import Kill
from kraftproof.nemesis.partition import Cut
from kraftproof.nemesis.pause import Pause
from kraftproof.nemesis.steps import (
    ACTIVE,
    ALL_STANDBYS,
    MOST_STANDBYS,
    FaultStep,
    in_order,
    standby,
)


def vote_response_lost(random: Random, nodes: Sequence[NodeInfo]) -> list[FaultStep]:
    """A voter dies, or hears no more, in the moment in which it votes; its leader is gone.

    One that is back at once is asked for its vote again. If a deaf one stands itself, answers
    reach it when it stands again, for a later epoch. If its vote makes another the leader, the
    first record of that epoch reaches nobody, and who led before comes back with a longer log of
    an older epoch (Figure 8 of Raft).
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
    """It hears nothing from the other standbys, or from no other controller."""
    others = (ACTIVE, *ALL_STANDBYS) if random.random() < 0.5 else ALL_STANDBYS
    return Cut(shape="deaf", around=voter, others=others, direction="in")


def late_rival(random: Random, nodes: Sequence[NodeInfo]) -> list[FaultStep]:
    """Who led stands again unheard; its Votes come once a voter follows the epoch's winner.

    That voter was dead during the election, so it has voted for nobody in the epoch, and hears of
    the winner from others alone, so it has none of its records. It takes five voters, since
    otherwise the winner needed every vote but its rival's.
    """
    controllers = [node.node_id for node in nodes if node.has("controller")]
    # A cut from nobody but one who is dead would be moot.
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
    """Several wake at once, with their time to stand long over; some of their Votes are late."""
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
    """As many stand at once, voters die with their votes just given and are back at once."""
    controllers = [node.node_id for node in nodes if node.has("controller")]
    asleep_s = random.uniform(1.3, 2.2)
    steps: list[FaultStep] = [(0.0, asleep_s, Pause(target=sleeper)) for sleeper in controllers]
    for _ in range(random.randrange(2, 6)):
        start_s = asleep_s + random.choice((random.uniform(0.0, 0.02), random.uniform(0.0, 1.2)))
        victim = Kill(target=random.choice(controllers))
        steps.append((start_s, start_s + random.uniform(0.02, 0.2), victim))
    return in_order(steps)


def killed_in_election(random: Random, nodes: Sequence[NodeInfo]) -> list[FaultStep]:
    """Voters die and come back while an election is on: votes have to outlive them."""
    controllers = [node.node_id for node in nodes if node.has("controller")]
    steps: list[FaultStep] = [(0.0, random.uniform(2.0, 5.0), Kill(target=ACTIVE))]
    for _ in range(random.randrange(2, 6)):
        start_s = random.uniform(0.3, 3.0)
        victim = Kill(target=random.choice(controllers))
        steps.append((start_s, start_s + random.uniform(0.02, 0.3), victim))
    return in_order(steps)
