"""Looks at a small sub-history once more, by trying every order: the definition and no more.

The search shares no code with the engines and uses only the model's `step`, not its pure calls or
normal forms. The search remembers visited states. Of equal optional calls, the first invoked is
placed first, because equal calls can be exchanged in any order; no other pruning is used. So a
mistake of an engine, of a reduction's bookkeeping or of a model's hint does not go unseen here.
"""

import math
from collections.abc import Hashable
from typing import Final

from kraftproof.checkers.explain.subhistory import (
    AlternationCount,
    ElementCount,
    SubHistory,
    SumBound,
)
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.judge.entries import Entry
from kraftproof.checkers.models import SequentialModel
from kraftproof.checkers.models.reducible import HoldingModel, SummingModel

_MOST_LOOKED_AT: Final = 4_000_000
"""Maximum number of calls tried, over all states: a few seconds."""


def is_linearizable(model: SequentialModel, sub: SubHistory) -> bool | None:
    """Return whether a legal order exists; None if the sub-history has too many orders.

    A legal order contains every required call and any optional calls, and respects real time.
    """
    required = sum(1 << n for n, entry in enumerate(sub.entries) if entry.is_required)
    before = _equal_before(sub)
    seen = {(0, state) for state in sub.starts}
    waiting = list(seen)
    looked_at = 0
    while waiting:
        placed, state = waiting.pop()
        if placed & required == required:
            return True
        numbers = _next(sub, placed)
        looked_at += len(numbers)
        for number in numbers:
            if before[number] & ~placed:
                continue
            following = model.step(state, sub.entries[number].call)
            place = (placed | 1 << number, following)
            if following is not None and place not in seen:
                seen.add(place)
                waiting.append(place)
        if looked_at > _MOST_LOOKED_AT:
            return None
    return False


def is_alternation_count_right(surplus: AlternationCount, whole: SubHistory) -> bool:
    """Count again, over all recorded calls, the surplus in some windows."""
    inside = touching = 0
    kind = surplus.inside[0][0].call
    for entry in whole.entries:
        begin = entry.operation.invoke_index
        end = _end(entry) if entry.is_required else math.inf
        if entry.call == kind:
            inside += any(first <= begin and end <= last for first, last in surplus.windows)
        else:
            touching += any(begin < last and first < end for first, last in surplus.windows)
    return inside - touching > sum(surplus.granted)


def is_sum_bound_right(model: SummingModel, total: SumBound, whole: SubHistory) -> bool:
    """Add up again, over all recorded calls, a violated bound of a sum."""
    tallies = [(entry, model.tally(entry.call)) for entry in whole.entries]
    if any(tally.amount < 0 for _, tally in tallies):
        return False
    returned = {
        entry.operation.index: tally.observed for entry, tally in tallies if entry.is_required
    }
    first = None if total.first is None else total.first.operation
    start = model.sum_of(model.init()) if first is None else returned[first.index]
    last = total.last.operation
    found = returned[last.index]
    assert start is not None
    assert found is not None
    sums = 0
    for entry, (amount, *_) in tallies:
        begin = entry.operation.invoke_index
        end = _end(entry) if entry.is_required else math.inf
        if entry.operation == last:
            sums += amount
        elif total.is_most:
            is_later = first is None or (entry.operation != first and end > first.invoke_index)
            sums += amount if is_later and begin < _end_of(last) else 0
        elif entry in total.adds:
            is_later = first is None or begin > _end_of(first)
            sums += amount if is_later and end < last.invoke_index else 0
    return found > start + sums if total.is_most else found < start + sums


def is_element_count_right(model: HoldingModel, balance: ElementCount, whole: SubHistory) -> bool:
    """Count again, over all recorded calls, an excess of takes or a remaining element."""
    over = begun = 0
    changes = [_Changed(entry, *model.change(entry.call)) for entry in whole.entries]
    begins, ends = dict[Hashable, int](), dict[Hashable, float]()
    for put in changes:
        if put.by > 0:
            begins[put.item] = min(put.begin, begins.get(put.item, put.begin))
            ends[put.item] = max(put.end, ends.get(put.item, 0))
    showing = [one for one in changes if one.by <= 0 and one.end <= balance.by]
    for one in changes:
        is_begun, is_over = one.begin < balance.by, one.end <= balance.by
        if balance.is_taken and one.item in balance.items:
            over += one.by < 0 and is_over
            begun += one.by > 0 and is_begun
        elif not balance.is_taken and (one.item is None or one.item in balance.items):
            begun += one.by < 0 and is_begun
            over += (
                one.by > 0
                and is_over
                and any(
                    one.end < other.begin
                    and (
                        other.by == 0
                        or model.leaves_before(
                            one.item,
                            (one.begin, one.end),
                            other.item,
                            (begins.get(other.item, 0), ends.get(other.item, 0)),
                        )
                    )
                    for other in showing
                )
            )
    return over > begun


class _Changed:
    """A call with its change of the contents and its interval.

    The end is infinite for an optional call.
    """

    def __init__(self, entry: Entry, item: Hashable, by: int) -> None:
        self.item, self.by = item, by
        self.begin = entry.operation.invoke_index
        self.end = _end(entry) if entry.is_required else math.inf


def _next(sub: SubHistory, placed: int) -> list[int]:
    """Return the calls that no unplaced call precedes in real time."""
    found: list[int] = []
    soonest: int | None = None
    for number in range(_first_left(placed), len(sub)):
        operation = sub.entries[number].operation
        if soonest is not None and operation.invoke_index > soonest:
            break  # so were all that were invoked later, and they were over later, too
        if placed >> number & 1:
            continue
        found.append(number)
        if sub.entries[number].is_required:
            end = _end(sub.entries[number])
            soonest = end if soonest is None else min(soonest, end)
    return [n for n in found if soonest is None or sub.entries[n].operation.invoke_index < soonest]


def _equal_before(sub: SubHistory) -> list[int]:
    """Return, for each optional call, a mask of the last equal call invoked before; 0 if none."""
    last: dict[Hashable, int] = {}
    found = [0] * len(sub)
    for number, entry in enumerate(sub.entries):
        if not entry.is_required:
            found[number] = last.get(entry.call, 0)
            last[entry.call] = 1 << number
    return found


def _first_left(placed: int) -> int:
    """The first of the calls, by invocation, that is not placed yet."""
    return (placed ^ (placed + 1)).bit_length() - 1


def _end(entry: Entry) -> int:
    return _end_of(entry.operation)


def _end_of(operation: Operation) -> int:
    assert operation.complete_index is not None, "what is required has completed"
    return operation.complete_index
