"""`kraftproof list`: list backends, systems, workloads, faults, models and engines by name."""

from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from kraftproof.errors import UsageError
from kraftproof.inventory import OURS, Item, Kind, kinds_named
from kraftproof.output import print_json


def list_names(
    kind: Annotated[
        str | None, typer.Argument(help="backends, systems, workloads, faults, models or engines.")
    ] = None,
    *,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a JSON object with a list per kind.")
    ] = False,
) -> None:
    """List backends, systems, workloads, faults, models and engines, including installed plug-ins.

    [bold]kraftproof list[/]
    Lists all names, with the option that takes the name.

    [bold]kraftproof list faults[/]
    Lists the faults, with the backends that support each fault.

    [bold]kraftproof list engines[/]
    Lists the engines, with the models of each engine.
    """
    try:
        chosen = list(kinds_named(kind))
    except ValueError as error:
        raise UsageError(f"list {error}") from error
    if as_json:
        print_json({one.name: [_value(item) for item in one.items()] for one in chosen})
        return
    console = Console(highlight=False)
    for one in chosen:
        _show(console, one)


def _value(item: Item) -> dict[str, object]:
    value: dict[str, object] = {
        "name": item.name,
        "summary": item.summary,
        "source": item.source,
    }
    notes = {"backends": list(item.backends), "models": list(item.models)}
    return value | {name: names for name, names in notes.items() if names}


def _show(console: Console, kind: Kind) -> None:
    option = "" if kind.option is None else f"  {kind.option} NAME"
    console.print(Text.assemble((kind.name, "bold"), (option, "dim")))
    table = Table.grid(padding=(0, 2))
    table.add_column(no_wrap=True)
    table.add_column()
    for item in kind.items():
        notes = [item.summary]
        if item.backends or item.models:
            notes.append(f"[{', '.join(item.backends or item.models)}]")
        if item.source != OURS:
            notes.append(f"({item.source})")
        table.add_row(Text(f"  {item.name}"), Text(" ".join(notes)))
    console.print(table)
    console.print()
