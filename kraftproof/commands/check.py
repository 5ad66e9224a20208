"""`kraftproof check`: checks histories and run directories, and exits by the worst verdict.

It prints what `checkers` returns and decides nothing itself. Exit codes: 0 valid, 1 invalid, 2
unknown, 3 for a mistake in the usage or the input, which is one line on stderr.
"""

import sys
from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Final

import msgspec
import typer
from rich.console import Console
from rich.text import Text

from checkers import CheckerInputError, RunVerdict, check_paths
from checkers.options import Limits
from checkers.verdict import USAGE_ERROR_EXIT_CODE, Verdict, worst

_STYLES: Final = {Verdict.VALID: "green", Verdict.INVALID: "bold red", Verdict.UNKNOWN: "yellow"}
_FINDINGS_SHOWN: Final = 5


class EngineName(StrEnum):
    """Where a check runs."""

    SPARK = "spark"
    INLINE = "inline"


def check(
    paths: Annotated[
        list[Path], typer.Argument(help="Histories (*.jsonl), folders of them, run directories.")
    ],
    model: Annotated[
        str | None, typer.Option(help="The model; otherwise inferred from the operations.")
    ] = None,
    engine: Annotated[
        EngineName, typer.Option(help="spark, or inline: in this process.")
    ] = EngineName.SPARK,
    key_seconds: Annotated[
        float, typer.Option(help="Time limit a key; beyond it the key is unknown.", min=0.001)
    ] = 30.0,
    *,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object a history.")] = False,
) -> None:
    """Check recorded histories and say for each whether it is valid, invalid or unknown.

    [bold]kraftproof check store/*/[/]
    Judges old runs again.

    [bold]kraftproof check --model cas-register --engine inline history.jsonl[/]
    Any history in the same form: one JSON object a line with index, process,
    type (invoke, ok, fail, info), f, key and value.

    Exit codes, by the worst: 0 valid, 2 unknown, 1 invalid; 3 a mistake.
    """
    refused: list[CheckerInputError] = []
    try:
        limits = Limits(seconds=key_seconds)
        runs = check_paths(paths, model, engine.value, limits=limits, refuse=refused.append)
        verdicts = _show_all(runs, as_json=as_json)
    except CheckerInputError as error:
        verdicts = []
        refused.append(error)
    for mistake in refused:
        sys.stderr.write(f"kraftproof check: {mistake}\n")
    raise typer.Exit(USAGE_ERROR_EXIT_CODE if refused else worst(verdicts).exit_code)


def _show_all(runs: Iterable[RunVerdict], *, as_json: bool) -> list[Verdict]:
    console = Console(highlight=False, soft_wrap=True)
    verdicts = []
    for run in runs:
        verdicts.append(run.verdict)
        if as_json:
            sys.stdout.write(json_line(run) + "\n")
        else:
            _show(console, run)
    return verdicts


def json_line(run: RunVerdict) -> str:
    """Returns the JSON line of one history."""
    line = {
        "history": run.history,
        "model": run.model,
        "verdict": run.verdict,
        "seconds": round(run.seconds, 6),
    }
    return msgspec.json.encode(line).decode()


def _show(console: Console, run: RunVerdict) -> None:
    line = Text(f"{run.verdict:<8}", style=_STYLES[run.verdict])
    line.append(f" {run.history}", style="default")
    counts = (
        f"  {run.model}, {run.operations} operations, {len(run.keys)} keys, {run.seconds:.3f} s"
    )
    line.append(counts, style="dim")
    console.print(line)
    for finding in run.findings[:_FINDINGS_SHOWN]:
        console.print(Text(f"         {finding.kind}: {finding.check}: {finding.sentence}"))
    hidden = len(run.findings) - _FINDINGS_SHOWN
    if hidden > 0:
        console.print(Text(f"         and {hidden} more findings"))
    for note in run.notes[:_FINDINGS_SHOWN]:
        console.print(Text(f"         {note}"))
    if run.not_applicable:
        console.print(Text(f"         not applicable: {', '.join(run.not_applicable)}", "dim"))
