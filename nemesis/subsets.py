"""Draw schedules with several faults at once: legs with subsets of the faults, and a free leg.

Bugs hide behind combinations that nobody thinks of, so each leg draws a subset of the faults. A leg
without faults shows the behaviour of the undisturbed system in each run.
"""

from collections.abc import Sequence
from random import Random

from kraftproof.cluster.protocol import NodeInfo
from kraftproof.nemesis.catalogue import drawn
from kraftproof.nemesis.fault import SPARING, Fault
from kraftproof.nemesis.schedule import (
    HEALED_SHARE,
    LEAD_NS,
    PLANNED_QUIET_SHARE,
    SECOND_NS,
    SETTLE_NS,
    Schedule,
    Scheduled,
)

MOST_ROUNDS = 8
LEAST_ROUNDS = 2
LEG_NS = 9 * SECOND_NS
"""Length of a leg for which a run gets further rounds, in nanoseconds."""
LATEST_START = 0.3
"""Latest start of a fault, as a share of the time with faults of its leg."""
EARLIEST_END = 0.7
MOST_DRAWS = 32
"""Most draws of a fault for a leg."""


def subsets(
    names: Sequence[str],
    nodes: Sequence[NodeInfo],
    random: Random,
    time_limit_ns: int,
    *,
    at_once: int,
    every_ns: int | None = None,
) -> Schedule:
    """Draw legs of 1 to `at_once` faults of different kinds, each kind at least twice if it fits.

    Args:
        names: The kinds of faults.
        nodes: The nodes of the cluster.
        random: Source of subsets, targets and times.
        time_limit_ns: Duration of the workload.
        at_once: Largest number of faults of a leg.
        every_ns: Length of a leg; None plans as many rounds of all kinds as fit.
    """
    if not names:
        return ()
    usable_ns = int(time_limit_ns * (1 - HEALED_SHARE)) - LEAD_NS
    most = max(LEAST_ROUNDS, min(MOST_ROUNDS, usable_ns // (LEG_NS * len(names))))
    legs = _legs(names, random, at_once, most)
    if every_ns is None:
        every_ns = usable_ns // len(legs)
    scheduled: list[Scheduled] = []
    for number, kinds in enumerate(legs[: max(1, usable_ns // every_ns)]):
        start_ns = LEAD_NS + number * every_ns
        busy_ns = _busy_ns(every_ns)
        leg: list[Fault] = []
        for kind in kinds:
            at_ns = start_ns + int(random.uniform(0, LATEST_START) * busy_ns)
            until_ns = start_ns + int(random.uniform(EARLIEST_END, 1) * busy_ns)
            fault = _beside(leg, kind, random, nodes)
            leg.append(fault)
            name = f"f{len(scheduled)}"
            scheduled.append(
                Scheduled(name=name, kind=kind, at_ns=at_ns, until_ns=until_ns, fault=fault)
            )
    return tuple(sorted(scheduled, key=lambda one: (one.at_ns, one.name)))


def _beside(leg: Sequence[Fault], kind: str, random: Random, nodes: Sequence[NodeInfo]) -> Fault:
    """Draw a fault, again and again while a fault of the leg disturbs the drawn fault."""
    fault = drawn(kind, random, nodes)
    for _ in range(MOST_DRAWS - 1):
        if not any(_disturbs(one, fault) for one in leg):
            break
        fault = drawn(kind, random, nodes)
    return fault


def _disturbs(one: Fault, other: Fault) -> bool:
    """Return whether two faults have the same node, and either fault may end the process."""
    are_sparing = {one.requires, other.requires} <= SPARING
    return not are_sparing and not set(one.targets).isdisjoint(other.targets)


def _legs(names: Sequence[str], random: Random, at_once: int, rounds: int) -> list[tuple[str, ...]]:
    """Return the kinds of each leg: rounds of all kinds, cut into subsets, and an empty leg."""
    left: list[str] = []
    for _ in range(rounds):
        left += random.sample(list(names), len(names))
    legs: list[tuple[str, ...]] = []
    while left:
        size, leg = random.randint(1, at_once), list[str]()
        while left and len(leg) < size and left[0] not in leg:
            leg.append(left.pop(0))
        legs.append(tuple(leg))
    # Among the first legs, since a given length of the legs may cut the schedule short.
    legs.insert(random.randrange(2), ())
    return legs


def _busy_ns(leg_ns: int) -> int:
    """Return the time with faults of a leg: the rest is quiet, once the cluster has settled."""
    quiet_ns = SETTLE_NS + int(PLANNED_QUIET_SHARE * leg_ns)
    return max(int(0.3 * leg_ns), min(6 * SECOND_NS, leg_ns - quiet_ns))
