"""Shows by counting that what was taken out can't have been inside, or that something was left.

What holds items and is empty at first can't give out more of an item than were put in:

- By the completion of a take of x, all takes of x that were over had their puts, each its own, and
  these had begun. So the puts of x that had begun are no fewer.
- A call that finds nothing comes after all puts that were over before it, and before it is over as
  many takes have begun. That holds for each item alone, and takes of which nobody knows what they
  took may make up for any.

Nothing else counts, neither the order in which items come out nor when, so what is left of the
history is the last take and no put, or one put and the call that found nothing: of the others each
take stands against a put.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field

from checkers.explain.subhistory import Balance, Entry, SubHistory
from checkers.models.reducible import HoldingModel


def unbalanced(model: HoldingModel, sub: SubHistory) -> Balance | None:
    """Returns what shows that the last call to return is wrong; None if counting does not. O(n).

    Args:
        model: the model.
        sub: what begins with the history; all that is required is over with the last.
    """
    if sub.starts != (model.init(),) or not any(entry.is_required for entry in sub.entries):
        return None
    last = sub.last_to_return()
    item, by = model.change(last.call)
    if by < 0:
        return _taken_too_often(model, sub.entries, last, item)
    return _left_inside(model, sub.entries, last) if by == 0 else None


def first_unbalanced(model: HoldingModel, sub: SubHistory) -> Entry | None:
    """Returns the first call to complete at which counting shows that it is wrong, or None.

    O(n log n), and O(elements) for each call that finds nothing.
    """
    events: list[tuple[int, bool, Entry]] = []
    for one in sub.entries:
        events.append((_begin(one), False, one))
        if one.is_required:
            events.append((_end(one), True, one))
    inside = _Inside()
    for _, is_over, entry in sorted(events, key=lambda event: event[0]):
        item, by = model.change(entry.call)
        if not is_over:
            inside.begin(entry, item, by)
        elif inside.is_wrong(entry, item, by):
            return entry
    return None


def left_over(model: HoldingModel, balance: Balance) -> SubHistory:
    """Returns what is left of the history if each take stands against a put."""
    is_taken = model.change(balance.last.call).by < 0
    entries = (balance.last,) if is_taken else (balance.over[-1], balance.last)
    return SubHistory(entries=entries, starts=(model.init(),), balance=balance)


def _taken_too_often(
    model: HoldingModel, entries: Sequence[Entry], last: Entry, item: Hashable
) -> Balance | None:
    changes = [(one, model.change(one.call)) for one in entries]
    taken = tuple(one for one, change in changes if one.is_required and change == (item, -1))
    put = tuple(one for one, change in changes if change == (item, 1))
    if len(taken) <= len(put):
        return None
    end = _end(last)
    return Balance(items=(item,), last=last, over=taken, over_by=end, begun=put, begun_by=end)


def _left_inside(model: HoldingModel, entries: Sequence[Entry], last: Entry) -> Balance | None:
    begin, end = last.operation.invoke_index, _end(last)
    changes = [(one, *model.change(one.call)) for one in entries]
    put = [
        (one, item) for one, item, by in changes if by > 0 and one.is_required and _end(one) < begin
    ]
    taken = [(one, item) for one, item, by in changes if by < 0 and _begin(one) < end]
    left = Counter(item for _, item in put)
    left.subtract(item for _, item in taken if item is not None)
    lost = sum(item is None for _, item in taken)
    items: list[Hashable] = []
    for item, count in left.most_common():
        if lost < 0 or count <= 0:
            break
        items.append(item)
        lost -= count
    if lost >= 0:
        return None
    return Balance(
        items=tuple(items),
        last=last,
        over=tuple(one for one, item in put if item in items),
        over_by=begin,
        begun=tuple(one for one, item in taken if item is None or item in items),
        begun_by=end,
    )


@dataclass(slots=True)
class _Inside:
    """What is known of how many are inside, while time goes on.

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


def _begin(entry: Entry) -> int:
    return entry.operation.invoke_index


def _end(entry: Entry) -> int:
    assert entry.operation.complete_index is not None, "what is required has completed"
    return entry.operation.complete_index
