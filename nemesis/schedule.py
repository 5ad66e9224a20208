"""Draw fault schedules from a seed: the start and end of each fault.

`spaced` plans for live clusters: one fault at a time, each selected kind in turn, with quiet
windows in between (a quiet window opens 3 s after a heal). `dense` plans for the simulation, where
time costs nothing: single faults and scenarios (scenarios/catalogue.py) follow each other closely
and may overlap. Both leave the last fifth of the run without faults.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import Random

from kraftproof.cluster.plugin_file import is_in_file
from kraftproof.cluster.protocol import NodeInfo
from kraftproof.nemesis.catalogue import drawn
from kraftproof.nemesis.fault import Fault
from kraftproof.nemesis.scenarios.catalogue import scenarios_of
from kraftproof.nemesis.scenarios.steps import FaultStep
from kraftproof.nemesis.scenarios.stories import stories_of

SECOND_NS = 1_000_000_000
SETTLE_NS = 3 * SECOND_NS
"""Time from a heal to the start of a quiet window, in nanoseconds."""
HEALED_SHARE = 0.2
QUIET_SHARE = 0.3
"""Least share of a run that must be quiet."""
PLANNED_QUIET_SHARE = 0.36
"""Planned quiet share; above QUIET_SHARE, since `apply` and `heal` take time."""
MOST_ROUNDS = 8
FEW_ROUNDS = 3
LONG_NS = 3 * SECOND_NS
"""Least fault duration that justifies more than FEW_ROUNDS rounds."""
LEAD_NS = SECOND_NS
"""Time from the first operation to the first fault, in nanoseconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scheduled:
    """A fault with its start and end since the start of the workload."""

    name: str
    kind: str
    """The selected nemesis, which may draw faults of another kind; a nemesis of a file has no name
    of its own, so the drawn fault's kind."""
    at_ns: int
    until_ns: int
    fault: Fault

    def describe(self) -> str:
        """Return the line that `--dry-run` prints."""
        at_s, until_s = self.at_ns / SECOND_NS, self.until_ns / SECOND_NS
        return f"{at_s:8.3f} s to {until_s:8.3f} s  {self.name:<5} {self.fault.describe()}"


Schedule = tuple[Scheduled, ...]


