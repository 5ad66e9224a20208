"""`kraftproof generate`: makes a history whose verdict is known, for checkers to prove themselves.

It reads options and shows progress; `checkers.generate` makes the history.
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from kraftproof.errors import UsageError
from kraftproof.output import say, say_json

if TYPE_CHECKING:
    from kraftproof.checkers.generate import Generated, GenerateOptions

UNIQUE: Final = "unique"

MixOption = Annotated[
    str | None,
    typer.Option(
        help="Weights of the functions, such as read=3,write=1.",
        show_default="the model's own",
    ),
]
ListOption = Annotated[
    bool,
    typer.Option(
        "--list",
        is_eager=True,
        callback=lambda asked: _list() if asked else None,
        help="List the models, their functions and kinds of corruption.",
    ),
]


def generate(
    *,
    out: Annotated[Path, typer.Option(help="The file: .jsonl, .jsonl.gz or .parquet.")],
    model: Annotated[
        str, typer.Option(help="What the clients work on; --list names all.")
    ] = "cas-register",
    operations: Annotated[int, typer.Option(help="Operations, over all keys.")] = 1000,
    keys: Annotated[int, typer.Option(help="Keys, each with an object of its own.")] = 1,
    concurrency: Annotated[
        int, typer.Option(help="Clients a key; nearly all have an operation open at any moment.")
    ] = 5,
    values: Annotated[
        str, typer.Option(help="How many distinct values; or unique: each is written once a key.")
    ] = "5",
    mix: MixOption = None,
    indeterminate: Annotated[
        float, typer.Option(help="Share of operations whose client never hears of the outcome.")
    ] = 0.0,
    failed: Annotated[
        float, typer.Option(help="Share of operations that fail without an effect.")
    ] = 0.0,
    corrupt: Annotated[
        str | None, typer.Option(help="Make one answer wrong, in this way; --list names all.")
    ] = None,
    hot_key: Annotated[
        float, typer.Option(help="Share of all operations that go to the first key.")
    ] = 0.0,
    seed: Annotated[int, typer.Option(help="Of all chance: same options, same bytes.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="A JSON object as last line.")] = False,
    show_list: ListOption = False,
) -> None:
    """Make a history whose verdict is known: valid by construction, or with one wrong answer.

    Virtual clients work on a real object in virtual time. Each operation takes effect at a moment
    between its invocation and its completion, so the history is linearizable. The effect of an
    indeterminate operation comes at any later time, or never.

    [bold]kraftproof generate --operations 100000 --concurrency 10 --out h.jsonl[/]
    One register, values 0 to 4, read, write and cas in equal parts.

    [bold]kraftproof generate --mix read=1,write=1 --values unique --keys 1000
    --operations 1000000 --indeterminate 0.05 --out h.parquet[/]
    A read/write register a key, each value written once, one in twenty unanswered.

    [bold]kraftproof generate --operations 5000 --corrupt stale-read --out h.jsonl
    kraftproof check h.jsonl[/]
    One read answers what was overwritten before it began: invalid.

    [bold]kraftproof generate --operations 10000000 --keys 10000 --hot-key 0.5 --out h.parquet[/]
    One key has half of all operations.

    Keys are worked on one after the other, as many at a time as make up a million
    operations. A corruption that guarantees an invalid history is listed so.
    Exit codes: 0 made, 3 a mistake.
    """
    from kraftproof.checkers.generate import GenerateOptions

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
        say_json(_as_json(options, made, out))
    else:
        say(_told(options, made, out))


def parse_values(text: str) -> int | None:
    """Returns how many values there are, None for `unique`; refuses all else in one line."""
    if text == UNIQUE:
        return None
    if not (text.isascii() and text.isdecimal()):
        raise UsageError(f"--values {text}: a number or {UNIQUE} is expected")
    return int(text)


def parse_mix(text: str) -> dict[str, float]:
    """Returns the weights of read=3,write=1; refuses all else in one line."""
    mix = {}
    for part in text.split(","):
        name, _, weight = part.partition("=")
        if name.strip() in mix:
            raise UsageError(f"--mix {text}: {name.strip()} is there twice")
        try:
            mix[name.strip()] = float(weight)
        except ValueError:
            raise UsageError(f"--mix {part}: FUNCTION=WEIGHT is expected") from None
    return mix


def _generate(options: "GenerateOptions", out: Path) -> "Generated":
    from kraftproof.checkers.generate import generate as generate_file

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


def _told(options: "GenerateOptions", made: "Generated", out: Path) -> str:
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


def _list() -> None:
    from kraftproof.checkers.generate.catalogue import SUBJECTS

    for subject in SUBJECTS.values():
        mix = ", ".join(f"{name}={weight:g}" for name, weight in subject.mix.items())
        say(f"{subject.model}  {mix}")
        for name, kind in subject.corruptions.items():
            what = "invalid" if kind.is_guaranteed else "any    "
            say(f"    {name:<20}{what}  {kind.told}")
    raise typer.Exit(0)
