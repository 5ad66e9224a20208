"""The line of an option's value that the command-line parser refuses: option, value, reason."""

import re
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

from kraftproof.errors import UsageError
from kraftproof.spelling import nearest

KINDS: Final = {
    "int_parsing": "a whole number is expected",
    "float_parsing": "a number is expected",
    "greater_than_equal": "{ge:g} or more is expected",
    "less_than_equal": "{le:g} or less is expected",
}
"""The reason for each kind of a validation error of pydantic, by which typer reads values."""


NO_CHOICE: Final = re.compile(r"'.*' is not (?:one of )?('.*')\.?", re.DOTALL)
"""The parser's message about a value that is none of the choices of an option."""
MAY_BE_EMPTY: Final = frozenset({"--key", "--nemesis"})
"""Options that take an empty text, or refuse the text with a line of their own."""


def refuse_empty(arguments: Sequence[str]) -> None:
    """Refuse an empty argument: as a path, an empty text would stand for the current folder.

    Raises:
        UsageError: an argument is empty.
    """
    for before, one in pairwise(["", *arguments]):
        option = one.removesuffix("=") if one.startswith("--") and one.endswith("=") else before
        is_empty = not one or option != before
        if is_empty and option not in MAY_BE_EMPTY:
            where = f"{option} ''" if option.startswith("--") else "''"
            raise UsageError(
                f"{where}: the text is empty, as that of an unset variable of a script"
            )


def value_line(error: Exception) -> str | None:
    """Return the line of a refused value; None for any other error.

    Typer's own line names the option, but neither the value nor the form that is expected.
    """
    if hasattr(error, "possibilities"):  # the parser does not know the option
        return _unknown_option(error)
    parameter, cause = getattr(error, "param", None), error.__cause__
    listed = getattr(cause, "errors", None)
    if parameter is None or listed is None:
        return None
    first: dict[str, Any] = listed()[0]
    context = first.get("ctx", {})
    if first["type"] in KINDS:
        reason = KINDS[first["type"]].format(**context)
    else:
        reason = str(context.get("error", first["msg"]))
    refused, near = NO_CHOICE.fullmatch(reason), ""
    if refused is not None:
        known = re.findall("'([^']*)'", refused[1])
        reason, near = f"one of {', '.join(known)} is expected", nearest(first["input"], known)
    return f"{max(parameter.opts, key=len)} {first['input']}{near}: {reason}"


def _unknown_option(error: Any) -> str:  # noqa: ANN401 - an error of the parser, which has no types
    """Return the line of an unknown option, with the nearest of the command."""
    known = [name for one in error.ctx.command.get_params(error.ctx) for name in one.opts]
    return f"{error.option_name}{nearest(error.option_name, known)}: no such option"
