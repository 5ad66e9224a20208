"""A sub-history: the calls that are left of one key's history while it is being reduced.

It is a value; how it becomes smaller is `checkers.explain.reductions`.
"""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import NamedTuple

from checkers.history import Operation


class Entry(NamedTuple):
    """A call with its operation; one that is not ok may have taken effect, at any later time."""

    operation: Operation
    call: Hashable

    @property
    def is_required(self) -> bool:
        """Whether it surely took effect, before its completion."""
        return self.operation.status == "ok"


@dataclass(frozen=True, slots=True, kw_only=True)
class SubHistory:
    """Calls, by invocation, and the states that they may begin in.

    Attributes:
        entries: the calls.
        starts: it is linearizable if it is so from one of these states.
        since: the event before which nothing is looked at; None if it begins with the history.
    """

    entries: tuple[Entry, ...]
    starts: tuple[Hashable, ...]
    since: int | None = None

    def __len__(self) -> int:
        return len(self.entries)
