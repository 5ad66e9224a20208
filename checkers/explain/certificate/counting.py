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
from math import inf
from typing import Final

from kraftproof.checkers.explain.subhistory import ElementCount, SubHistory
from kraftproof.checkers.judge.entries import Entry, begin_of, end_of
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
    over.sort(key=end_of, reverse=True)
    return too_often or _left_inside(model, entries, [last]) or _left_inside(model, entries, over)


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
    """Count the elements that had to be out before some completed calls, latest call first."""
    end = over[0].operation.complete_index or 0
    changes = [(one, *model.change(one.call)) for one in entries]
    taken = [(one, item) for one, item, by in changes if by < 0 and begin_of(one) < end]
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
        left=_left(model, entries, *max(shown, key=lambda one: end_of(one[1]))),
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
            spans[item] = (min(first, begin_of(one)), max(last, end_of(one)))
    kinds = []
    for one in over[: 1 + _MOST_PAIRS // (1 + len(puts))]:
        item, by = model.change(one.call)
        kinds.append((one, begin_of(one), by == 0, item, spans.get(item, (0, 0))))
    found = []
    for put in puts:
        other, window = model.change(put.call).item, (begin_of(put), end_of(put))
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
    return tuple(sorted([put, shown_by, *([own] if own else [])], key=begin_of))
