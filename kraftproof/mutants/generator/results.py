"""Results of trials: a file of JSON lines for later commands, a table and totals."""

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from statistics import median
from typing import Final

import msgspec
from rich.table import Table
from rich.text import Text

from kraftproof.errors import UsageError
from kraftproof.mutants.generator.trial import (
    ASSERTION,
    COMPARISONS,
    PROPERTY,
    RESULTS,
    SURVIVED,
    UNKILLED,
    Trial,
)

STYLES: Final = {PROPERTY: "green", ASSERTION: "green", SURVIVED: "bold red"}
LONGEST_EDIT: Final = 100


def as_json(trial: Trial) -> dict[str, object]:
    """Return the line of `--json` and `--out`."""
    return asdict(trial)


def read_results(path: Path) -> dict[str, Trial]:
    """Return the trials of a file by mutant; a file that does not exist has none.

    Raises:
        UsageError: a line is no trial.
    """
    if not path.exists():
        return {}
    trials = {}
    for number, line in enumerate(path.read_bytes().splitlines(), 1):
        try:
            trial = msgspec.json.decode(line, type=Trial)
        except msgspec.MsgspecError as error:
            raise UsageError(f"--out {path}: line {number} is no result of a mutant") from error
        trials[trial.mutant] = trial
    return trials


def append_result(path: Path, trial: Trial) -> None:
    """Append a trial to a file, for the continuation of an interrupted command.

    Raises:
        UsageError: the file can't be written.
    """
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(as_json(trial)) + "\n")
    except OSError as error:
        raise UsageError(f"--out {path}: {error.strerror}") from error


def line_of(trial: Trial) -> str:
    """Return a trial as a line."""
    by = trial.by or _why(trial)
    place = f"{trial.module}:{trial.line}"
    return f"{trial.result:<11} {trial.cpu_seconds:>5.1f} CPU-s  {by:<28} {place:<36} {trial.edit}"


def as_table(trials: Sequence[Trial]) -> Table:
    """Return the trials as a table for a terminal, survivors last."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("result", no_wrap=True)
    table.add_column("module", no_wrap=True)
    table.add_column("line", justify="right", no_wrap=True)
    table.add_column("edit", overflow="fold", ratio=1)
    table.add_column("found by", no_wrap=True)
    table.add_column("CPU-s", justify="right", no_wrap=True)
    for trial in sorted(trials, key=lambda one: RESULTS.index(one.result)):
        table.add_row(
            Text(trial.result, style=STYLES.get(trial.result, "yellow")),
            trial.module.removeprefix("node."),
            str(trial.line),
            Text(trial.edit[:LONGEST_EDIT]),
            Text(trial.by or _why(trial)),
            f"{trial.cpu_seconds:.1f}",
        )
    return table


def _why(trial: Trial) -> str:
    """Return what an unkilled mutant went through."""
    unit = "seed" if trial.workload != COMPARISONS else "draw"
    if not trial.reached:
        return f"no {unit} runs the code"
    return f"{trial.searched} of {trial.reached} {unit}s"


def totals(trials: Sequence[Trial]) -> str:
    """Return the number of trials of each result, and the median cost of a kill, in a line."""
    if not trials:
        return "no mutants"
    counted = Counter(trial.result for trial in trials)
    parts = ", ".join(f"{counted[result]} {result}" for result in RESULTS)
    killed = [trial.cpu_seconds for trial in trials if trial.result not in UNKILLED]
    cost = f", median kill {median(killed):.1f} CPU-s" if killed else ""
    return f"{len(trials)} mutants: {parts}{cost}"
