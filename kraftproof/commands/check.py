"""`kraftproof check`: check histories and run directories, and exit by the worst verdict.

The package `checkers` reaches the verdicts; this module only prints. A user error is one line on
stderr.
"""

import os
import sys
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from textwrap import indent
from typing import Annotated, Final

import typer
from rich.console import Console
from rich.text import Text

from kraftproof.checkers import CheckerInputError, RunVerdict, check_paths
from kraftproof.checkers.compiling import report_compiling
from kraftproof.checkers.initial import parse_initial
from kraftproof.checkers.options import Limits
from kraftproof.checkers.sources import FILES_OF_RUNS
from kraftproof.checkers.verdict import USAGE_ERROR_EXIT_CODE, Verdict, worst
from kraftproof.errors import UsageError
from kraftproof.history_options import Initial, Keyed
from kraftproof.options import refuse_folder
from kraftproof.output import in_one_line, print_error
from kraftproof.quick_start import without_pandas

_STYLES: Final = {Verdict.VALID: "green", Verdict.INVALID: "bold red", Verdict.UNKNOWN: "yellow"}
_FINDINGS_SHOWN: Final = 5


class EngineName(StrEnum):
    """Engine that runs the checks."""

    SPARK = "spark"
    INLINE = "inline"


ExplainOption = Annotated[
    Path | None,
    typer.Option(
        help="Write explanations of the first invalid keys into this folder, as JSON and as "
        "pictures. A run directory has its own folder, explanations/.",
        metavar="DIR",
    ),
]


def check(
    paths: Annotated[
        list[Path],
        # An unreadable file is reported like other input errors, and the other files are checked.
        typer.Argument(help="Histories, run directories, or folders of these.", readable=False),
    ],
    model: Annotated[
        str | None,
        typer.Option(help="Model: a name, or path/to/file.py:ClassName; by default inferred."),
    ] = None,
    engine: Annotated[
        EngineName,
        typer.Option(
            help="inline: the cores of this machine. spark: a cluster, or long histories of many"
            " keys; Java needs about ten seconds to start."
        ),
    ] = EngineName.INLINE,
    key_seconds: Annotated[
        float,
        typer.Option(help="Time limit per key; after the limit the key is unknown.", min=0.001),
    ] = 30.0,
    processes: Annotated[
        int | None,
        typer.Option(help="Number of processes of the inline engine; by default all cores.", min=1),
    ] = None,
    explain: ExplainOption = None,
    *,
    is_keyed: Keyed = None,
    initial: Initial = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a JSON object per history.")
    ] = False,
) -> None:
    """Check recorded histories and run directories: valid, invalid or unknown.

    [bold]kraftproof check store/*/[/]
    Checks old runs again.

    [bold]kraftproof check --model cas-register history.jsonl[/]
    Checks a history of JSON objects, one a line or all in an array. The fields
    of an object are index, process, type (invoke, ok, fail, info), f, key and
    value.

    [bold]kraftproof check store/etcd/latest/history.edn[/]
    Also reads Jepsen's EDN, the log of a Jepsen test (*.log), and Parquet tables
    of operations or events, compressed (gz, bz2, xz, zst, lz4) or not.

    The objects of --json have the fields history, model, verdict, seconds,
    operations, keys (a number), findings, doubts (mishaps and unmet guards),
    notes and not_applicable. A finding has check, kind, key, operation (an
    index), events (of the operation), sentence, time_ns and node. The findings
    of the first 3 invalid keys have an explanation as in explain --json, with
    the minimal sub_history; the search for an explanation takes about 4 s.

    Exit code of the worst verdict: 0 valid, 2 unknown, 1 invalid; 3 wrong usage
    or input.
    """
    _refuse_unread(paths, engine, processes, explain)
    if engine is EngineName.INLINE:
        without_pandas()
    if explain is not None:
        refuse_folder("--explain", explain)
    report_compiling(_report)
    refused: list[ValueError] = []
    try:
        runs = check_paths(
            paths,
            model,
            engine.value,
            limits=Limits(seconds=key_seconds),
            processes=processes or len(os.sched_getaffinity(0)),
            is_keyed=is_keyed,
            initial=parse_initial(initial),
            refuse=refused.append,
            report=_report,
        )
        verdicts = _show_all(runs, explain, refused, as_json=as_json)
    except CheckerInputError as error:
        verdicts = []
        refused.append(error)
    raise typer.Exit(_exit_code(refused, verdicts))


