"""Proves by addition that a call returned an impossible value of a sum that never decreases.

Let one call return a, or let a be the initial sum, and let another call return b.

- If the second came later, nothing came between but calls that were invoked before it was over and
  not over before the first was invoked. So b is at most a plus the amounts of these calls; and if
  the second came first, b is at most a.
- If the second was invoked after the first completed, every call that began after the first
  completed and completed before the second began came between the two. So b is at least a plus the
  amounts of these calls.

The reduced history keeps two bounds and the additions: the first call returned at most a and the
second at least b, or the first at least a and the second at most b; the rest of the states and
calls is ignored. The sub-history may begin in any state: the sum never decreases, so two states are
enough, the lowest state in which the first call can return a, and one for all higher sums, if
higher sums exist. Of calls that surely came between the greatest are left, as few as are enough. If
the calls are many, one call with their total amount replaces the calls: no remaining call observes
an intermediate sum.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

import msgspec

from kraftproof.checkers.explain.subhistory import SubHistory, SumBound
from kraftproof.checkers.judge.entries import Entry
from kraftproof.checkers.models.reducible import SummingModel, Tally

_MOST_LISTED: Final = 8
"""Above this number of additions, the explanation shows one total."""
_NEVER: Final = 1 << 62


def contradicting_sum_bound(model: SummingModel, sub: SubHistory) -> SumBound | None:
    """Return a bound that the last call to return violates, with few additions.

    None if no bound is violated.

    Time O(n log n), and O(n) for each call that is open with the last.
    """
    falls = any(model.tally(entry.call).amount < 0 for entry in sub.entries)
    if falls or not any(entry.is_required for entry in sub.entries):
        return None
    last = sub.last_to_return()
    if model.tally(last.call).observed is None:
        return None
    tellers = [entry for entry in sub.entries if entry.is_required and entry is not last]
    tellers = [entry for entry in tellers if model.tally(entry.call).observed is not None]
    found = _SumBoundSearch(model=model, sub=sub)
    firsts = [*([] if sub.since is not None else [None]), *tellers]
    open_with_last = (entry for entry in tellers if _end(entry) > _begin(last))
    totals = [
        found.too_low(firsts, last),
        found.too_high(firsts, last),
        *(found.too_high([last], other) for other in open_with_last),
    ]
    return min(filter(None, totals), key=lambda one: len(one.adds), default=None)


def left_of(model: SummingModel, total: SumBound) -> SubHistory:
    """Return the reduced history: the two calls that returned a sum, and the additions."""
    entries = [_bounded(model, total.last, is_least=total.is_most), *_adds_left(model, total)]
    sums: tuple[int, ...] = (total.start,)
    if total.first is not None:
        entries.append(_bounded(model, total.first, is_least=not total.is_most))
        own = model.tally(total.first.call).amount
        enough = total.returned - model.tally(total.last.call).amount
        sums = (total.start - own, enough if total.is_most else enough - total.amount - own)
    entries.sort(key=_begin)
    since = None if total.first is None else min(_begin(total.first), _begin(total.last))
    states = (model.summing_to(start) for start in sums)
    starts = tuple(state for state in states if state is not None)
    return SubHistory(entries=tuple(entries), starts=starts, since=since, total=total)


def _bounded(model: SummingModel, entry: Entry, *, is_least: bool) -> Entry:
    amount, returned = model.tally(entry.call).amount, model.tally(entry.call).observed
    bounded = Tally(amount, least=returned) if is_least else Tally(amount, most=returned)
    return Entry(entry.operation, bounded)


def _adds_left(model: SummingModel, total: SumBound) -> list[Entry]:
    """Return the calls in between as pure additions, merged into one if the calls are many."""
    adds = [Entry(one.operation, Tally(model.tally(one.call).amount)) for one in total.adds]
    if len(adds) > _MOST_LISTED:
        operation, ends = adds[-1].operation, [one.operation.complete_index or 0 for one in adds]
        joined = msgspec.structs.replace(
            operation, invoke_index=_begin(adds[0]), complete_index=max(ends)
        )
        adds = [Entry(joined, Tally(total.amount))]
    status = "info" if total.is_most else "ok"
    return [Entry(msgspec.structs.replace(one.operation, status=status), one.call) for one in adds]


@dataclass(frozen=True, slots=True, kw_only=True)
class _SumBoundSearch:
    """Adds up the calls of a sub-history."""

    model: SummingModel
    sub: SubHistory

    def too_high(self, firsts: Sequence[Entry | None], last: Entry) -> SumBound | None:
        """Return the latest bound that proves the sum returned by a call too high."""
        may_be = [one for one in self._adds(last) if _begin(one) < _end(last)]
        may_be.sort(key=_end)
        ends, sums = [_end(one) for one in may_be], self._sums(may_be)
        found: tuple[int, Entry | None] | None = None
        for first in firsts:
            place = 0 if first is None else bisect_right(ends, _begin(first))
            own = 0 if first is None or _begin(first) > _end(last) else self._amount(first)
            most = self._start(first) + sums[place] - own + self._amount(last)
            if most < self._returned(last) and (found is None or place > found[0]):
                found = place, first
        if found is None:
            return None
        adds = [one for one in may_be[found[0] :] if one is not found[1]]
        return self._total(found[1], last, adds, is_most=True)

    def too_low(self, firsts: Sequence[Entry | None], last: Entry) -> SumBound | None:
        """Return the bound with the greatest first sum that proves a returned sum too low."""
        sure = [one for one in self._adds(last) if one.is_required and _end(one) < _begin(last)]
        sure.sort(key=_begin)
        begins, sums = [_begin(one) for one in sure], self._sums(sure)
        found: tuple[int, int, Entry | None] | None = None
        for first in firsts:
            if first is not None and _end(first) > _begin(last):
                continue
            place = 0 if first is None else bisect_right(begins, _end(first))
            excess = self._start(first) + self._amount(last) - self._returned(last)
            if excess + sums[place] > 0 and (found is None or excess > found[0]):
                found = excess, place, first
        if found is None:
            return None
        excess, place, first = found
        return self._total(first, last, self._enough(sure[place:], excess), is_most=False)

    def _enough(self, adds: Sequence[Entry], excess: int) -> list[Entry]:
        """Return the greatest adds, as few as make an excess of what may be less than none."""
        found: list[Entry] = []
        for add in sorted(adds, key=self._amount, reverse=True):
            if excess > 0:
                break
            found.append(add)
            excess += self._amount(add)
        return found

    def _total(
        self, first: Entry | None, last: Entry, adds: Sequence[Entry], *, is_most: bool
    ) -> SumBound:
        return SumBound(
            first=first,
            start=self._start(first),
            last=last,
            returned=self._returned(last),
            adds=tuple(sorted(adds, key=_begin)),
            amount=sum(map(self._amount, adds)),
            is_most=is_most,
        )

    def _adds(self, last: Entry) -> list[Entry]:
        return [one for one in self.sub.entries if one is not last and self._amount(one)]

    def _sums(self, adds: Sequence[Entry]) -> list[int]:
        """Return the sum of all from each place on, and 0."""
        return [*accumulate(map(self._amount, reversed(adds)), initial=0)][::-1]

    def _amount(self, entry: Entry) -> int:
        return self.model.tally(entry.call).amount

    def _returned(self, entry: Entry) -> int:
        returned = self.model.tally(entry.call).observed
        assert returned is not None, "only calls that tell a sum are asked"
        return returned

    def _start(self, first: Entry | None) -> int:
        if first is not None:
            return self._returned(first)
        (start,) = self.sub.starts
        return self.model.sum_of(start)


def _begin(entry: Entry) -> int:
    return entry.operation.invoke_index


def _end(entry: Entry) -> int:
    end = entry.operation.complete_index if entry.is_required else None
    return _NEVER if end is None else end
