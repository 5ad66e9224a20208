"""Fault scenarios: short sequences of faults, each aimed at one weakness of a consensus protocol.

A scenario is a pure function from a random generator and the nodes to a list of steps. Targets are
roles, so a step hits the node that has the role when the step starts. A run draws a scenario only
if the user selected all nemeses of the scenario. Only simulated runs use scenarios; the schedules
of live clusters keep faults apart.
"""

from collections.abc import Callable, Sequence
from random import Random

from kraftproof.cluster.protocol import Link, NodeInfo
from kraftproof.nemesis.clock import SECOND_NS, ClockBump
from kraftproof.nemesis.disk import DiskError, DiskFull
from kraftproof.nemesis.fault import Fault
from kraftproof.nemesis.kill import Kill, KillAll, plan_kill_all
from kraftproof.nemesis.lose_unsynced import LoseUnsynced, plan_lose_unsynced
from kraftproof.nemesis.partition import Cut, Direction, between, plan_partition
from kraftproof.nemesis.pause import Pause
from kraftproof.nemesis.restart import Restart
from kraftproof.nemesis.scenarios.disks import believed_written, full_one_by_one
from kraftproof.nemesis.scenarios.elections import (
    killed_in_election,
    late_rival,
    rivals,
    vote_response_lost,
    voters_die,
)
from kraftproof.nemesis.scenarios.steps import (
    ACTIVE,
    ALL_STANDBYS,
    MOST_STANDBYS,
    FaultStep,
    standby,
)

FaultScenario = Callable[[Random, Sequence[NodeInfo]], list[FaultStep]]


def laggard(random: Random, nodes: Sequence[NodeInfo]) -> list[FaultStep]:
    """A standby falls behind; the leader dies just when the standby returns."""
    del nodes
    behind_s = random.uniform(0.4, 2.5)
    alone = Cut(
        shape="laggard",
        around=standby(random.randrange(MOST_STANDBYS)),
        direction=random.choice(_DIRECTIONS),
    )
    early_s = random.uniform(0.0, 0.4)
    return [
        (0.0, behind_s, alone),
        (max(0.1, behind_s - early_s), behind_s + random.uniform(1.5, 4.0), Kill(target=ACTIVE)),
    ]


def old_leader_wakes(random: Random, nodes: Sequence[NodeInfo]) -> list[FaultStep]:
    """A leader is paused until a successor has just taken over, and resumes with full buffers."""
    del nodes
    steps: list[FaultStep] = []
    start_s = 0.0
    for _ in range(random.randrange(1, 4)):
        length_s = random.choice((random.uniform(1.1, 2.4), random.uniform(1.1, 4.0)))
        steps.append((start_s, start_s + length_s, Pause(target=ACTIVE)))
        start_s += length_s + random.uniform(0.3, 1.5)
    return steps


def leaders_in_turn(random: Random, nodes: Sequence[NodeInfo]) -> list[FaultStep]:
    """Each new leader is cut off before the previous leader heals (Figure 8 of Raft).

    A leader that loses only the voters goes on to append records that can't commit.
    """
    del nodes
    steps: list[FaultStep] = []
    start_s = 0.0
    for _ in range(random.randrange(2, 5)):
        length_s = random.uniform(0.8, 3.0)
        cut = Cut(
            shape="leader",
            around=ACTIVE,
            others=random.choice(((), ALL_STANDBYS)),
            direction=random.choice(_DIRECTIONS),
        )
        steps.append((start_s, start_s + length_s, cut))
        start_s += length_s * random.uniform(0.5, 1.2)
    return steps


def stale_leader_longer_log(random: Random, nodes: Sequence[NodeInfo]) -> list[FaultStep]:
    """A leader keeps its brokers and loses the voters; the successor dies just after its election.

    The former leader returns with a longer log of an older epoch than the successor could commit,
    and requests votes from voters that have committed records of the newer epoch.
    """
    del nodes
    steps: list[FaultStep] = []
    start_s = 0.0
    for _ in range(random.randrange(1, 4)):
        alone_s = random.uniform(1.3, 2.0)
        alone = Cut(shape="leader", around=ACTIVE, others=ALL_STANDBYS)
        dies_s = start_s + alone_s - random.uniform(0.0, 0.3)
        steps.append((start_s, start_s + alone_s, alone))
        steps.append((dies_s, dies_s + random.uniform(2.0, 4.0), Kill(target=ACTIVE)))
        start_s += alone_s + random.uniform(1.5, 3.0)
    return steps


