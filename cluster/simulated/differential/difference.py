"""Report differences between the node's code and a reference."""

from collections.abc import Callable
from typing import Final, ParamSpec, TypeVar

from msgspec import Struct

T = TypeVar("T")
P = ParamSpec("P")
LONGEST: Final = 200
"""Maximum characters of a value in a report."""


class DifferenceError(Exception):
    """The node's code has another result than the reference."""


class Refusal(Struct, frozen=True, kw_only=True):
    """The error with which the node's code refuses an input."""

    kind: str
    text: str


def same(what: str, found: object, expected: object) -> None:
    """Compare a result of the node's code with that of the reference; a NaN equals a NaN.

    Raises:
        DifferenceError: the results differ.
    """
    if found != expected and repr(found) != repr(expected):
        raise DifferenceError(f"{what}: {_short(found)}, the reference has {_short(expected)}")


def check(what: str, condition: object) -> None:
    """Check a statement that a reference makes about the node's code.

    Raises:
        DifferenceError: the statement is false.
    """
    if not condition:
        raise DifferenceError(f"{what}: this is not so")


def attempt(
    refusal: type[Exception], action: Callable[P, T], *arguments: P.args, **options: P.kwargs
) -> T | Refusal:
    """Return the result of the node's code, or the error that its contract allows.

    A failed assertion of the node passes through, as in every step of a run.

    Raises:
        DifferenceError: the code raises another error, or an error of several lines.
    """
    try:
        return action(*arguments, **options)
    except refusal as error:
        text = str(error)
        if not text or "\n" in text:
            raise DifferenceError(f"the text of an error is no line: {_short(text)}") from error
        return Refusal(kind=type(error).__name__, text=text)
    except AssertionError:
        raise
    except Exception as error:
        name = refusal.__name__
        raise DifferenceError(f"{type(error).__name__} ({error}) in place of {name}") from error


def refused(
    what: str,
    refusal: type[Exception],
    action: Callable[P, object],
    *arguments: P.args,
    **options: P.kwargs,
) -> str:
    """Return the text of the error with which the node's code refuses an input.

    Raises:
        DifferenceError: the code accepts the input, or raises another error.
    """
    found = attempt(refusal, action, *arguments, **options)
    if isinstance(found, Refusal):
        return found.text
    raise DifferenceError(f"{what}: accepted as {_short(found)}, the reference refuses it")


def named(what: str, text: str, *names: object) -> None:
    """Check that the text of an error names the cause, such as a file.

    Raises:
        DifferenceError: a name is missing.
    """
    for name in map(str, names):
        if name not in text:
            raise DifferenceError(f"{what}: the error does not name {name}: {_short(text)}")


def _short(value: object) -> str:
    text = value if isinstance(value, str) else repr(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}..."
