"""The end of an operation as a client tells it."""

import math
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from enum import StrEnum
from types import NoneType
from typing import Any, Final

Value = Any
"""Argument or answer of an operation: a JSON value."""
_PLAIN: Final = frozenset((str, int, bool, NoneType))


def is_json(value: object) -> bool:
    """Return whether a value is in the history as the client gave it.

    The encoder of the history would write bytes and numbers that are not finite as something else.
    What it can't write at all, it refuses itself.
    """
    if type(value) in _PLAIN:
        return True
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, list | tuple):
        return all(map(is_json, value))
    if isinstance(value, Mapping):
        return all(map(is_json, value)) and all(map(is_json, value.values()))
    return not isinstance(value, bytes | bytearray | memoryview | AbstractSet)


class Outcome(StrEnum):
    """Outcome of an operation: done (ok), surely not done (fail), or indeterminate (info)."""

    OK = "ok"
    FAIL = "fail"
    INFO = "info"


@dataclass(frozen=True, slots=True, kw_only=True)
class Completion:
    """The end of one operation."""

    outcome: Outcome
    value: Value = None
    error: str | None = None
    connected: bool = True
    """Whether the connection lives on; if not, the process in the history ends here."""

    def has_outcome(self, outcome: str) -> bool:
        """Return whether the operation is ok, with this outcome in its value."""
        if self.outcome is not Outcome.OK or not isinstance(self.value, Mapping):
            return False
        return self.value.get("outcome") == outcome
