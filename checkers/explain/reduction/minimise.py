"""Reduces an invalid history until every constraint that remains is necessary.

Only by what `checkers.explain.reduction.reductions` holds sound, each candidate decided by the
general engine. A window grows back from the end until the window is invalid, so that the cost
follows the size of the answer and not of the history. Then chunks of calls are reduced, each half
as large as before (after Zeller & Hildebrandt, "Simplifying and isolating failure-inducing input",
2002), until no single reduction leaves an invalid sub-history: this is the meaning of *minimal*
here. At the time limit, the smallest sub-history found is the result, and is not called minimal; a
sub-history with an undecided reduction is not called minimal, either. The limits are CPU time and
memory for each decision, so the load of the machine changes nothing.
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
from kraftproof.checkers.models.reducible import AllBut, is_reducible

_MOST_CALLS: Final = 12
"""Above this number of calls, a sub-history is shown by its count, if counting proves the
violation.
"""

_FIRST_SHARE: Final = 0.3
_FEW: Final = 3
"""With at most this number of calls, a sub-history is small enough."""

Reduce = Callable[[SequentialModel, SubHistory, Collection[int]], SubHistory]
Tidy = Callable[[SubHistory], SubHistory]


def minimise(
    model: SequentialModel,
    whole: SubHistory,
    seconds: float,
    relevant_values: Iterable[Sequence[Hashable]] = (),
) -> Minimised:
    """Return a minimal sub-history.

    Args:
        model: the model.
        whole: the operations completed up to the first illegal completion.
        seconds: the limit of processor time.
        relevant_values: sets of values, each of which may suffice for a proof.
    """
    soon = Budget(seconds * _FIRST_SHARE)
    recorded = {entry.operation.index: entry.call for entry in whole.entries}
    deciding = Deciding(model=model, recorded=recorded, budget=Budget(seconds))
    return _Minimiser(model=model, deciding=deciding, soon=soon).run(whole, relevant_values)


@dataclass(slots=True, kw_only=True)
class _Minimiser:
    """Reduces one history.

    Attributes: deciding: decides the candidates within the total time limit.
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
        """Return the smallest minimal sub-history, preferably small enough for brute force."""
        found.sort(key=lambda one: (not one.is_minimal, len(one.sub)))
        minimal = [one for one in found if one.is_minimal] if len(found) > 1 else []
        tried = (one for one in minimal if is_linearizable(self.model, one.sub) is False)
        return next(tried, found[0] if found else None)

    def _shown(
        self, kept: SubHistory, relevant_values: Sequence[Sequence[Hashable]]
    ) -> Iterator[SubHistory | None]:
        """Yield what shows it: by adding up or counting, by two calls at most, and by windows.

        The order is from the quickest method to windows that may be hopeless to decide.
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
        """Return a minimal sub-history that is invalid with the omitted operations, too."""
        long = counted(self.model, found) if len(found) > _MOST_CALLS else None
        found = self.deciding.if_invalid(long) or found
        alone = Reducing(model=self.model, deciding=self.deciding).until_minimal(found)
        return alone if alone.sub.is_counted else self._with_beside(alone, found, kept)

    def _with_beside(self, alone: Minimised, found: SubHistory, kept: SubHistory) -> Minimised:
        """Return the sub-history with those omitted operations that make it linearizable.

        Unmatched takes were omitted. If a take needs its element again because the matching call
        became optional, the fewest necessary takes are added back, with the calls that leave
        nothing for these takes. If a weakened call made the sub-history linearizable in its
        context, the reduction runs again with all omitted operations.
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
        """Yield it with a few values alone, in each case."""
        if is_reducible(self.model):
            for some in sets:
                yield projected(self.model, whole, AllBut(some))

    def _nearest_first(self, whole: SubHistory) -> list[Hashable]:
        """Return all values, nearest to the last call first; no values if the time is over."""
        if not is_reducible(self.model) or not self.deciding.has_time():
            return []
        return by_closeness(self.model, whole)

    def _near(self, whole: SubHistory, values: list[Hashable]) -> SubHistory | None:
        """Return the latest window of as few of the nearest values as possible; None if unknown.

        If the time for windows is over, return the smallest sub-history found invalid.
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
    """Return whether a call was weakened."""
    before = {one.operation.index: one.call for one in found.entries}
    return any(one.call != before.get(one.operation.index, one.call) for one in sub.entries)