def handover(random: Random, nodes: Sequence[NodeInfo]) -> list[FaultStep]:
    """A leader shuts down while a standby is behind, and must name the preferred successor."""
    del nodes
    steps: list[FaultStep] = []
    start_s = 0.0
    for _ in range(random.randrange(1, 4)):
        behind_s = random.uniform(0.2, 1.0)
        alone = Cut(shape="laggard", around=standby(random.randrange(MOST_STANDBYS)))
        stops_s = start_s + behind_s - random.uniform(0.0, 0.15)
        steps.append((start_s, start_s + behind_s, alone))
        steps.append((stops_s, stops_s + random.uniform(0.3, 1.0), Restart(target=ACTIVE)))
        start_s += behind_s + random.uniform(1.0, 2.0)
    return steps


def flapping(random: Random, nodes: Sequence[NodeInfo]) -> list[FaultStep]:
    """Several short partitions follow each other closely."""
    steps: list[FaultStep] = []
    start_s = 0.0
    for _ in range(random.randrange(3, 7)):
        length_s = random.uniform(0.2, 1.5)
        steps.append((start_s, start_s + length_s, plan_partition(random, nodes)))
        start_s += length_s + random.uniform(0.0, 0.3)
    return steps


def quorum_split(random: Random, nodes: Sequence[NodeInfo]) -> list[FaultStep]:
    """A partition divides the controllers into two groups, so vote and commit counts matter."""
    controllers = [node.node_id for node in nodes if node.has("controller")]
    random.shuffle(controllers)
    size = random.randrange(1, max(2, len(controllers)))
    length_s = random.uniform(1.5, 4.0)
    apart = Cut(shape="quorum-split", links=between(controllers[:size], controllers[size:]))
    return [(0.0, length_s, apart)]


def minority_then_lost(random: Random, nodes: Sequence[NodeInfo]) -> list[FaultStep]:
    """The leader keeps brokers and clients but loses all voters, and then dies."""
    controllers = [node.node_id for node in nodes if node.has("controller")]
    links: list[Link] = []
    for position, one in enumerate(controllers):
        links.extend(between([one], controllers[position + 1 :]))
    length_s = random.uniform(0.5, 2.5)
    return [
        (0.0, length_s, Cut(shape="every-voter-alone", links=tuple(sorted(links)))),
        (length_s * 0.8, length_s + random.uniform(1.0, 3.0), Kill(target=ACTIVE)),
    ]


def rolling_kills(random: Random, nodes: Sequence[NodeInfo]) -> list[FaultStep]:
    """Each leader dies and restarts quickly: elections and votes across restarts."""
    del nodes
    steps: list[FaultStep] = []
    start_s = 0.0
    for _ in range(random.randrange(2, 5)):
        steps.append((start_s, start_s + random.uniform(0.1, 1.5), Kill(target=ACTIVE)))
        start_s += random.uniform(0.6, 2.0)
    return steps


def kill_everything(random: Random, nodes: Sequence[NodeInfo]) -> list[FaultStep]:
    """All nodes die at once and restart soon."""
    return [(0.0, random.uniform(0.1, 1.5), plan_kill_all(random, nodes))]


