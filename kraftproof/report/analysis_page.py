"""Write summary.html of an analysis: a single file that works without a network."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from math import log10
from pathlib import Path
from typing import Final

from kraftproof.report.analysis import Analysis, Row, Series, phase_name
from kraftproof.report.charts import round_ticks
from kraftproof.report.colours import colour_of, dark_style, style
from kraftproof.report.environment import template

LOWEST_MS: Final = 0.01
SHOWN_RUNS: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """A logarithmic scale of milliseconds over complete decades."""

    low: int
    high: int

    def place(self, value_ms: float) -> float:
        """Return the position of a value as a share of the scale."""
        exponent = log10(max(value_ms, LOWEST_MS))
        return min(1.0, max(0.0, (exponent - self.low) / (self.high - self.low)))

    @property
    def ticks(self) -> list[tuple[float, str]]:
        """Return the position and the label of each decade."""
        return [
            ((power - self.low) / (self.high - self.low), _in_words(10.0**power))
            for power in range(self.low, self.high + 1)
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """A figure over the runs of a series."""

    title: str
    highest: float
    points: tuple[tuple[float, float, Row], ...]
    """The position of each run with the figure, from left and bottom, as shares."""
    before: tuple[tuple[float, float], ...]
    """The median of the earlier runs at each run, as positions."""


def write_analysis_page(analysis: Analysis, refused: Sequence[str], path: Path) -> None:
    """Write the page of an analysis.

    Args:
        analysis: The figures.
        refused: A line for each unreadable history.
        path: The file to write.
    """
    page = template("analysis.html.j2").render(
        analysis=analysis,
        refused=refused,
        made=datetime.now(UTC).isoformat(timespec="seconds"),
        scales={model: scale(rows) for model, rows in analysis.latencies.items()},
        lines={series.name: lines(series) for series in analysis.series},
        phase_name=phase_name,
        colour=_colour_of_faults,
        colours=f"{style()}\n{dark_style()}",
        in_words=_in_words,
        ticks=round_ticks(0, analysis.longest_run_seconds) if analysis.strips else (),
        shown_runs=SHOWN_RUNS,
    )
    path.write_text(page, encoding="utf-8")


def scale(rows: Sequence[Row]) -> Scale:
    """Return a scale that contains all latencies of the rows."""
    low = min(log10(max(row["p50_ms"], LOWEST_MS)) for row in rows)
    high = max(log10(max(row["longest_ms"], LOWEST_MS)) for row in rows)
    first = int(low // 1)
    return Scale(low=first, high=max(first + 1, -int(-high // 1)))


def lines(series: Series) -> tuple[Line, ...]:
    """Return the lines of all figures of a series that have values."""
    figures = (
        ("ok_rate", "ok operations per second in quiet time"),
        ("p50_ms", "median latency in quiet time, ms"),
        ("p99_ms", "99 % latency in quiet time, ms"),
        ("unavailable_seconds", "seconds in gaps without an ok operation"),
    )
    drawn = (_line(series, name, title) for name, title in figures)
    return tuple(line for line in drawn if line.points)


def _line(series: Series, name: str, title: str) -> Line:
    steps = max(1, len(series.points) - 1)
    befores = f"{name}_before"
    values = [
        value
        for point in series.points
        for value in (point[name], point[befores])
        if value is not None
    ]
    highest = max([*values, 0.0]) or 1.0
    return Line(
        title=title,
        highest=highest,
        points=tuple(
            (place / steps, point[name] / highest, point)
            for place, point in enumerate(series.points)
            if point[name] is not None
        ),
        before=tuple(
            (place / steps, point[befores] / highest)
            for place, point in enumerate(series.points)
            if point[befores] is not None
        ),
    )


def _colour_of_faults(faults: str) -> str:
    """Return the colour of the first kind of fault."""
    return colour_of(faults.split("+", maxsplit=1)[0])


def _in_words(milliseconds: float) -> str:
    """Return a time in a suitable unit."""
    if milliseconds >= 1000:
        return f"{milliseconds / 1000:.3g} s"
    return f"{milliseconds:.3g} ms" if milliseconds >= 1 else f"{milliseconds * 1000:.3g} µs"