def _refuse_unread(
    paths: list[Path], engine: EngineName, processes: int | None, explain: Path | None
) -> None:
    """Refuse an option that would have no effect on the given paths.

    Raises:
        UsageError: an option is not read.
    """
    if processes is not None and engine is EngineName.SPARK:
        raise UsageError(f"--processes {processes}: the engine spark takes no number of processes")
    if explain is not None and all(map(_is_run, paths)):
        raise UsageError(
            f"--explain {explain}: each path is a run directory, whose own folder explanations/ "
            "has the explanations"
        )


def _is_run(path: Path) -> bool:
    """Return whether a path is a run directory; an unreadable path is refused later."""
    try:
        return any((path / name).is_file() for name in FILES_OF_RUNS)
    except OSError:
        return False


def _exit_code(refused: list[ValueError], verdicts: list[Verdict]) -> int:
    """Print each input error once, and return the exit code."""
    for mistake in dict.fromkeys(map(str, refused)):
        print_error(f"kraftproof check: {mistake}")
    return USAGE_ERROR_EXIT_CODE if refused else worst(verdicts).exit_code


def _report(line: str) -> None:
    """Print a line of progress on stderr."""
    print_error(f"kraftproof check: {line}")


def _show_all(
    runs: Iterable[RunVerdict], explain: Path | None, refused: list[ValueError], *, as_json: bool
) -> list[Verdict]:
    """Print each verdict; add the errors of unwritable explanations to `refused`."""
    console = Console(highlight=False, soft_wrap=True)
    verdicts = []
    for number, run in enumerate(runs, start=1):
        verdicts.append(run.verdict)
        if as_json:
            from kraftproof.report.verdict_json import json_line

            sys.stdout.write(json_line(run) + "\n")
            sys.stdout.flush()
        else:
            _show(console, run)
        if run.verdict is Verdict.INVALID and (explain is not None or not as_json):
            said = Console(file=sys.stderr, highlight=False) if as_json else console
            prefix = f"{number}-{Path(run.history).stem}-"
            try:
                _try_to_explain(said, run, explain, prefix)
            except UsageError as error:
                refused.append(error)
    return verdicts


def _try_to_explain(console: Console, run: RunVerdict, folder: Path | None, prefix: str) -> None:
    """Explain a verdict, or print why the model fails to; the verdict is unchanged."""
    from kraftproof.checkers.explain.run import ExplanationError  # slow, and seldom needed

    try:
        _explain(console, run, folder, prefix)
    except ExplanationError as error:
        print_error(f"kraftproof check: {error}")


def _explain(console: Console, run: RunVerdict, folder: Path | None, prefix: str) -> None:
    """Print the explanation of the first invalid key, and write the files of the first few keys.

    The files go into `folder`, or into the folder of the run directory.
    """
    from kraftproof.report.explanations import explain_into, first_words
    from kraftproof.run.directory import RunDirectory

    history = Path(run.history)
    if history.is_dir():
        written = explain_into(RunDirectory(path=history).explanations, run)
    else:
        written = [] if folder is None else explain_into(folder, run, prefix)
    words = written[0].explanation.words if written else first_words(run)
    printed = "\n".join(map(in_one_line, words.splitlines()))
    console.print(Text(indent(printed, "         ")))
    for one in written:
        console.print(Text(f"         picture: {one.picture}"))


def _show(console: Console, run: RunVerdict) -> None:
    line = Text(f"{run.verdict:<8}", style=_STYLES[run.verdict])
    line.append(f" {in_one_line(run.history)}", style="default")
    counts = (
        f"  {run.model}, {run.operations} operations, {len(run.keys)} keys, {run.seconds:.3f} s"
    )
    line.append(counts, style="dim")
    console.print(line)
    for finding in run.findings[:_FINDINGS_SHOWN]:
        said = in_one_line(f"{finding.kind}: {finding.check}: {finding.sentence}")
        console.print(Text(f"         {said}"))
    hidden = len(run.findings) - _FINDINGS_SHOWN
    if hidden > 0:
        console.print(Text(f"         and {hidden} more findings"))
    for note in (*run.doubts, *run.notes)[:_FINDINGS_SHOWN]:
        console.print(Text(f"         {in_one_line(note)}"))
    if run.not_applicable:
        console.print(Text(f"         not applicable: {', '.join(run.not_applicable)}", "dim"))
