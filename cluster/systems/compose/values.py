"""Values of a Compose file: texts, lists, durations and numbers, from the values of YAML."""

import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Final

from kraftproof.cluster.systems.compose.errors import Place

_UNITS: Final = {"us": 1e3, "ms": 1e6, "s": 1e9, "m": 60e9, "h": 3600e9}
_DURATION: Final = re.compile(r"(\d+(?:\.\d+)?)(us|ms|s|m|h)")


def text(value: object, place: Place) -> str:
    """Return a scalar as text.

    Raises:
        ComposeFileError: the value is a list or a map, or is missing.
    """
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str | int | float):
        return str(value)
    raise place.error(f"a text is expected, not {_kind(value)}")


def texts(value: object, place: Place) -> tuple[str, ...]:
    """Return a list of scalars as texts; a single scalar is a list of one."""
    if isinstance(value, list):
        return tuple(text(one, place) for one in value)
    return (text(value, place),)


def mapping(
    value: object, place: Place, known: Sequence[str] | None = None
) -> Mapping[str, object]:
    """Return a map with its keys as texts.

    Args:
        value: The value.
        place: Its place in the file.
        known: The keys that it may have, besides those that begin with x-; None for all.

    Raises:
        ComposeFileError: the value is no map, or has an unknown key.
    """
    if not isinstance(value, Mapping):
        raise place.error(f"a map is expected, not {_kind(value)}")
    for key in value:
        if known is not None and key not in known and not str(key).startswith("x-"):
            raise place.at(str(key)).error("is not supported")
    return {str(key): one for key, one in value.items()}


def truth(value: object, place: Place) -> bool:
    """Return a truth value.

    Raises:
        ComposeFileError: the value is neither true nor false.
    """
    given = text(value, place).lower()
    if given not in {"true", "false"}:
        raise place.error(f"{value!r}: true or false is expected")
    return given == "true"


def words(value: object, place: Place) -> list[str]:
    """Return a command: a list as it stands, a text split as a shell splits it.

    Raises:
        ComposeFileError: a quotation mark is missing.
    """
    if isinstance(value, list):
        return list(texts(value, place))
    given = text(value, place)
    try:
        return shlex.split(given)
    except ValueError as error:
        raise place.error(f"{value!r}: {error}") from error


def duration_ns(value: object, place: Place) -> int:
    """Return a duration such as 1m30s in nanoseconds.

    Raises:
        ComposeFileError: the value is no duration.
    """
    given = text(value, place)
    found = _DURATION.findall(given)
    if not found or "".join(number + unit for number, unit in found) != given:
        raise place.error(f"{given!r}: a duration such as 10s or 1m30s is expected")
    return int(sum(float(number) * _UNITS[unit] for number, unit in found))


def number(value: object, place: Place) -> int:
    """Return a whole number.

    Raises:
        ComposeFileError: the value is none.
    """
    try:
        return int(text(value, place))
    except ValueError as error:
        raise place.error(f"{value!r}: a whole number is expected") from error


def _kind(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, list):
        return "a list"
    return "a map" if isinstance(value, Mapping) else f"{value!r}"
