"""Writes the page: the table, what is reached, where we lose, and how it was measured."""

import os
import platform
import statistics
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path

from bench.checkers import __doc__ as introduction
from bench.checkers.claims import CLAIMS, described, judged
from bench.checkers.histories import ROWS, Row
from bench.checkers.measure import OURS, Result, Results, ratio_and_upper
from bench.checkers.peers import Side
from bench.checkers.processes import Limits


def page(
    measured: Mapping[str, Results],
    files: Mapping[str, int],
    sides: Sequence[Side],
    limits: Limits,
    shared: tuple[str, str] = ("not measured", ""),
) -> Iterator[str]:
    """Yields the lines of the page; `shared` is what `shared_histories` returned."""
    yield "# The checkers beside their peers"
    yield ""
    yield str(introduction).strip()
    yield ""
    yield from _setting(sides, limits)
    rows = [row for row in ROWS if row.name in measured]
    missing = [row.name for row in ROWS if row.name not in measured]
    if missing:
        yield f"- **Not all rows were measured.** Missing: {', '.join(missing)}."
    yield ""
    yield from _table(rows, measured, files, sides)
    yield from _reached(measured, limits, shared)
    yield from _lost(rows, measured, sides, limits)
    yield from _made(rows)


def _setting(sides: Sequence[Side], limits: Limits) -> Iterator[str]:
    memory_gb = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    versions = "; ".join(f"{side.name} {side.version}" for side in sides)
    yield f"- Date: {datetime.now(tz=UTC):%Y-%m-%d}."
    yield (
        f"- Machine: {_processor()}, {os.cpu_count()} cores, {memory_gb:.0f} GB,"
        f" {platform.system()} {platform.release()}. All sides may use all cores."
    )
    yield f"- Versions: {versions}."
    yield (
        f"- Limits of one check: {limits.seconds:.0f} s (then: ?) and"
        f" {limits.memory_bytes / 1e9:.0f} GB (then: OOM)."
    )
    yield (
        "- Cells: median seconds of the check alone, in brackets what the process's memory grew"
        " by, then the median seconds of the whole command. Porcupine's program reads with"
        " encoding/json, porcupine-rs's with serde_json. c10: ten clients a key, nearly all with"
        " an operation open; 5 where nothing is said. n: repetitions of the check alone."
    )
    yield (
        "- porcupine-rs is the crate of that name; other Rust ports of Porcupine may differ."
        " Knossos is not measured: it needs Clojure."
    )


def _processor() -> str:
    lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _table(
    rows: Sequence[Row],
    measured: Mapping[str, Results],
    files: Mapping[str, int],
    sides: Sequence[Side],
) -> Iterator[str]:
    yield f"| history | {' | '.join(side.name for side in sides)} | verdict | n |"
    yield "|---|" + "---|" * (len(sides) + 2)
    for row in rows:
        results = measured[row.name]
        cells = [_cell(results[side.name]) for side in sides]
        verdict = _verdict(row, results, files[row.name])
        repetitions = len(results[OURS].alone)
        yield f"| {row.title} | {' | '.join(cells)} | {verdict} | {repetitions} |"
    yield ""


def _cell(result: Result) -> str:
    if result.first is None or not result.alone:
        return f"{result.failure} ({result.grown_bytes / 1e6:.0f} MB)"
    alone = statistics.median(result.alone)
    whole = f"{statistics.median(result.whole):.3g} s" if result.whole else "-"
    return f"{alone:.3g} s ({result.grown_bytes / 1e6:.0f} MB); {whole}"


def _verdict(row: Row, results: Results, files: int) -> str:
    """Returns our verdict, and who says otherwise or is wrong."""
    ours = results[OURS].described(files)
    others = [
        f"{name} says {result.described(files)}"
        for name, result in results.items()
        if result.first is not None and result.described(files) != ours
    ]
    first = results[OURS].first
    wanted = (row.count("invalid"), row.count("unknown"))
    is_right = first is not None and (first.invalid, first.unknown) == wanted
    return "; ".join([ours if is_right else f"**{ours}**", *others])


def _reached(
    measured: Mapping[str, Results], limits: Limits, shared: tuple[str, str]
) -> Iterator[str]:
    yield "## To reach"
    yield ""
    yield "Met when the 95 % upper bound of the median is inside, by bootstrap over repetitions."
    yield ""
    yield "| line | to reach | | measured |"
    yield "|---|---|---|---|"
    yield f"| 1 | all of tests/histories right | {' | '.join(shared)} |"
    for claim in CLAIMS:
        verdict, number = judged(claim, measured, limits)
        yield f"| {claim.line} | {described(claim)} | {verdict} | {number} |"
    yield ""


def _lost(
    rows: Sequence[Row], measured: Mapping[str, Results], sides: Sequence[Side], limits: Limits
) -> Iterator[str]:
    yield "## Where a peer is faster"
    yield ""
    losses = [
        line
        for row in rows
        for side in sides
        if side.name != OURS
        for line in _losses(row, side, measured[row.name], limits)
    ]
    yield from losses or ["Nowhere."]
    yield ""


def _losses(row: Row, side: Side, results: Results, limits: Limits) -> Iterator[str]:
    ours, theirs = results[OURS], results[side.name]
    if theirs.first is not None and (
        ours.first is None or ours.first.unknown > row.count("unknown")
    ):
        yield f"- {row.title}: {side.name} has a verdict, we have none."
        return
    found = ratio_and_upper(ours, theirs, limits)
    if found is not None and found[0] > 1:
        yield f"- {row.title}: {side.name}, the check alone, {found[0]:.3g} times."
    if ours.whole and theirs.whole:
        whole = statistics.median(ours.whole) / statistics.median(theirs.whole)
        if whole > 1:
            yield f"- {row.title}: {side.name}, the whole command, {whole:.3g} times."


def _made(rows: Sequence[Row]) -> Iterator[str]:
    yield "## How the histories are made"
    yield ""
    for row in rows:
        if row.options:
            yield f"- {row.name}: `kraftproof generate --model {row.model} {row.options}`"
        else:
            yield f"- {row.name}: tests/histories/{row.folder}"
