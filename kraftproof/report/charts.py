"""Figures of the report's charts: operations over time, faults and latencies."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from kraftproof.checkers.findings import moment_text
from kraftproof.checkers.verdict import Finding
from kraftproof.report.run_view import RunView, Timed

SECOND_NS = 1_000_000_000
BUCKETS = 120
MOST_TICKS = 12
MOST_MOMENTS = 40
MOST_POINTS = 20_000
TICK_STEPS_S = (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 60, 120, 300, 600, 1800, 3600, 7200)
OUTCOMES = ("ok", "fail", "info")


@dataclass(frozen=True, slots=True, kw_only=True)
class Bar:
    """Number of completed operations in a slice of the run, stacked by outcome."""

    left: float
    width: float
    heights: tuple[tuple[str, float, float], ...]
    """Outcome, bottom and height; bottom and height are shares of the tallest slice."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Shade:
    """A fault as a share of the run's time."""

    left: float
    width: float
    lane: int
    kind: str
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Point:
    """The latency of an operation as a position, with the outcome."""

    x: float
    y: float
    outcome: str


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionRow:
    """The figures of a kind of operation."""

    f: str
    ok: int
    fail: int
    info: int
    median_ms: float
    p99_ms: float
    longest_ms: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick:
    """A label of the time axis."""

    x: float
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """The time of a finding as a share of the run's time."""

    x: float
    number: int
    """The number of the finding, from 1 on."""
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Charts:
    """All charts of a run."""

    ticks: tuple["Tick", ...]
    moments: tuple[Moment, ...]
    most_per_second: float
    longest_ms: float
    bars: tuple[Bar, ...]
    shades: tuple[Shade, ...]
    lanes: tuple[str, ...]
    """The kinds of faults; each kind has a lane."""
    points: tuple[Point, ...]
    functions: tuple[FunctionRow, ...]


def charts(view: RunView, findings: Sequence[Finding]) -> Charts:
    """Compute the charts of a run; the time axis includes the time of every finding."""
    span_ns = max(1, view.ended_ns - view.started_ns)
    counts = _counts(view, span_ns)
    most = max([sum(slice_.values()) for slice_ in counts] + [1])
    longest_ns = max([one.complete_ns - one.invoke_ns for one in view.operations] + [1])
    lanes = tuple(sorted({span.kind for span in view.spans}))
    return Charts(
        ticks=round_ticks(view.started_ns / SECOND_NS, span_ns / SECOND_NS),
        moments=_moments(view, findings, span_ns),
        most_per_second=most * BUCKETS * SECOND_NS / span_ns,
        longest_ms=longest_ns / 1e6,
        bars=tuple(_bar(place, slice_, most) for place, slice_ in enumerate(counts)),
        shades=_shades(view, span_ns, lanes),
        lanes=lanes,
        points=_points(view, span_ns, longest_ns),
        functions=_functions(view.operations),
    )


def round_ticks(first_s: float, seconds: float) -> tuple[Tick, ...]:
    """Return at most 12 round times of the run."""
    step_s = next(
        (step for step in TICK_STEPS_S if seconds / step <= MOST_TICKS), seconds / MOST_TICKS
    )
    begin, end = ceil(first_s / step_s - 1e-9), int((first_s + seconds) / step_s + 1e-9)
    return tuple(
        Tick(x=(number * step_s - first_s) / seconds, label=f"{number * step_s:.6g} s")
        for number in range(begin, end + 1)
    )


def _moments(view: RunView, findings: Sequence[Finding], span_ns: int) -> tuple[Moment, ...]:
    """Return the times of the first findings; findings of the same time share a mark."""
    found: dict[int, Moment] = {}
    for number, finding in enumerate(findings, start=1):
        if finding.time_ns is None or len(found) == MOST_MOMENTS:
            continue
        label = f"finding {number}, {moment_text(finding.time_ns)}: {finding.fact}"
        x = (finding.time_ns - view.started_ns) / span_ns
        found.setdefault(finding.time_ns, Moment(x=x, number=number, label=label))
    return tuple(found.values())


def _counts(view: RunView, span_ns: int) -> list[dict[str, int]]:
    counts = [dict.fromkeys(OUTCOMES, 0) for _ in range(BUCKETS)]
    for one in view.operations:
        place = (one.complete_ns - view.started_ns) * BUCKETS // span_ns
        counts[min(BUCKETS - 1, place)][one.status] += 1
    return counts


def _bar(place: int, counts: dict[str, int], most: int) -> Bar:
    heights = []
    bottom = 0.0
    for outcome in OUTCOMES:
        height = counts[outcome] / most
        heights.append((outcome, bottom, height))
        bottom += height
    return Bar(left=place / BUCKETS, width=1 / BUCKETS, heights=tuple(heights))


def _shades(view: RunView, span_ns: int, lanes: Sequence[str]) -> tuple[Shade, ...]:
    bitten = {event.fault for event in view.faults if event.phase == "bitten"}
    shades = []
    for span in view.spans:
        stop_ns = view.ended_ns if span.end is None else span.end
        became = "bitten" if span.name in bitten else "no evidence"
        shades.append(
            Shade(
                left=(span.start - view.started_ns) / span_ns,
                width=(stop_ns - span.start) / span_ns,
                lane=lanes.index(span.kind),
                kind=span.kind,
                label=f"{span.name}: {span.kind} {span.target} ({became})",
            )
        )
    return tuple(shades)


def _points(view: RunView, span_ns: int, longest_ns: int) -> tuple[Point, ...]:
    """Return at most about 2,000 points: all failed and unknown operations, every n-th ok one."""
    step = max(1, len(view.operations) // 2000)
    chosen = [
        one for place, one in enumerate(view.operations) if place % step == 0 or one.status != "ok"
    ]
    return tuple(
        Point(
            x=(one.invoke_ns - view.started_ns) / span_ns,
            y=((one.complete_ns - one.invoke_ns) / longest_ns) ** 0.5,
            outcome=one.status,
        )
        for one in chosen[:MOST_POINTS]
    )


def _functions(operations: Sequence[Timed]) -> tuple[FunctionRow, ...]:
    rows = []
    for f in sorted({one.f for one in operations}):
        mine = [one for one in operations if one.f == f]
        took_ms = sorted((one.complete_ns - one.invoke_ns) / 1e6 for one in mine)
        rows.append(
            FunctionRow(
                f=f,
                ok=sum(one.status == "ok" for one in mine),
                fail=sum(one.status == "fail" for one in mine),
                info=sum(one.status == "info" for one in mine),
                median_ms=took_ms[len(took_ms) // 2],
                p99_ms=took_ms[min(len(took_ms) - 1, len(took_ms) * 99 // 100)],
                longest_ms=took_ms[-1],
            )
        )
    return tuple(rows)
