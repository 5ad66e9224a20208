"""The numbers behind the report's pictures: operations over time, faults, latencies. No markup."""

from dataclasses import dataclass

from kraftproof.history import FaultEvent
from kraftproof.interpreter import Interpreted
from kraftproof.operations import DoneOperations

SECOND_NS = 1_000_000_000
BUCKETS = 120
MOST_TICKS = 12
TICK_STEPS_S = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 60, 120, 300, 600, 1800, 3600, 7200)
OUTCOMES = ("ok", "fail", "info")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """How many operations ended in one slice of the run, from the bottom up."""

    left: float
    width: float
    heights: tuple[tuple[str, float, float], ...]
    """Outcome, bottom and height, all as shares of the tallest slice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shade:
    """One fault as a share of the run's time."""

    left: float
    width: float
    lane: int
    kind: str
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """One operation's latency: where it lies, and how it ended."""

    x: float
    y: float
    outcome: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionRow:
    """The figures of one kind of operation."""

    f: str
    ok: int
    fail: int
    info: int
    median_ms: float
    p99_ms: float
    longest_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """One number under the time axis."""

    x: float
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Charts:
    """All pictures of a run."""

    ticks: tuple["Tick", ...]
    most_per_second: float
    longest_ms: float
    bars: tuple[Bar, ...]
    shades: tuple[Shade, ...]
    lanes: int
    points: tuple[Point, ...]
    functions: tuple[FunctionRow, ...]


def charts(run: Interpreted) -> Charts:
    """Compute the pictures of a run."""
    span_ns = max(1, run.ended_ns - run.started_ns)
    counts = _counts(run, span_ns)
    most = max([sum(slice_.values()) for slice_ in counts] + [1])
    longest_ns = max([one.complete_ns - one.invoke_ns for one in run.operations] + [1])
    shades = _shades(run, span_ns)
    return Charts(
        ticks=_ticks(span_ns / SECOND_NS),
        most_per_second=most * BUCKETS * SECOND_NS / span_ns,
        longest_ms=longest_ns / 1e6,
        bars=tuple(_bar(place, slice_, most) for place, slice_ in enumerate(counts)),
        shades=shades,
        lanes=max([shade.lane + 1 for shade in shades] + [1]),
        points=_points(run, span_ns, longest_ns),
        functions=_functions(run.operations),
    )


def _ticks(seconds: float) -> tuple[Tick, ...]:
    """At most a dozen round numbers."""
    step_s = next(
        (step for step in TICK_STEPS_S if seconds / step <= MOST_TICKS), seconds / MOST_TICKS
    )
    return tuple(
        Tick(x=number * step_s / seconds, label=f"{number * step_s:.3g} s")
        for number in range(int(seconds / step_s) + 1)
    )


def _counts(run: Interpreted, span_ns: int) -> list[dict[str, int]]:
    counts = [dict.fromkeys(OUTCOMES, 0) for _ in range(BUCKETS)]
    for one in run.operations:
        place = (one.complete_ns - run.started_ns) * BUCKETS // span_ns
        if 0 <= place < BUCKETS:
            counts[place][one.outcome.value] += 1
    return counts


def _bar(place: int, counts: dict[str, int], most: int) -> Bar:
    heights = []
    bottom = 0.0
    for outcome in OUTCOMES:
        height = counts[outcome] / most
        heights.append((outcome, bottom, height))
        bottom += height
    return Bar(left=place / BUCKETS, width=1 / BUCKETS, heights=tuple(heights))


def _shades(run: Interpreted, span_ns: int) -> tuple[Shade, ...]:
    kinds = sorted({event.kind for event in run.faults})
    by_name: dict[str, list[FaultEvent]] = {}
    for event in run.faults:
        by_name.setdefault(event.name, []).append(event)
    shades = []
    for events in by_name.values():
        phases = {event.phase: event for event in events}
        if "applied" not in phases:
            continue
        applied = phases["applied"]
        stop_ns = phases["healed"].time_ns if "healed" in phases else run.ended_ns
        became = "bitten" if "bitten" in phases else "no evidence"
        shades.append(
            Shade(
                left=(applied.time_ns - run.started_ns) / span_ns,
                width=(stop_ns - applied.time_ns) / span_ns,
                lane=kinds.index(applied.kind),
                kind=applied.kind,
                label=f"{applied.name}: {applied.detail} ({became})",
            )
        )
    return tuple(shades)


def _points(run: Interpreted, span_ns: int, longest_ns: int) -> tuple[Point, ...]:
    """At most two thousand points: every n-th, but all that are not ok."""
    step = max(1, len(run.operations) // 2000)
    chosen = [
        one for place, one in enumerate(run.operations) if place % step == 0 or one.outcome != "ok"
    ]
    return tuple(
        Point(
            x=(one.invoke_ns - run.started_ns) / span_ns,
            y=((one.complete_ns - one.invoke_ns) / longest_ns) ** 0.5,
            outcome=one.outcome.value,
        )
        for one in chosen
        if 0 <= one.invoke_ns - run.started_ns <= span_ns
    )


def _functions(operations: DoneOperations) -> tuple[FunctionRow, ...]:
    rows = []
    for f in sorted({one.f for one in operations}):
        mine = [one for one in operations if one.f == f]
        took_ms = sorted((one.complete_ns - one.invoke_ns) / 1e6 for one in mine)
        rows.append(
            FunctionRow(
                f=f,
                ok=sum(one.outcome == "ok" for one in mine),
                fail=sum(one.outcome == "fail" for one in mine),
                info=sum(one.outcome == "info" for one in mine),
                median_ms=took_ms[len(took_ms) // 2],
                p99_ms=took_ms[min(len(took_ms) - 1, len(took_ms) * 99 // 100)],
                longest_ms=took_ms[-1],
            )
        )
    return tuple(rows)
