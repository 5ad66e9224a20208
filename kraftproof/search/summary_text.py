"""The output of `kraftproof sim`: violations, seeds without a verdict, and the summary."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from kraftproof.output import in_one_line, print_line, print_verdict
from kraftproof.search.scenario_sources import ScheduleFile, Seeds, Source

if TYPE_CHECKING:
    from kraftproof.search.seed_result import SeedResult
    from kraftproof.search.seeds import SearchSummary, Unjudged

SENTENCES_SHOWN = 5


def print_unjudged(one: "Unjudged") -> None:
    """Print why a seed has no verdict, and the run's directory."""
    for sentence in one.why[:SENTENCES_SHOWN]:
        print_line(f"seed {one.seed}: {in_one_line(sentence)}")
    _print_kept(Path(one.directory))


def print_violation(one: "SeedResult", source: Source) -> None:
    """Print the violated property, the commands to replay and to shrink, and the diagram."""
    print_line("")
    print_line(
        f"seed {one.seed}, event {one.event}: {one.reason}{' (a crash)' if one.is_crash else ''}"
    )
    for sentence in one.result.why[:SENTENCES_SHOWN]:
        print_line(f"  {sentence}")
    print_line(f"replay  {source.replay(one.seed)}")
    if isinstance(source, Seeds):
        print_line(f"shrink  {source.shrink(one.seed)}")
    _print_kept(one.result.directory.path)
    if isinstance(source, ScheduleFile) and source.violates not in {None, *one.reasons}:
        print_line(f"note    the file expects another violation: {source.violates}")
    if one.diagram:
        print_diagram(one)


def _print_kept(directory: Path) -> None:
    """Name the run's directory; a bare search keeps none."""
    if directory.is_dir():
        print_line(f"kept    {directory}")


def print_diagram(one: "SeedResult") -> None:
    """Print the diagram of the events before a violation."""
    print_line("")
    print_line(one.diagram.rstrip("\n"))
    print_line("")


def as_json(found: "SearchSummary") -> dict[str, object]:
    """Return the summary for `--json`."""
    return {
        "seeds": found.seeds,
        "violations": [one.violation_as_json() for one in (*found.violations, *found.crashes)],
        "unknown": found.unknown,
        "unjudged": [asdict(one) for one in found.unjudged],
        "simulated_seconds": round(found.simulated_s, 3),
        "cpu_seconds": round(found.cpu_s, 3),
        "events": found.events,
        "covered": len(found.covered.runs),
    }


def print_summary(found: "SearchSummary") -> None:
    """Print the verdict and the figures of a search."""
    is_invalid = found.violations or found.crashes
    verdict = "invalid" if is_invalid else "unknown" if found.unknown else "valid"
    print_verdict(
        verdict,
        f"  {found.seeds} seeds, {found.simulated_s:.0f} simulated s, {found.events} events, "
        f"{found.cpu_s:.1f} CPU-s ({found.events / max(found.cpu_s, 1e-9):.0f} events a CPU-s, "
        f"{found.simulated_s / max(found.cpu_s, 1e-9):.0f} simulated s a CPU-s)",
    )
    if found.crashes:
        seeds = ", ".join(str(one.seed) for one in found.crashes)
        print_line(f"crashed in {len(found.crashes)} seeds: {seeds}")
    print_line(f"covered {found.covered.describe()}")
