"""The line of an option's value that the command-line parser refuses: option, value, reason."""

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final

from kraftproof.errors import UsageError

KINDS: Final = {
    "int_parsing": "a whole number is expected",
    "float_parsing": "a number is expected",
    "greater_than_equal": "{ge:g} or more is expected",
    "less_than_equal": "{le:g} or less is expected",
}
"""The reason for each kind of a validation error of pydantic, by which typer reads values."""


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
    return f"{max(parameter.opts, key=len)} {first['input']}: {reason}"
