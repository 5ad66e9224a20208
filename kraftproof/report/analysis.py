"""Figures of an analysis, read from its tables, for the summary page and the last lines.

The amount of data is bounded by the number of runs; of verdicts and findings only the first are
read.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Final

import pyarrow.dataset as ds

from kraftproof.checkers.verdict import Verdict, worst

MOST_FINDINGS: Final = 500
MOST_WINDOWS: Final = 50
MOST_STRIPS: Final = 40
SECOND_NS: Final = 1_000_000_000
_PHASES: Final = ("quiet", "fault", "recovery")

Row = dict[str, Any]
"""A row of a table; see `checkers.history.schema`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Span:
    """A fault or a gap without successful operations, as shares of the longest run."""

    left: float
    width: float
    kind: str
    label: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Strip:
    """A run on the timeline."""

    label: str
    verdict: str
    width: float
    faults: tuple[Span, ...]
    gaps: tuple[Span, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Outage:
    """All gaps without successful operations under the same faults."""

    faults: str
    windows: int
    runs: int
    seconds: float
    longest_seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Matrix:
    """The coverage of a model: outcomes as rows, phases as columns."""

    model: str
    phases: tuple[str, ...]
    rows: tuple[tuple[str, tuple[Row | None, ...]], ...]
    unseen: int
    """Number of empty cells in rows with at least one operation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Series:
    """The runs of a series in order of time."""

    name: str
    points: tuple[Row, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Analysis:
    """All figures of the page."""

    runs: tuple[Row, ...]
    counts: dict[Verdict, int]
    operations: int
    keys: int
    unknown_keys: int
    findings: tuple[Row, ...]
    findings_in_all: int
    windows: tuple[Row, ...]
    outages: tuple[Outage, ...]
    strips: tuple[Strip, ...]
    longest_run_seconds: float
    latencies: dict[str, tuple[Row, ...]]
    matrices: tuple[Matrix, ...]
    series: tuple[Series, ...]

    @property
    def verdict(self) -> Verdict:
        """The worst verdict of all runs."""
        return worst(verdict for verdict, count in self.counts.items() if count)

    @property
    def not_valid(self) -> list[Row]:
        """The invalid runs, then the unknown runs."""
        bad = [run for run in self.runs if run["verdict"] != Verdict.VALID]
        return sorted(bad, key=lambda run: run["verdict"] != Verdict.INVALID)

    def findings_of(self, run: str) -> list[Row]:
        """Return the read findings of a run."""
        return [finding for finding in self.findings if finding["run"] == run]


def read_analysis(out: Path) -> Analysis:
    """Read the tables of an analysis."""
    runs = _rows(out, "runs")
    labels = {run["run"]: run["label"] for run in runs}
    windows = sorted(_rows(out, "availability"), key=lambda row: -row["seconds"])
    findings, findings_in_all = _first_findings(out)
    strips, longest = _strips(runs, _rows(out, "fault_windows"), windows)
    return Analysis(
        runs=tuple(runs),
        counts={one: sum(run["verdict"] == one for run in runs) for one in Verdict},
        operations=sum(run["operations"] for run in runs),
        keys=sum(run["keys"] for run in runs),
        unknown_keys=sum(run["unknown_keys"] for run in runs),
        findings=tuple(row | {"label": labels[row["run"]]} for row in findings),
        findings_in_all=findings_in_all,
        windows=tuple(row | {"label": labels[row["run"]]} for row in windows[:MOST_WINDOWS]),
        outages=_outages(windows),
        strips=strips,
        longest_run_seconds=longest,
        latencies=_by(sorted(_rows(out, "latency_overall"), key=_phase_place), "model"),
        matrices=_matrices(_rows(out, "coverage")),
        series=_series(_rows(out, "trend"), labels),
    )


def _rows(out: Path, name: str) -> list[Row]:
    rows: list[Row] = ds.dataset(out / f"{name}.parquet").to_table().to_pylist()
    return rows


def _first_findings(out: Path) -> tuple[list[Row], int]:
    """Return the first findings, safety before availability, and the number of all findings."""
    table = ds.dataset(out / "findings.parquet")
    if not table.schema.names:
        return [], 0  # Spark writes no file for a table without rows
    safety = ds.field("kind") == "safety"
    rows: list[Row] = []
    for condition in (safety, ~safety):
        rows += table.head(MOST_FINDINGS - len(rows), filter=condition).to_pylist()
    return rows, table.count_rows()


def phase_name(row: Row) -> str:
    """Return a phase and its faults in words."""
    faults = str(row["faults"])
    if row["phase"] == "fault":
        return faults
    return f"after {faults}" if row["phase"] == "recovery" else str(row["phase"])


def _phase_place(row: Row) -> tuple[str, int, str]:
    """Return a sort key: by operation, and quiet phases before phases during and after faults."""
    return row["f"], _PHASES.index(row["phase"]), row["faults"]


def _by(rows: Sequence[Row], column: str) -> dict[str, tuple[Row, ...]]:
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row[column], []).append(row)
    return {name: tuple(found[name]) for name in sorted(found)}


def _outages(windows: Sequence[Row]) -> tuple[Outage, ...]:
    outages = [
        Outage(
            faults=faults,
            windows=len(rows),
            runs=len({row["run"] for row in rows}),
            seconds=sum(row["seconds"] for row in rows),
            longest_seconds=max(row["seconds"] for row in rows),
        )
        for faults, rows in _by(windows, "faults").items()
    ]
    return tuple(sorted(outages, key=lambda outage: -outage.seconds))


def _strips(
    runs: Sequence[Row], faults: Sequence[Row], gaps: Sequence[Row]
) -> tuple[tuple[Strip, ...], float]:
    """Return the runs with faults or gaps on a common time scale, and the length of the scale."""
    faults_of, gaps_of = _by(faults, "run"), _by(gaps, "run")
    timed = [
        run
        for run in runs
        if run["start_time"] is not None and (run["run"] in faults_of or run["run"] in gaps_of)
    ]
    shown = list(islice(timed, MOST_STRIPS))
    longest = max([run["end_time"] - run["start_time"] for run in shown] + [1])
    strips = tuple(
        Strip(
            label=run["label"],
            verdict=run["verdict"],
            width=(run["end_time"] - run["start_time"]) / longest,
            faults=tuple(
                _span(row, run, longest, row["kind"], f"{row['kind']} of {row['targets']}")
                for row in faults_of.get(run["run"], ())
            ),
            gaps=tuple(
                _span(row, run, longest, "gap", f"no ok operation for {row['seconds']:.2f} s")
                for row in gaps_of.get(run["run"], ())
            ),
        )
        for run in shown
    )
    return strips, longest / SECOND_NS


def _span(row: Row, run: Row, longest: int, kind: str, label: str) -> Span:
    start = max(row["start_time"], run["start_time"])
    until = run["end_time"] if row["end_time"] is None else min(row["end_time"], run["end_time"])
    return Span(
        left=(start - run["start_time"]) / longest,
        width=max(0, until - start) / longest,
        kind=kind,
        label=label,
    )


def _matrices(rows: Sequence[Row]) -> tuple[Matrix, ...]:
    found = []
    for model, mine in _by(rows, "model").items():
        by_phase = {phase_name(row): (_PHASES.index(row["phase"]), row["faults"]) for row in mine}
        phases = sorted(by_phase, key=lambda name: by_phase[name])
        cells = {(_outcome(row), phase_name(row)): row for row in mine}
        outcomes = sorted({outcome for outcome, _ in cells})
        found.append(
            Matrix(
                model=model,
                phases=tuple(phases),
                rows=tuple(
                    (
                        " ".join(filter(None, outcome)),
                        tuple(cells.get((outcome, p)) for p in phases),
                    )
                    for outcome in outcomes
                ),
                unseen=sum(row["operations"] == 0 for row in mine),
            )
        )
    return tuple(found)


def _outcome(row: Row) -> tuple[str, str, str]:
    return row["f"], row["status"], row["answer"]


def _series(rows: Sequence[Row], labels: dict[str, str]) -> tuple[Series, ...]:
    return tuple(
        Series(name=name, points=tuple(row | {"label": labels[row["run"]]} for row in points))
        for name, points in _by(rows, "series").items()
    )
