"""`kraftproof generate`: generate a history with a known verdict, to test checkers.

This module parses options and shows progress; `checkers.generate` makes the history.
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from kraftproof.errors import UsageError
from kraftproof.output import print_json, print_line
from kraftproof.quick_start import without_pandas

if TYPE_CHECKING:
    from kraftproof.checkers.generate import Generated, GenerateOptions
    from kraftproof.checkers.generate.subjects.subject import Subject

UNIQUE: Final = "unique"

MixOption = Annotated[
    str | None,
    typer.Option(
        help="Weights of the operations, such as read=3,write=1.",
        show_default="the model's own",
    ),
]
OutOption = Annotated[
    Path | None,
    typer.Option(help="File to write: .jsonl, .jsonl.gz or .parquet; needed without --list."),
]
ListOption = Annotated[
    bool,
    typer.Option(
        "--list",
        help="List the models with their operations and kinds of corruption.",
    ),
]


def generate(
    *,
    out: OutOption = None,
    model: Annotated[
        str, typer.Option(help="Model of the object that the clients use; --list names all.")
    ] = "cas-register",
    operations: Annotated[int, typer.Option(help="Number of operations over all keys.")] = 1000,
    keys: Annotated[int, typer.Option(help="Number of keys; each key is its own object.")] = 1,
    concurrency: Annotated[
        int, typer.Option(help="Clients per key; most have an open operation at any time.")
    ] = 5,
    values: Annotated[
        str,
        typer.Option(help="Number of distinct values; or unique: one write per value and key."),
    ] = "5",
    mix: MixOption = None,
    indeterminate: Annotated[
        float, typer.Option(help="Share of operations with an unknown outcome (info).")
    ] = 0.0,
    failed: Annotated[
        float, typer.Option(help="Share of operations that fail without an effect (fail).")
    ] = 0.0,
    corrupt: Annotated[
        str | None, typer.Option(help="Kind of the one wrong answer; --list names all kinds.")
    ] = None,
    hot_key: Annotated[float, typer.Option(help="Share of all operations on the first key.")] = 0.0,
    seed: Annotated[int, typer.Option(help="Same seed and options: same bytes.")] = 0,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the result as a JSON object on the last line.")
    ] = False,
    show_list: ListOption = False,
) -> None:
    """Generate a history with a known verdict: valid by construction, or with one wrong answer.

    [bold]kraftproof generate --operations 100000 --concurrency 10 --out h.jsonl[/]
    A register with values 0 to 4: read, write and cas in equal parts.

    [bold]kraftproof generate --mix read=1,write=1 --values unique --keys 1000
    --operations 1000000 --indeterminate 0.05 --out h.parquet[/]
    A read/write register per key; each value is written once, and 5 percent of
    the operations have an unknown outcome.

    [bold]kraftproof generate --operations 5000 --corrupt stale-read --out h.jsonl
    kraftproof check h.jsonl[/]
    A read returns a value that was overwritten before the read began: invalid.

    [bold]kraftproof generate --operations 10000000 --keys 10000 --hot-key 0.5 --out h.parquet[/]
    Half of all operations use the same key.

    Virtual clients operate on a real object in virtual time. Each operation
    takes effect between its invocation and its completion, so the history is
    linearizable. The effect of an operation with an unknown outcome comes at any
    later time, or never.

    --list marks the kinds of corruption that guarantee an invalid history. The
    generator works on as many keys at a time as have a million operations
    together.

    Exit codes: 0 written, 3 wrong usage or input.
    """
    from kraftproof.checkers.generate import GenerateOptions

    if show_list:
        _list(as_json=as_json)
        return
    if out is None:
        raise UsageError("--out: the file to write is missing: .jsonl, .jsonl.gz or .parquet")
    options = GenerateOptions(
        model=model,
        operations=operations,
        keys=keys,
        concurrency=concurrency,
        values=parse_values(values),
        mix=None if mix is None else parse_mix(mix),
        indeterminate=indeterminate,
        failed=failed,
        corrupt=corrupt,
        hot_key=hot_key,
        seed=seed,
    )
    made = _generate(options, out)
    if as_json:
        print_json(_as_json(options, made, out))
    else:
        print_line(_result_line(options, made, out))


def parse_values(text: str) -> int | None:
    """Return the number of values, None for `unique`; refuse other texts in one line."""
    if text == UNIQUE:
        return None
    if not (text.isascii() and text.isdecimal()):
        raise UsageError(f"--values {text}: a number or {UNIQUE} is expected")
    return int(text)


def parse_mix(text: str) -> dict[str, float]:
    """Return the weights of a text such as read=3,write=1; refuse other texts in one line."""
    mix = {}
    for part in text.split(","):
        name, _, weight = part.partition("=")
        if name.strip() in mix:
            raise UsageError(f"--mix {text}: {name.strip()} appears twice")
        try:
            mix[name.strip()] = float(weight)
        except ValueError:
            raise UsageError(f"--mix {part}: FUNCTION=WEIGHT is expected") from None
    return mix


def _generate(options: "GenerateOptions", out: Path) -> "Generated":
    from kraftproof.checkers.generate import generate as generate_file

    without_pandas()
    with Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=Console(stderr=True, highlight=False),
        transient=True,
        disable=not sys.stderr.isatty(),
    ) as progress:
        task = progress.add_task("operations", total=options.operations)
        return generate_file(options, out, lambda made: progress.update(task, completed=made))


def _result_line(options: "GenerateOptions", made: "Generated", out: Path) -> str:
    line = f"{made.verdict:<8} {out}  {options.model}, {made.operations} operations,"
    line += f" {options.keys} keys, seed {options.seed}"
    if made.corrupted is None:
        return line
    from kraftproof.checkers.findings import fact_of

    one = made.corrupted
    where = f"operation {one.index} of key {one.key}: {fact_of(one)}"
    return f"{line}\n         {options.corrupt}: {where}"


def _as_json(options: "GenerateOptions", made: "Generated", out: Path) -> dict[str, object]:
    return {
        "history": str(out),
        "model": options.model,
        "verdict": made.verdict,
        "operations": made.operations,
        "keys": options.keys,
        "seed": options.seed,
        "corrupted": None if made.corrupted is None else made.corrupted.index,
        "corrupted_key": None if made.corrupted is None else made.corrupted.key,
    }


def _list(*, as_json: bool) -> None:
    """Print the models, each with its mix of operations and its kinds of corruption."""
    from kraftproof.checkers.generate.catalogue import SUBJECTS

    if as_json:
        print_json({"models": [_subject_json(subject) for subject in SUBJECTS.values()]})
        return
    for subject in SUBJECTS.values():
        mix = ", ".join(f"{name}={weight:g}" for name, weight in subject.mix.items())
        print_line(f"{subject.model}  {mix}")
        for name, kind in subject.corruptions.items():
            what = "invalid" if kind.is_guaranteed else "any    "
            print_line(f"    {name:<20}{what}  {kind.description}")


def _subject_json(subject: "Subject") -> dict[str, object]:
    return {
        "model": subject.model,
        "mix": dict(subject.mix),
        "corruptions": [
            {"name": name, "guaranteed": kind.is_guaranteed, "description": kind.description}
            for name, kind in subject.corruptions.items()
        ],
    }
