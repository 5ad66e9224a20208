"""Values of a Compose file: texts, lists, durations and numbers, from the values of YAML."""

import re
import shlex
from collections.abc import Mapping
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


def mapping(value: object, place: Place) -> Mapping[str, object]:
    """Return a map with its keys as texts.

    Raises:
        ComposeFileError: the value is no map.
    """
    if not isinstance(value, Mapping):
        raise place.error(f"a map is expected, not {_kind(value)}")
    return {str(key): one for key, one in value.items()}


def words(value: object, place: Place) -> list[str]:
    """Return a command: a list as it stands, a text split as a shell splits it.

    Raises:
        ComposeFileError: a quotation mark is missing.
    """
    if isinstance(value, list):
        return list(texts(value, place))
    try:
        return shlex.split(text(value, place))
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


def nano_cpus(value: object, place: Place) -> int:
    """Return a number of processors such as 0.5 in billionths.

    Raises:
        ComposeFileError: the value is no number.
    """
    try:
        return int(float(text(value, place)) * 1e9)
    except ValueError as error:
        raise place.error(f"{value!r}: a number of processors is expected") from error


def _kind(value: object) -> str:
    if value is None:
        return "nothing"
    if isinstance(value, list):
        return "a list"
    return "a map" if isinstance(value, Mapping) else f"{value!r}"
