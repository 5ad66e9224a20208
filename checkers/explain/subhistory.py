"""A sub-history: the calls of one key that remain during the reduction.

A sub-history is a value; the module `checkers.explain.reduction.reductions` makes it smaller.
"""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Final

import msgspec

from kraftproof.checkers.judge.entries import Entry

BEGINNING: Final = -1
"""Before every event."""

Window = tuple[int, int]


@dataclass(frozen=True, slots=True, kw_only=True)
class AlternationCount:
    """A surplus of calls of one kind.

    Attributes:
        windows: the events that each window begins and ends with, in time.
        inside: for each window, the calls of the kind that lie wholly within the window.
        touching: the calls of the other kind that may have taken effect in any window.
        granted: the allowed excess of the kind in each window.
    """

    windows: tuple[Window, ...]
    inside: tuple[tuple[Entry, ...], ...]
    touching: tuple[Entry, ...]
    granted: tuple[int, ...]

    @property
    def is_too_many(self) -> bool:
        """Return whether no order exists."""
        return sum(map(len, self.inside)) > len(self.touching) + sum(self.granted)

    def left_over(self) -> tuple[int, tuple[Entry, ...]]:
        """Return the beginning of the last relevant window, and its surplus calls."""
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
    """A bound on a sum, and a call that returned a sum beyond the bound.

    Attributes: first: the call that returned the earlier sum; None for the initial sum.
        start: the sum before.
        last: the call that returned the impossible sum.
        returned: the returned sum.
        adds: the calls between, by invocation.
        amount: what they add.
        is_most: true if only `adds` can have come between, so that the returned sum is too high;
            false if all of `adds` must have come between, so that the sum is too low.
    """

    first: Entry | None
    start: int
    last: Entry
    returned: int
    adds: tuple[Entry, ...]
    amount: int
    is_most: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class ElementCount:
    """A count of puts and takes that no order of the calls allows.

    Attributes: items: the counted items.
        about: the items counted, and the items whose takes prove that the counted items had to be
            out.
        is_taken: whether too many takes were over; else too few had begun for what had to be out.
        over: the completed takes, or the puts whose elements had to be out.
        begun: the puts that had begun, or the takes.
        by: the event at which the calls are counted.
        left: the unmatched calls: the last take, or else a put with the call that required its
            element to be out, and a put of the element that this call took.
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
    """Calls in the order of invocation, and the possible initial states.

    Attributes:
        entries: the calls.
        starts: the possible initial states; the sub-history is linearizable if an order is legal
            from one of the states.
        since: the event at which the window begins; None for the beginning of the history.
        surplus: the counts of alternating calls that prove the violation.
        total: the violated bound of a sum.
        balance: the counts of puts and takes that prove the violation.
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
        """Return whether a count over more calls than the remaining calls proves the violation."""
        return not (self.surplus is None and self.total is None and self.balance is None)

    def beside(self, others: Iterable[Entry]) -> "SubHistory":
        """Return the sub-history with omitted calls of its history added."""
        there = {one.operation.index: one for one in (*others, *self.entries)}
        entries = sorted(there.values(), key=lambda one: one.operation.invoke_index)
        return replace(self, entries=tuple(entries))

    def last_to_return(self) -> Entry:
        """Return the required call that was over last."""
        return max(
            (one for one in self.entries if one.is_required),
            key=lambda entry: entry.operation.complete_index or 0,
        )
