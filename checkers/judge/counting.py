"""Counts what went in and out, to find the first answer that the count makes impossible.

`checkers.explain.certificate.counting` has the rules, and makes a certificate of the answer.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from kraftproof.checkers.judge.entries import Entry, begin_of, end_of
from kraftproof.checkers.models.reducible import HoldingModel


def first_unbalanced(model: HoldingModel, entries: Sequence[Entry]) -> Entry | None:
    """Return the first call to complete at which counting shows that it is wrong, or None.

    O(n log n), and O(elements) for each call that finds nothing.
    """
    events: list[tuple[float, bool, Entry]] = []
    for one in entries:
        events.append((begin_of(one), False, one))
        if one.is_required:
            events.append((end_of(one), True, one))
    inside = _Inside()
    for _, is_over, entry in sorted(events, key=lambda event: event[0]):
        item, by = model.change(entry.call)
        if not is_over:
            inside.begin(entry, item, by)
        elif inside.is_wrong(entry, item, by):
            return entry
    return None


@dataclass(slots=True)
class _Inside:
    """Bounds of the number of elements inside, over time.

    Attributes:
        left: of each item the puts that were over, less the takes that had begun; no zeros.
        taken: the items of the takes that had begun, in time.
        lost: how many takes had begun of which nobody knows the item.
        more: of each item the puts that had begun, less the takes that were over.
        found_none: of calls that are open and find nothing: what was left, and how many were taken,
            when they began.
    """

    left: Counter[Hashable] = field(default_factory=Counter)
    taken: list[Hashable] = field(default_factory=list)
    lost: int = 0
    more: Counter[Hashable] = field(default_factory=Counter)
    found_none: dict[int, tuple[Counter[Hashable], int]] = field(default_factory=dict)

    def begin(self, entry: Entry, item: Hashable, by: int) -> None:
        """Takes note of a call that begins."""
        if by > 0:
            self.more[item] += 1
        elif by == 0:
            self.found_none[entry.operation.index] = (+self.left, len(self.taken))
        elif item is None:
            self.lost += 1
        else:
            self.taken.append(item)
            self._add(item, -1)

    def is_wrong(self, entry: Entry, item: Hashable, by: int) -> bool:
        """Takes note of a call that is over, and says whether it can't be."""
        if by > 0:
            self._add(item, 1)
            return False
        if by < 0:
            self.more[item] -= 1
            return self.more[item] < 0
        left, place = self.found_none.pop(entry.operation.index)
        left.subtract(item for item in self.taken[place:] if item in left)
        return (+left).total() > self.lost

    def _add(self, item: Hashable, by: int) -> None:
        self.left[item] += by
        if self.left[item] == 0:
            del self.left[item]
