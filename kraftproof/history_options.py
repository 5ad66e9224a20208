"""Options of commands that read histories: facts on the values, which a user states."""

from typing import Annotated

import typer

Keyed = Annotated[
    bool | None,
    typer.Option(
        "--keyed/--unkeyed",
        help="Each value is [key, value], or none is; otherwise told from all values of a history.",
        show_default=False,
    ),
]
Initial = Annotated[
    list[str] | None,
    typer.Option(
        help="What every key, account or register holds at first, as JSON; KEY=VALUE for one of"
        " them. May be given again.",
        metavar="[KEY=]VALUE",
        show_default=False,
    ),
]
