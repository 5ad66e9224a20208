"""A sub-history: the calls that are left of one key's history while it is being reduced.

It is a value; how it becomes smaller is `checkers.explain.reduction.reductions`.
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Final, NamedTuple

import msgspec

from kraftproof.checkers.history.operations import Operation

BEGINNING: Final = -1
"""Before every event."""

Window = tuple[int, int]


class Entry(NamedTuple):
    """A call with its operation; one that is not ok may have taken effect, at any later time."""

    operation: Operation
    call: Hashable

    @property
    def is_required(self) -> bool:
        """Whether it surely took effect, before its completion."""
        return self.operation.status == "ok"


@dataclass(frozen=True, slots=True, kw_only=True)
class AlternationCount:
    """Calls of one kind that are too many.

    Attributes:
        windows: the events that each window begins and ends with, in time.
        inside: the calls of the kind that lie wholly in each of them.
        touching: the calls of the other kind that may have taken effect in any of them.
        granted: how many more of the kind there may be in each of them.
    """

    windows: tuple[Window, ...]
    inside: tuple[tuple[Entry, ...], ...]
    touching: tuple[Entry, ...]
    granted: tuple[int, ...]

    @property
    def is_too_many(self) -> bool:
        """Whether no order exists."""
        return sum(map(len, self.inside)) > len(self.touching) + sum(self.granted)

    def left_over(self) -> tuple[int, tuple[Entry, ...]]:
        """Returns where the last window that matters begins, and its last calls: one too many."""
        counts = zip(self.inside, self.granted, strict=True)
        place = max(n for n, (own, granted) in enumerate(counts) if len(own) > granted)
        own = sorted(self.inside[place], key=lambda one: one.operation.complete_index or 0)
        last = sorted(own[-self.granted[place] - 1 :], key=lambda one: one.operation.invoke_index)
        return self.windows[place][0], tuple(_widened(one, self.windows[place]) for one in last)


def _widened(entry: Entry, window: Window) -> Entry:
    """The call, open for a whole window."""
    begin, end = window
    operation = msgspec.structs.replace(entry.operation, invoke_index=begin, complete_index=end)
    return Entry(operation, entry.call)


@dataclass(frozen=True, slots=True, kw_only=True)
class SumBound:
    """A sum that some calls add up to, and another that was told.

    Attributes:
        first: the call that told the sum before; None if that is the one at first.
        start: the sum before.
        last: the call that told what can't be.
        told: what it told.
        adds: the calls between, by invocation.
        amount: what they add.
        is_most: whether nothing else can have come between, so that too much was told; else they
            are sure to have, and too little was.
    """

    first: Entry | None
    start: int
    last: Entry
    told: int
    adds: tuple[Entry, ...]
    amount: int
    is_most: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ElementCount:
    """What was put in and taken out of something that holds items, and can't be.

    Attributes:
        items: the items that are counted.
        about: these, and those whose takes show that they had to be out.
        is_taken: whether too many takes were over; else too few had begun for what had to be out.
        over: the takes that were over, or the puts of what had to be out.
        begun: the puts that had begun, or the takes.
        by: the event by which they were over, out, or begun.
        left: the calls that the count leaves over: too many takes a take, else a put with the call
            that shows it had to be out, and a put of what this took.
    """

    items: tuple[Hashable, ...]
    about: tuple[Hashable, ...]
    is_taken: bool
    over: tuple[Entry, ...]
    begun: tuple[Entry, ...]
    by: int
    left: tuple[Entry, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class SubHistory:
    """Calls, by invocation, and the states that they may begin in.

    Attributes:
        entries: the calls.
        starts: it is linearizable if it is so from one of these states.
        since: the event before which nothing is looked at; None if it begins with the history.
        surplus: what shows by counting that its calls are too many, and which others there were.
        total: what shows by adding up that a sum told can't be.
        balance: what shows by counting that more came out than went in, or has to be left inside.
    """

    entries: tuple[Entry, ...]
    starts: tuple[Hashable, ...]
    since: int | None = None
    surplus: AlternationCount | None = None
    total: SumBound | None = None
    balance: ElementCount | None = None

    def __len__(self) -> int:
        return len(self.entries)

    @property
    def is_counted(self) -> bool:
        """Whether it is counting or adding up that shows it, over more calls than are left."""
        return not (self.surplus is None and self.total is None and self.balance is None)

    def beside(self, others: Iterable[Entry]) -> "SubHistory":
        """Returns it with other calls of its history, those that are not there yet."""
        there = {one.operation.index: one for one in (*others, *self.entries)}
        entries = sorted(there.values(), key=lambda one: one.operation.invoke_index)
        return replace(self, entries=tuple(entries))

    def last_to_return(self) -> Entry:
        """Returns the required call that was over last."""
        return max(
            (one for one in self.entries if one.is_required),
            key=lambda entry: entry.operation.complete_index or 0,
        )
