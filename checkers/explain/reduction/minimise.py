"""Reduces an invalid history until every constraint that remains is necessary.

Only by what `checkers.explain.reduction.reductions` holds sound, each candidate decided by the
general engine. A window grows back from the end until it is invalid, so that the cost follows the
answer's size and not the history's; then chunks of calls are reduced, each half as large as before
(after Zeller & Hildebrandt, "Simplifying and isolating failure-inducing input", 2002), until no
single reduction is left that keeps it invalid: that is what *minimal* means here. Past the time
limit the smallest that was found so far stands, and is not called minimal; nor is it if a reduction
of it was not decided. Time is the processor's, and one decision is bounded by what it remembers:
how busy the machine is changes nothing.
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, takewhile
from typing import Final

from kraftproof.checkers.explain.reduction.deciding import SHORT, Deciding
from kraftproof.checkers.explain.reduction.minimal import Minimised, Reducing
from kraftproof.checkers.explain.reduction.readd_context import readd_context
from kraftproof.checkers.explain.reduction.reductions import (
    added_up,
    balanced,
    counted,
    helpful,
    is_reducible,
    projected,
    tidied,
)
from kraftproof.checkers.explain.reduction.two_operation_core import (
    nearest,
    smallest_core,
    two_operation_core,
)
from kraftproof.checkers.explain.reduction.unmatched_takes import unmatched_takes_beside
from kraftproof.checkers.explain.reduction.values import by_closeness, fewest
from kraftproof.checkers.explain.reduction.windows import put_off, smallest_window
from kraftproof.checkers.explain.subhistory import SubHistory
from kraftproof.checkers.explain.verify.brute_force import is_linearizable
from kraftproof.checkers.explain.verify.budget import Budget
from kraftproof.checkers.models import SequentialModel
from kraftproof.checkers.models.reducible import AllBut

_MOST_CALLS: Final = 12
"""A longer sub-history is told by counting its calls, if that shows it."""

_FIRST_SHARE: Final = 0.3
_FEW: Final = 3
"""Where so few show it, no fewer are looked for."""

Reduce = Callable[[SequentialModel, SubHistory, Collection[int]], SubHistory]
Tidy = Callable[[SubHistory], SubHistory]


def minimise(
    model: SequentialModel,
    whole: SubHistory,
    seconds: float,
    relevant_values: Iterable[Sequence[Hashable]] = (),
) -> Minimised:
    """Returns a minimal sub-history.

    Args:
        model: the model.
        whole: what was completed up to the first completion that no legal order reaches.
        seconds: the limit of processor time.
        relevant_values: sets of values, each of which may be enough to show it.
    """
    soon = Budget(seconds * _FIRST_SHARE)
    recorded = {entry.operation.index: entry.call for entry in whole.entries}
    deciding = Deciding(model=model, recorded=recorded, budget=Budget(seconds))
    return _Minimiser(model=model, deciding=deciding, soon=soon).run(whole, relevant_values)


@dataclass(slots=True, kw_only=True)
class _Minimiser:
    """Reduces one history.

    Attributes:
        deciding: what decides its candidates, in the time for all.
        soon: the time for what is looked at first.
    """

    model: SequentialModel
    deciding: Deciding
    soon: Budget

    def run(self, whole: SubHistory, relevant_values: Iterable[Sequence[Hashable]]) -> Minimised:
        kept = replace(whole, entries=helpful(self.model, whole.entries))
        found: list[Minimised] = []
        for shown in filter(
            None, self._shown(kept, list(takewhile(self._is_soon, relevant_values)))
        ):
            found.append(self._minimised(shown, kept))
            if len(found[-1].sub) <= _FEW:
                break
        return self._chosen(found) or Minimised(sub=whole, is_invalid=False, is_minimal=False)

    def _chosen(self, found: list[Minimised]) -> Minimised | None:
        """Returns the smallest that is minimal, but rather one of which all orders can be tried."""
        found.sort(key=lambda one: (not one.is_minimal, len(one.sub)))
        minimal = [one for one in found if one.is_minimal] if len(found) > 1 else []
        tried = (one for one in minimal if is_linearizable(self.model, one.sub) is False)
        return next(tried, found[0] if found else None)

    def _shown(
        self, kept: SubHistory, relevant_values: Sequence[Sequence[Hashable]]
    ) -> Iterator[SubHistory | None]:
        """Yields what shows it: by adding up or counting, by two calls at most, and by windows.

        The quickest way first, and windows of which it may be hopeless to decide one at last.
        """
        yield self.deciding.if_invalid(added_up(self.model, kept))
        yield self.deciding.if_invalid(balanced(self.model, kept, _MOST_CALLS))
        few = [{*chain.from_iterable(relevant_values)}] if relevant_values else []
        about = next(self._with_few_values(kept, few), kept)
        if len(kept) > SHORT:
            shown = smallest_core(self.model, about, relevant_values, self.soon)
            yield shown or two_operation_core(self.model, kept, self.soon)
        hopeless: list[SubHistory] = []
        candidates = self._with_few_values(about, relevant_values)
        shown = self._first_window(put_off(candidates, hopeless))
        yield shown
        if shown is None or len(shown) > _MOST_CALLS:
            values = self._nearest_first(kept)
            if self.soon.has_time():
                yield smallest_core(self.model, kept, nearest(values), self.soon)
            if self.soon.has_time() and len(kept) <= SHORT:
                yield two_operation_core(self.model, kept, self.soon)
            rest = self._first_window(chain(candidates, hopeless))
            yield rest
            if rest is None or len(rest) > _MOST_CALLS:
                yield self._near(kept, values)

    def _minimised(self, found: SubHistory, kept: SubHistory) -> Minimised:
        """Returns what is minimal of it, so that nothing which was left out makes it possible."""
        long = counted(self.model, found) if len(found) > _MOST_CALLS else None
        found = self.deciding.if_invalid(long) or found
        alone = Reducing(model=self.model, deciding=self.deciding).until_minimal(found)
        return alone if alone.sub.is_counted else self._with_beside(alone, found, kept)

    def _with_beside(self, alone: Minimised, found: SubHistory, kept: SubHistory) -> Minimised:
        """Returns it with what was left out and may help it, if that makes it possible.

        Lost takes that there was nothing for were left out. Where that is no longer so, since what
        took it need not have happened, as few of them as are enough are left in, and all that has
        to happen for these to have nothing is left as well. Where it is no longer so since a call
        was weakened, it is reduced once more, with all else.
        """
        reducing = Reducing(model=self.model, deciding=self.deciding, has_beside=True)
        chosen = alone
        unmatched = unmatched_takes_beside(self.model, found, kept) if len(found) <= SHORT else ()
        for count in range(1, 1 + len(unmatched)):
            if self.deciding.is_invalid(chosen.sub.beside(unmatched)):
                break
            chosen = reducing.until_minimal(found.beside(unmatched[:count]))
        if _is_weakened(chosen.sub, found) and not self._is_invalid_with_all_else(chosen.sub, kept):
            more = filter(self.deciding.is_invalid, readd_context(self.model, kept, found))
            chosen = reducing.until_minimal(next(more, found))
        if chosen is alone:
            return alone
        return replace(chosen, sub=reducing.without_beside(chosen.sub))

    def _is_invalid_with_all_else(self, sub: SubHistory, kept: SubHistory) -> bool:
        ways = (tidied(self.model, way) for way in readd_context(self.model, kept, sub))
        return any(map(self.deciding.is_invalid, ways))

    def _is_soon(self, _: Sequence[Hashable]) -> bool:
        return self.soon.has_time()

    def _with_few_values(
        self, whole: SubHistory, sets: Iterable[Collection[Hashable]]
    ) -> Iterator[SubHistory]:
        """Yields it with a few values alone, in each case."""
        if is_reducible(self.model):
            for some in sets:
                yield projected(self.model, whole, AllBut(some))

    def _nearest_first(self, whole: SubHistory) -> list[Hashable]:
        """Returns all values, those near the last call first; none if there is no time for it."""
        if not is_reducible(self.model) or not self.deciding.has_time():
            return []
        return by_closeness(self.model, whole)

    def _near(self, whole: SubHistory, values: list[Hashable]) -> SubHistory | None:
        """Returns the latest window of as few of the nearest values as possible; None if unknown.

        If there is no time for windows, it is what was found to be invalid last.
        """
        model = self.model
        if not is_reducible(model) or len(values) < 2:
            return self._smallest_window(whole)
        known: SubHistory | None = None

        def is_enough(kept: list[Hashable]) -> bool:
            nonlocal known
            candidate = projected(model, whole if known is None else known, AllBut(kept))
            is_invalid = self.deciding.is_invalid(candidate)
            known = candidate if is_invalid else known
            return is_invalid

        size = 2
        while size < len(values) and self.deciding.has_time():
            if is_enough(values[:size]):
                values = values[:size]
                break
            size *= 2
        fewest(values, is_enough, self.deciding.has_time)
        return self._smallest_window(whole if known is None else known) or known

    def _first_window(self, candidates: Iterable[SubHistory]) -> SubHistory | None:
        return next(filter(None, map(self._smallest_window, candidates)), None)

    def _smallest_window(self, whole: SubHistory) -> SubHistory | None:
        return smallest_window(self.model, whole, self.deciding.is_invalid)


def _is_weakened(sub: SubHistory, found: SubHistory) -> bool:
    """Says whether a call is not what it was."""
    before = {one.operation.index: one.call for one in found.entries}
    return any(one.call != before.get(one.operation.index, one.call) for one in sub.entries)
