"""`kraftproof analyze`: judge many runs on Spark, and write tables and a summary page.

`checkers.spark` writes the tables and `kraftproof.report` writes the page; this module only starts
both and prints the result. A user error is one line on stderr.
"""

import shutil
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Final

import msgspec
import typer
from rich.console import Console
from rich.text import Text

from kraftproof import interrupts
from kraftproof.analysis_progress import AnalysisProgress
from kraftproof.checkers.history.analysis_schema import ANALYSIS_TABLES
from kraftproof.checkers.history.schema import SCHEMA_VERSION
from kraftproof.checkers.initial import parse_initial
from kraftproof.checkers.options import Limits
from kraftproof.checkers.sources import Source, find_sources
from kraftproof.checkers.verdict import USAGE_ERROR_EXIT_CODE, CheckerInputError, Verdict
from kraftproof.errors import UsageError
from kraftproof.history_options import Initial, Keyed
from kraftproof.option_files import option_file
from kraftproof.output import STYLES, print_error, print_json, print_verdict
from kraftproof.report.analysis import Analysis, Row, read_analysis
from kraftproof.report.analysis_page import write_analysis_page

MARKER: Final = "analysis.json"
PAGE: Final = "summary.html"
SHORTEST_GAP_SECONDS: Final = 0.1
LONGEST_GAP_SECONDS: Final = 1e9
_RUNS_SHOWN: Final = 20
_FINDINGS_SHOWN: Final = 5


class Marker(msgspec.Struct, frozen=True, kw_only=True):
    """Origin of an analysis; a later analysis may replace a directory with this file."""

    schema_version: int
    kraftproof: str
    made: str
    paths: tuple[str, ...]
    master: str
    refused: tuple[str, ...]


def analyze(
    paths: Annotated[
        list[Path],
        typer.Argument(
            help="Run directories, histories (*.jsonl, *.parquet), or folders of these.",
            readable=False,
        ),
    ],
    master: Annotated[
        str, typer.Option(help="Spark master: local[*], spark://HOST:7077, …")
    ] = "local[*]",
    out: Annotated[
        Path,
        typer.Option(help="Folder of the tables and summary.html; all workers must reach it."),
    ] = Path("analysis"),
    model: Annotated[
        str | None, typer.Option(help="Model; by default the model of run.json, or inferred.")
    ] = None,
    key_seconds: Annotated[
        float,
        typer.Option(help="Time limit per key; after the limit the key is unknown.", min=0.001),
    ] = 30.0,
    gap_seconds: Annotated[
        float,
        typer.Option(
            help="Shortest reported gap without a successful operation, in seconds.",
            min=SHORTEST_GAP_SECONDS,
            max=LONGEST_GAP_SECONDS,
        ),
    ] = 1.0,
    *,
    is_keyed: Keyed = None,
    initial: Initial = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the result as a JSON object on the last line.")
    ] = False,
) -> None:
    """Judge many runs on Spark, and write result tables and a summary page.

    [bold]kraftproof analyze store/*/ --out analysis[/]
    Writes tables of verdicts, findings, availability, latency by fault, coverage
    and trend, and the page summary.html.

    [bold]kraftproof analyze runs/ --master spark://10.0.0.5:7077 --out /shared/analysis[/]
    Runs on a Spark cluster. All workers need kraftproof, and must reach both
    paths.

    Exit code of the worst verdict: 0 valid, 2 unknown, 1 invalid; 3 wrong usage
    or input.
    """
    refused: list[CheckerInputError] = []
    limits = Limits(seconds=key_seconds)
    stated = parse_initial(initial)
    found = find_sources(paths, model, limits, refused.append, is_keyed=is_keyed, initial=stated)
    sources = list(found)
    mistakes = [str(error) for error in refused]
    analysis = None
    if sources:
        with AnalysisProgress() as progress:
            mistakes += _analyse(sources, master, out, round(gap_seconds * 1e9), progress)
            if (out / "runs.parquet").exists():
                progress.step("writing the page")
                with option_file("--out", out / MARKER) as part:
                    part.write_bytes(_marker(paths, master, mistakes))
                analysis = read_analysis(out)
                with option_file("--out", out / PAGE) as part:
                    write_analysis_page(analysis, mistakes, part)
    if analysis is not None:
        _show(analysis, out, as_json=as_json)
    for mistake in dict.fromkeys(mistakes):
        print_error(f"kraftproof analyze: {mistake}")
    code = USAGE_ERROR_EXIT_CODE if analysis is None else analysis.verdict.exit_code
    raise typer.Exit(USAGE_ERROR_EXIT_CODE if mistakes else code)


