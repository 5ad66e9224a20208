"""Shows by counting that what was taken out can't have been inside, or that something was left.

What holds items and is empty at first can't give out more of an item than were put in:

- By the completion of a take of x, all takes of x that were over had their puts, each its own, and
  these had begun. So the puts of x that had begun are no fewer.
- A call that finds nothing comes after all puts that were over before it, and before it is over as
  many takes have begun. That holds for each item alone, and takes of which nobody knows what they
  took may make up for any.
- So does a take of x for all puts of what has to be out before: of a stack what was put when all
  puts of x were over, of a queue what was over before any of them began. What had to be out before
  any of the calls that were over by some time is counted together.

Nothing else counts, so what is left of the history is the last take and no put, or one put of what
has to be out and the call that shows it is not: of the others each take stands against a put.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from math import inf
from typing import Final

from kraftproof.checkers.explain.subhistory import ElementCount, Entry, SubHistory
from kraftproof.checkers.models.reducible import HoldingModel, Span

_MOST_PAIRS: Final = 4_000_000
"""A second or two of comparing a put with a call."""


def unbalanced(model: HoldingModel, sub: SubHistory) -> ElementCount | None:
    """Returns what shows that the last call to return is wrong; None if counting does not.

    Args:
        model: the model.
        sub: what begins with the history; all that is required is over with the last.
    """
    if sub.starts != (model.init(),) or not any(entry.is_required for entry in sub.entries):
        return None
    last = sub.last_to_return()
    item, by = model.change(last.call)
    if by > 0:
        return None
    entries = sub.entries
    too_often = _taken_too_often(model, entries, last, item) if by < 0 else None
    over = [one for one in entries if one.is_required and model.change(one.call).by <= 0]
    over.sort(key=_end, reverse=True)
    return too_often or _left_inside(model, entries, [last]) or _left_inside(model, entries, over)


def first_unbalanced(model: HoldingModel, sub: SubHistory) -> Entry | None:
    """Returns the first call to complete at which counting shows that it is wrong, or None.

    O(n log n), and O(elements) for each call that finds nothing.
    """
    events: list[tuple[float, bool, Entry]] = []
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


def left_over(model: HoldingModel, balance: ElementCount) -> SubHistory:
    """Returns what is left of the history if each take stands against a put."""
    return SubHistory(entries=balance.left, starts=(model.init(),), balance=balance)


def _taken_too_often(
    model: HoldingModel, entries: Sequence[Entry], last: Entry, item: Hashable
) -> ElementCount | None:
    changes = [(one, model.change(one.call)) for one in entries]
    taken = tuple(one for one, change in changes if one.is_required and change == (item, -1))
    put = tuple(one for one, change in changes if change == (item, 1))
    if len(taken) <= len(put):
        return None
    end = last.operation.complete_index or 0
    return ElementCount(
        items=(item,), about=(item,), is_taken=True, over=taken, begun=put, by=end, left=(last,)
    )


def _left_inside(
    model: HoldingModel, entries: Sequence[Entry], over: Sequence[Entry]
) -> ElementCount | None:
    """Counts what had to be out before any of some calls that were over, the last of them first."""
    end = over[0].operation.complete_index or 0
    changes = [(one, *model.change(one.call)) for one in entries]
    taken = [(one, item) for one, item, by in changes if by < 0 and _begin(one) < end]
    left = Counter(item for one, item, by in changes if by > 0 and one.is_required)
    left.subtract(item for _, item in taken if item is not None)
    puts = [one for one, item, by in changes if by > 0 and one.is_required and left[item] > 0]
    shown = _shown_by(model, entries, over, puts)
    left = Counter(model.change(one.call).item for one, _ in shown)
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
    shown = [(put, by) for put, by in shown if model.change(put.call).item in items]
    witnesses = {model.change(one.call).item for _, one in shown} - {None}
    return ElementCount(
        items=tuple(items),
        about=tuple({*items, *witnesses}),
        is_taken=False,
        over=tuple(put for put, _ in shown),
        begun=tuple(one for one, item in taken if item is None or item in items),
        by=end,
        left=_left(model, entries, *max(shown, key=lambda one: _end(one[1]))),
    )


def _shown_by(
    model: HoldingModel, entries: Sequence[Entry], over: Sequence[Entry], puts: Sequence[Entry]
) -> list[tuple[Entry, Entry]]:
    """Returns the puts that had to be out before one of some calls, each with the first such.

    Of very many puts and calls not all are compared: fewer calls show less, and what they show is
    true.
    """
    spans: dict[Hashable, Span] = {}
    for one in entries:
        item, by = model.change(one.call)
        if by > 0:
            first, last = spans.get(item, (inf, 0))
            spans[item] = (min(first, _begin(one)), max(last, _end(one)))
    kinds = []
    for one in over[: 1 + _MOST_PAIRS // (1 + len(puts))]:
        item, by = model.change(one.call)
        kinds.append((one, _begin(one), by == 0, item, spans.get(item, (0, 0))))
    found = []
    for put in puts:
        other, window = model.change(put.call).item, (_begin(put), _end(put))
        for one, begin, finds_none, item, span in kinds:
            if window[1] < begin and (finds_none or model.leaves_before(other, window, item, span)):
                found.append((put, one))
                break
    return found


def _left(
    model: HoldingModel, entries: Sequence[Entry], put: Entry, shown_by: Entry
) -> tuple[Entry, ...]:
    """Returns a put, what shows that it had to be out, and a put of what that took."""
    item, by = model.change(shown_by.call)
    own = next((one for one in entries if by < 0 and model.change(one.call) == (item, 1)), None)
    return tuple(sorted([put, shown_by, *([own] if own else [])], key=_begin))


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


def _end(entry: Entry) -> float:
    end = entry.operation.complete_index
    return inf if end is None or not entry.is_required else end
