"""Variables in a Compose file: ${NAME}, with a default, an error or an alternative.

The forms are those of the Compose specification: $NAME, ${NAME}, ${NAME:-default}, ${NAME-default},
${NAME:?error}, ${NAME?error}, ${NAME:+other}, ${NAME+other}, and $$ for a dollar sign. With a colon
an empty value counts as unset. The environment precedes the file .env beside the Compose file.
"""

import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from kraftproof.cluster.systems.compose.errors import Place

_NAME: Final = r"[A-Za-z_][A-Za-z0-9_]*"
_VARIABLE: Final = re.compile(
    rf"\$(?:(?P<dollar>\$)|(?P<plain>{_NAME})"
    rf"|\{{(?P<name>{_NAME})(?:(?P<form>:?[-?+])(?P<rest>(?:[^{{}}]|\$\{{[^}}]*\}})*))?\}}"
    r"|(?P<wrong>))"
)


def variables(folder: Path) -> dict[str, str]:
    """Return the variables of a Compose file in a folder: those of .env, then the environment."""
    from dotenv import dotenv_values

    file = folder / ".env"
    found = dotenv_values(file) if file.is_file() else {}
    return {**{name: value or "" for name, value in found.items()}, **os.environ}


def substituted(text: str, known: Mapping[str, str], place: Place) -> str:
    """Return a text with the values of its variables; an unset one without a default is empty.

    Raises:
        ComposeFileError: a required variable is unset, or a dollar sign begins no variable.
    """

    def value(match: re.Match[str]) -> str:
        if match["dollar"] is not None:
            return "$"
        if match["wrong"] is not None:
            raise place.error(f"{text!r}: a $ begins no variable; $$ is a dollar sign")
        name, form, rest = match["plain"] or match["name"], match["form"] or "", match["rest"] or ""
        found = known.get(name)
        is_set = bool(found) if form.startswith(":") else found is not None
        match form[-1:]:
            case "-":
                return found or "" if is_set else substituted(rest, known, place)
            case "+":
                return substituted(rest, known, place) if is_set else ""
            case "?" if not is_set:
                raise place.error(f"the variable {name} is not set: {rest or 'it is required'}")
            case _:
                return found or ""

    return _VARIABLE.sub(value, text)
