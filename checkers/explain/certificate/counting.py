"""Proves by counting that a taken element was absent, or that a container was not empty.

What holds items and is empty at first can't give out more of an item than were put in:

- By the completion of a take of x, all takes of x that were over had their puts, each its own, and
  these had begun. So at least as many puts of x had begun.
- A call that finds the container empty follows all puts that had completed before its invocation,
  and as many takes must have begun before the call completes. This holds for each item alone; a
  take whose answer is unknown may account for any item.
- The same holds for a take of x and all puts of elements that must leave before x: for a stack,
  elements put after all puts of x had completed; for a queue, elements whose puts completed before
  any put of x began. Elements that had to be out before any of the calls completed by some time are
  counted together.

The reduced history therefore keeps the last take and no put, or one put of an element that must be
out and the call that proves its presence; every other take is matched with a put.
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
    """Return a count that proves the last call to return wrong; None if no count does.

    Args:
        model: the model.
        sub: a sub-history from the beginning of the history; the last call is the last required
            call to complete.
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
    """Return the first call to complete that counting proves wrong.

    None if counting proves nothing.

    O(n log n), plus O(elements) for each call that finds the container empty.
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
    """Return what is left of the history if each take stands against a put."""
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
    """Count the elements that had to be out before some completed calls, latest call first."""
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
    """Return the puts whose elements had to be out before a call, each with the first such call.

    With very many puts and calls, only some are compared; the count then proves less, but stays
    correct.
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
    """Return a put, the call that required its element out, and the put that this call took."""
    item, by = model.change(shown_by.call)
    own = next((one for one in entries if by < 0 and model.change(one.call) == (item, 1)), None)
    return tuple(sorted([put, shown_by, *([own] if own else [])], key=_begin))


@dataclass(slots=True)
class _Inside:
    """The known contents over time.

    Attributes:
        left: of each item the puts that were over, less the takes that had begun; no zeros.
        taken: the items of the takes that had begun, in time.
        lost: the number of begun takes of an unknown item.
        more: for each item, begun puts minus completed takes.
        found_none: for each open call that finds the container empty: the values of `left` and the
            number of takes when the call began.
    """

    left: Counter[Hashable] = field(default_factory=Counter)
    taken: list[Hashable] = field(default_factory=list)
    lost: int = 0
    more: Counter[Hashable] = field(default_factory=Counter)
    found_none: dict[int, tuple[Counter[Hashable], int]] = field(default_factory=dict)

    def begin(self, entry: Entry, item: Hashable, by: int) -> None:
        """Record the invocation of a call."""
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
        """Record the completion of a call, and return whether the completion is impossible."""
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