def spaced(
    names: Sequence[str],
    nodes: Sequence[NodeInfo],
    random: Random,
    time_limit_ns: int,
    *,
    every_ns: int | None = None,
) -> Schedule:
    """Draw a schedule for a live cluster, with one fault at a time and each kind in turn.

    Args:
        names: The kinds of faults.
        nodes: The nodes of the cluster.
        random: Source of orders, targets and durations.
        time_limit_ns: Duration of the workload.
        every_ns: Time between the starts of two faults; None plans as many rounds of all kinds
            (1 to 8) as leave enough of the run quiet.
    """
    usable_ns = int(time_limit_ns * (1 - HEALED_SHARE)) - LEAD_NS
    if not names:
        return ()
    if every_ns is None:
        count = _rounds(len(names), usable_ns, time_limit_ns) * len(names)
        every_ns = usable_ns // count
    else:
        count = max(1, usable_ns // every_ns)
    scheduled: list[Scheduled] = []
    order: list[str] = []
    for number in range(count):
        if not order:
            order = list(names)
            random.shuffle(order)
        name = order.pop(0)
        at_ns = LEAD_NS + number * every_ns
        until_ns = at_ns + _duration(random, every_ns)
        fault = drawn(name, random, nodes)
        kind = fault.kind if is_in_file(name) else name
        scheduled.append(
            Scheduled(name=f"f{number}", kind=kind, at_ns=at_ns, until_ns=until_ns, fault=fault)
        )
    return tuple(scheduled)


def dense(
    names: Sequence[str], nodes: Sequence[NodeInfo], random: Random, time_limit_ns: int
) -> Schedule:
    """Draw a schedule for a simulated cluster: a fault or a scenario, a short pause, and so on."""
    scenarios = scenarios_of(names, nodes)

    def draw() -> list[FaultStep]:
        if scenarios and random.random() < 0.6:
            return random.choice(scenarios)(random, nodes)
        length_s = random.uniform(0.2, 3.5)
        return [(0.0, length_s, drawn(random.choice(names), random, nodes))]

    return _one_by_one(draw, random, time_limit_ns) if names else ()


def stories(nodes: Sequence[NodeInfo], random: Random, time_limit_ns: int) -> Schedule:
    """Draw a schedule of stories for a simulated cluster."""
    told = stories_of(nodes)
    return _one_by_one(lambda: random.choice(told)(random, nodes), random, time_limit_ns)


def _one_by_one(
    draw: Callable[[], list[FaultStep]], random: Random, time_limit_ns: int
) -> Schedule:
    """Draw steps and a short pause in turn, until the healed end of the run."""
    end_ns = int(time_limit_ns * (1 - HEALED_SHARE))
    scheduled: list[Scheduled] = []
    at_ns = int(random.uniform(0.3, 1.5) * SECOND_NS)
    while at_ns < end_ns:
        steps = draw()
        latest_s = 0.0
        for start_s, stop_s, fault in steps:
            scheduled.append(
                Scheduled(
                    name=f"f{len(scheduled)}",
                    kind=fault.kind,
                    at_ns=min(end_ns, at_ns + int(start_s * SECOND_NS)),
                    until_ns=min(end_ns, at_ns + int(stop_s * SECOND_NS)),
                    fault=fault,
                )
            )
            latest_s = max(latest_s, stop_s)
        at_ns += int((latest_s + random.choice((0.1, 0.6, 1.5, 3.0)) * random.random()) * SECOND_NS)
    return tuple(one for one in scheduled if one.until_ns > one.at_ns)


def quiet_windows(
    busy: Sequence[tuple[int, int]], time_limit_ns: int, settle_ns: int = SETTLE_NS
) -> tuple[tuple[int, int], ...]:
    """Return the windows that open `settle_ns` after a heal and end at the next fault."""
    windows = []
    opens_ns = 0
    for start_ns, stop_ns in sorted(busy):
        if start_ns > opens_ns:
            windows.append((opens_ns, start_ns))
        opens_ns = max(opens_ns, stop_ns + settle_ns)
    if opens_ns < time_limit_ns:
        windows.append((opens_ns, time_limit_ns))
    return tuple(windows)


def busy_windows(schedule: Schedule) -> tuple[tuple[int, int], ...]:
    """Return the planned windows of all faults."""
    return tuple((one.at_ns, one.until_ns) for one in schedule)


def _rounds(kinds: int, usable_ns: int, time_limit_ns: int) -> int:
    """Return the largest number of rounds with long enough quiet windows, at least 1."""
    for rounds in range(MOST_ROUNDS, 1, -1):
        cycle_ns = usable_ns // (rounds * kinds)
        longest_ns = _longest(cycle_ns)
        busy = [
            (LEAD_NS + i * cycle_ns, LEAD_NS + i * cycle_ns + longest_ns)
            for i in range(rounds * kinds)
        ]
        quiet = quiet_windows(busy, time_limit_ns)
        share = sum(stop - start for start, stop in quiet) / time_limit_ns
        if share >= PLANNED_QUIET_SHARE and (rounds <= FEW_ROUNDS or longest_ns >= LONG_NS):
            return rounds
    return 1


def _longest(cycle_ns: int) -> int:
    return min(6 * SECOND_NS, max(int(1.5 * SECOND_NS), int(0.6 * (cycle_ns - SETTLE_NS))))


def _duration(random: Random, cycle_ns: int) -> int:
    longest_ns = min(_longest(cycle_ns), cycle_ns)
    return int(random.uniform(0.8, 1.0) * longest_ns)
