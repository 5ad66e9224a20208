"""Options of all commands that read histories: the form of values and the initial state."""

from typing import Annotated

import typer

Keyed = Annotated[
    bool | None,
    typer.Option(
        "--keyed/--unkeyed",
        help="All values have the form \\[key, value], or no value has; by default inferred.",
        show_default=False,
    ),
]
Initial = Annotated[
    list[str] | None,
    typer.Option(
        help="Initial value of all keys, accounts or registers, as JSON, or of one of them with"
        " KEY=VALUE; repeatable.",
        metavar="[KEY=]VALUE",
        show_default=False,
    ),
]