def leader_isolated_gradually(random: Random, nodes: Sequence[NodeInfo]) -> list[FaultStep]:
    """The leader loses its nodes one after the other, and notices too late.

    The standby that is cut off first calls the election. The leader is then paused, or loses the
    other standby, for less time than the leader needs to resign. Requests and acknowledgements in
    flight reach the leader when the other nodes are in a later epoch.
    """
    brokers = [node.node_id for node in nodes if node.has("broker")]
    steps: list[FaultStep] = []
    start_s = 0.0
    for _ in range(random.randrange(1, 4)):
        first = random.randrange(MOST_STANDBYS)
        gone = random.sample(brokers, random.randrange(len(brokers) // 2 + 1))
        away_s, asleep_s = random.uniform(0.7, 0.93), random.uniform(0.6, 0.95)
        alone = Cut(shape="deserted", around=ACTIVE, others=(standby(first), *gone))
        late: Fault = Pause(target=ACTIVE)
        if random.random() < 0.3:
            late = Cut(shape="deserted", around=ACTIVE, others=(standby(first + 1),))
        until_s = away_s + asleep_s
        steps.append((start_s, start_s + until_s + random.uniform(0.0, 0.5), alone))
        steps.append((start_s + away_s, start_s + until_s, late))
        start_s += until_s + random.uniform(0.5, 1.5)
    return steps


def leases_run_out(random: Random, nodes: Sequence[NodeInfo]) -> list[FaultStep]:
    """The leader dies with several brokers: all their leases end at once on the successor."""
    brokers = [node.node_id for node in nodes if node.has("broker")]
    gone = random.sample(
        brokers, random.randint(min(2, len(brokers)), max(min(2, len(brokers)), len(brokers) - 1))
    )
    back_s = random.uniform(4.0, 5.5)
    steps: list[FaultStep] = [(0.0, random.uniform(0.5, 5.0), Kill(target=ACTIVE))]
    early_s = random.uniform(0.0, 0.4)
    return steps + [(early_s, back_s + random.uniform(0.0, 0.5), Kill(target=b)) for b in gone]


def clock_jumps(random: Random, nodes: Sequence[NodeInfo]) -> list[FaultStep]:
    """The active controller's wall clock jumps several times while brokers join and leave."""
    del nodes
    steps: list[FaultStep] = []
    start_s = 0.0
    for _ in range(random.randrange(3, 8)):
        length_s = random.uniform(0.1, 1.2)
        seconds = random.uniform(1.0, 60.0) * random.choice((-1, 1))
        bump = ClockBump(target=ACTIVE, offset_ns=int(seconds * SECOND_NS))
        steps.append((start_s, start_s + length_s, bump))
        start_s += length_s + random.uniform(0.05, 0.6)
    return steps


def stops_alone(random: Random, nodes: Sequence[NodeInfo]) -> list[FaultStep]:
    """A broker is asked to stop while no controller can grant the shutdown."""
    broker = random.choice([node.node_id for node in nodes if node.has("broker")])
    alone_s, stops_s = random.uniform(4.0, 7.0), random.uniform(0.0, 1.5)
    return [
        (0.0, alone_s, Cut(shape="broker", around=broker, direction=random.choice(_DIRECTIONS))),
        (stops_s, alone_s + random.uniform(0.1, 1.0), Restart(target=broker)),
    ]


def power_failure(random: Random, nodes: Sequence[NodeInfo]) -> list[FaultStep]:
    """A standby lags, then the power fails: records flushed by a minority are not committed."""
    alone = Cut(shape="laggard", around=standby(random.randrange(MOST_STANDBYS)))
    lag_s = random.uniform(0.2, 1.5)
    return [
        (0.0, lag_s + random.uniform(0.0, 1.0), alone),
        (lag_s, lag_s + random.uniform(0.1, 1.0), plan_lose_unsynced(random, nodes)),
    ]


_DIRECTIONS: tuple[Direction, ...] = ("both", "both", "in", "out")

_SCENARIOS: tuple[tuple[frozenset[str], int, FaultScenario], ...] = (
    (frozenset({Cut.kind, Kill.kind}), 2, laggard),
    (frozenset({Pause.kind}), 1, old_leader_wakes),
    (frozenset({Cut.kind}), 2, leaders_in_turn),
    (frozenset({Cut.kind}), 1, flapping),
    (frozenset({Cut.kind, Kill.kind}), 3, stale_leader_longer_log),
    (frozenset({Cut.kind, Restart.kind}), 3, handover),
    (frozenset({Cut.kind, Restart.kind}), 1, stops_alone),
    (frozenset({Cut.kind}), 1, quorum_split),
    (frozenset({Cut.kind, Kill.kind}), 1, minority_then_lost),
    (frozenset({Cut.kind, Pause.kind}), 3, leader_isolated_gradually),
    (frozenset({Cut.kind, Pause.kind}), 1, rivals),
    (frozenset({Cut.kind, Kill.kind}), 3, vote_response_lost),
    (frozenset({Kill.kind, Pause.kind}), 2, voters_die),
    (frozenset({Kill.kind}), 1, rolling_kills),
    (frozenset({Kill.kind}), 1, killed_in_election),
    (frozenset({Kill.kind}), 1, leases_run_out),
    (frozenset({ClockBump.kind}), 1, clock_jumps),
    (frozenset({KillAll.kind}), 1, kill_everything),
    (frozenset({LoseUnsynced.kind, Cut.kind}), 2, power_failure),
    (frozenset({DiskError.kind, LoseUnsynced.kind}), 3, believed_written),
    (frozenset({DiskFull.kind}), 1, full_one_by_one),
)
"""Required nemeses and sampling weight of each scenario."""

_WITH_FIVE_VOTERS: tuple[tuple[frozenset[str], int, FaultScenario], ...] = (
    (frozenset({Cut.kind, Kill.kind}), 10, late_rival),
)
"""Scenarios that have no effect with fewer than five voters."""
FIVE = 5


def scenarios_of(names: Sequence[str], nodes: Sequence[NodeInfo]) -> tuple[FaultScenario, ...]:
    """Return the scenarios whose nemeses are all selected, each as often as its weight."""
    asked = frozenset(names)
    voters = sum(node.has("controller") for node in nodes)
    weighted = (*_SCENARIOS, *_WITH_FIVE_VOTERS) if voters >= FIVE else _SCENARIOS
    return tuple(
        scenario for needs, weight, scenario in weighted if needs <= asked for _ in range(weight)
    )
