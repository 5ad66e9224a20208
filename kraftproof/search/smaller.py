"""Smaller candidates of a scenario, and the size of a run, as pure functions.

See shrinking.py for the choice of a failing candidate.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from kraftproof.nemesis.schedule import SECOND_NS, Scheduled
from kraftproof.options import RunOptions
from kraftproof.run.planning import cluster_options
from kraftproof.search.scenario import Scenario
from kraftproof.search.seed_result import SeedResult

ROUNDING_NS = SECOND_NS // 10
SHORTEST_TIME_LIMIT_S = 1.0
MORE_TIME_S = 0.5
LEAD_NS = SECOND_NS // 2
"""Time of the workload before the first fault, in nanoseconds."""
FASTEST_RATE = 20.0
FEW_CONTROLLERS = 3
"""Smallest number of controllers that tolerates a failure."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """The size of a run."""

    faults: int
    operations: int
    simulated_s: float
    events: int
    nodes: int

    @classmethod
    def of(cls, found: SeedResult) -> "Size":
        """Return the size of a run."""
        simulation, check = found.result.simulation, found.result.check
        options = found.scenario.options
        return cls(
            faults=len(found.scenario.schedule),
            operations=check.operations,
            simulated_s=0.0 if simulation is None else simulation.simulated_ns / 1e9,
            events=0 if simulation is None else simulation.events,
            nodes=options.controllers + options.brokers,
        )

    def exceeds(self, other: "Size") -> bool:
        """Return whether the size is larger in any dimension; slightly more time does not count."""
        return (
            self.faults > other.faults
            or self.operations > other.operations
            or self.nodes > other.nodes
            or self.simulated_s > other.simulated_s + MORE_TIME_S
        )

    def describe(self) -> str:
        """Return the size in one line."""
        return (
            f"{self.faults:>3} faults {self.operations:>5} operations {self.nodes:>2} nodes "
            f"{self.simulated_s:>7.1f} simulated s {self.events:>7} events"
        )


def until(scenario: Scenario, limit_s: float) -> Scenario:
    """Return the scenario with an earlier end of the workload, without the later faults."""
    limit_ns = int(limit_s * SECOND_NS)
    kept = tuple(one for one in scenario.schedule if one.at_ns < limit_ns)
    options = replace(scenario.options, time_limit_s=limit_s)
    return replace(scenario, options=options, schedule=kept)


def moved_forward(scenario: Scenario, faults: Sequence[Scheduled], needed_s: float) -> Scenario:
    """Return the scenario with only the given faults, moved close to the start."""
    earlier_ns = max(0, min(one.at_ns for one in faults) - LEAD_NS)
    earlier = tuple(
        replace(one, at_ns=one.at_ns - earlier_ns, until_ns=one.until_ns - earlier_ns)
        for one in faults
    )
    limit_s = max(SHORTEST_TIME_LIMIT_S, round(needed_s - earlier_ns / SECOND_NS, 1))
    options = replace(scenario.options, time_limit_s=limit_s)
    return replace(scenario, options=options, schedule=earlier)


def fewer_nodes(scenario: Scenario) -> Iterator[Scenario]:
    """Yield scenarios with fewer brokers or controllers, as far as no fault names the nodes."""
    options = scenario.options
    if options.controllers > FEW_CONTROLLERS and not any(map(_named, scenario.schedule)):
        yield replace(scenario, options=_with_nodes(options, FEW_CONTROLLERS, options.brokers))
    for brokers in range(1, options.brokers):
        fewer = _with_nodes(options, options.controllers, brokers)
        there = {node.node_id for node in cluster_options(fewer, None).nodes}
        if all(_named(one) <= there for one in scenario.schedule):
            yield replace(scenario, options=fewer)


def _with_nodes(options: RunOptions, controllers: int, brokers: int) -> RunOptions:
    return replace(options, nodes=f"{controllers}+{brokers}")


def _named(scheduled: Scheduled) -> set[int]:
    return {target for target in scheduled.fault.targets if isinstance(target, int)}


def fewer_clients(scenario: Scenario) -> Iterator[Scenario]:
    """Yield scenarios with 1 or 2 clients and a lower rate of operations."""
    options = scenario.options
    for concurrency in (1, 2):
        if concurrency < options.concurrency:
            yield replace(scenario, options=replace(options, concurrency=concurrency))
    if options.rate > FASTEST_RATE:
        yield replace(scenario, options=replace(options, rate=FASTEST_RATE))


def simpler(place: int, scenario: Scenario) -> Iterator[Scenario]:
    """Yield scenarios in which one fault is shorter, or has round times."""
    one = scenario.schedule[place]
    length_ns = one.until_ns - one.at_ns
    at_ns = _rounded(one.at_ns)
    candidates = [
        replace(one, until_ns=one.at_ns + _rounded(length_ns // 2)),
        replace(one, until_ns=one.at_ns + _rounded(length_ns * 3 // 4)),
        replace(one, at_ns=at_ns, until_ns=at_ns - _rounded(-length_ns)),
    ]
    for candidate in candidates:
        if candidate != one and candidate.until_ns > candidate.at_ns:
            schedule = (*scenario.schedule[:place], candidate, *scenario.schedule[place + 1 :])
            yield replace(scenario, schedule=schedule)


def _rounded(time_ns: int) -> int:
    """Return the time rounded down; the caller negates the time to round up."""
    return time_ns // ROUNDING_NS * ROUNDING_NS