def _analyse(
    sources: list[Source], master: str, out: Path, gap_ns: int, progress: AnalysisProgress
) -> list[str]:
    """Write the tables; return a line for each unreadable history."""
    from kraftproof.checkers.spark.analysis import AnalysisError, analyze
    from kraftproof.checkers.spark.session import session, tasks_done
    from kraftproof.checkers.spark.staging import bytes_of

    _require_ours(out)
    progress.step(f"starting Spark at {master}")
    spark = session(master, sum(map(bytes_of, sources)))
    _claim(out)
    progress.watch(lambda: tasks_done(spark))
    try:
        return analyze(spark, sources, out.absolute(), gap_ns=gap_ns, tell=progress.step)
    except AnalysisError as error:
        if interrupts.is_received():
            raise KeyboardInterrupt from error
        print_error(f"kraftproof analyze: {error}")
        raise typer.Exit(Verdict.UNKNOWN.exit_code) from error


def _require_ours(out: Path) -> None:
    """Refuse a directory with files of other origin."""
    if out.is_dir() and ((out / MARKER).is_file() or not any(out.iterdir())):
        return
    if out.exists() or out.is_symlink():
        raise UsageError(
            f"--out {out}: the path exists and is no earlier analysis ({MARKER} is missing); "
            "choose a new or empty directory"
        )


def _claim(out: Path) -> None:
    """Make the directory, and remove the files of an earlier analysis."""
    try:
        out.mkdir(parents=True, exist_ok=True)
        for name in (*ANALYSIS_TABLES, ".stage"):
            for left in (out / f"{name}.parquet", out / name):
                shutil.rmtree(left, ignore_errors=True)
        (out / PAGE).unlink(missing_ok=True)
        (out / MARKER).write_text("{}\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"--out {out}: {error.strerror}") from error


def _marker(paths: list[Path], master: str, mistakes: list[str]) -> bytes:
    marker = Marker(
        schema_version=SCHEMA_VERSION,
        kraftproof=version("kraftproof"),
        made=datetime.now(UTC).isoformat(timespec="seconds"),
        paths=tuple(map(str, paths)),
        master=master,
        refused=tuple(mistakes),
    )
    return msgspec.json.format(msgspec.json.encode(marker), indent=2) + b"\n"


def _show(analysis: Analysis, out: Path, *, as_json: bool) -> None:
    """Print the runs that are not valid, and a summary of all runs."""
    counts = {str(verdict): count for verdict, count in analysis.counts.items()}
    if as_json:
        value = {
            "verdict": str(analysis.verdict),
            "runs": counts,
            "operations": analysis.operations,
            "keys": analysis.keys,
            "findings": analysis.findings_in_all,
            "out": str(out),
        }
        print_json(value)
        return
    console = Console(highlight=False, soft_wrap=True)
    for run in analysis.not_valid[:_RUNS_SHOWN]:
        _show_run(console, run, analysis.findings_of(run["run"]))
    hidden = len(analysis.not_valid) - _RUNS_SHOWN
    if hidden > 0:
        console.print(f"and {hidden} more runs that are not valid")
    said = ", ".join(f"{count} {verdict}" for verdict, count in counts.items() if count)
    print_verdict(
        str(analysis.verdict),
        f"  {said} of {len(analysis.runs)} runs; {analysis.operations} operations,"
        f" {analysis.keys} keys; {out / PAGE}",
    )


def _show_run(console: Console, run: Row, findings: list[Row]) -> None:
    line = Text(f"{run['verdict']:<8}", style=STYLES[run["verdict"]])
    line.append(f" {run['label']}", style="default")
    counts = f"  {run['model']}, {run['operations']} operations, {run['keys']} keys"
    line.append(counts, style="dim")
    console.print(line)
    for finding in findings[:_FINDINGS_SHOWN]:
        said = f"{finding['kind']}: {finding['check']}: {finding['sentence']}"
        console.print(Text(f"         {said}"))
    if len(findings) > _FINDINGS_SHOWN:
        console.print(Text(f"         and {len(findings) - _FINDINGS_SHOWN} more findings"))
    unknown = f"{run['unknown_keys']} keys without a verdict" if run["unknown_keys"] else ""
    for note in filter(None, (run["notes"], unknown)):
        console.print(Text(f"         {note}"))
