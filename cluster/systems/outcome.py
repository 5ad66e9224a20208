"""The end of an operation as a client tells it."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

Value = Any
"""What an operation takes or answers: anything that JSON can say."""


class Outcome(StrEnum):
    """What became of an operation: done, surely not done, or nobody knows."""

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

    def told(self, outcome: str) -> bool:
        """Whether the operation is ok, with this outcome in its value."""
        if self.outcome is not Outcome.OK or not isinstance(self.value, Mapping):
            return False
        return self.value.get("outcome") == outcome
