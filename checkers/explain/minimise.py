"""Reduces an invalid history until every constraint that remains is necessary.

Only by what `checkers.explain.reductions` holds sound, each candidate decided by the general
engine. A window grows back from the end until it is invalid, so that the cost follows the answer's
size and not the history's; then chunks of calls are reduced, each half as large as before (after
Zeller & Hildebrandt, "Simplifying and isolating failure-inducing input", 2002), until no single
reduction is left that keeps it invalid: that is what *minimal* means here. Past the time limit the
smallest that was found so far stands, and is not called minimal.
"""

import time
from collections.abc import Callable, Collection, Hashable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from checkers.engines.general import search
from checkers.engines.plan import plan_of
from checkers.explain.reductions import (
    dropped,
    optional,
    prefix,
    projected,
    tidied,
    weakened,
    weaker_calls,
    window,
)
from checkers.explain.subhistory import Entry, SubHistory
from checkers.explain.turns import in_turn
from checkers.history import Operation
from checkers.models import SequentialModel
from checkers.models.reducible import ReducibleModel
from checkers.options import Limits
from checkers.verdict import Verdict

_DECISION_SHARE: Final = 0.2
"""The most of the time limit that may be spent on one candidate."""
_DECISION_BYTES: Final = 200_000_000

Reduce = Callable[[SequentialModel, SubHistory, Collection[int]], SubHistory]


@dataclass(frozen=True, slots=True, kw_only=True)
class Minimised:
    """What is left of a history.

    Attributes:
        sub: the sub-history; invalid, unless `is_invalid` is false.
        is_invalid: whether an engine decided so; false if not even the whole could be decided.
        is_minimal: whether no single sound reduction that was tried keeps it invalid.
        tried: how many candidates were decided.
    """

    sub: SubHistory
    is_invalid: bool
    is_minimal: bool
    tried: int


def minimise(
    model: SequentialModel, operations: Sequence[Operation], end: int, seconds: float
) -> Minimised:
    """Returns a minimal sub-history of what was completed up to an event.

    Args:
        model: the model.
        operations: those of one key.
        end: the event of the first completion that no legal order reaches.
        seconds: the time limit.
    """
    return _Minimiser(model=model, seconds=seconds).run(prefix(model, operations, end))


@dataclass(slots=True, kw_only=True)
class _Minimiser:
    model: SequentialModel
    seconds: float
    deadline: float = field(init=False)
    tried: int = 0
    is_cut_short: bool = False

    def run(self, whole: SubHistory) -> Minimised:
        self.deadline = time.monotonic() + self.seconds
        few = self._fewest_values(whole)
        found = self._smallest_window(few)
        if found is None:
            return Minimised(sub=few, is_invalid=False, is_minimal=False, tried=self.tried)
        found = self._until_minimal(found)
        return Minimised(
            sub=found, is_invalid=True, is_minimal=not self.is_cut_short, tried=self.tried
        )

    def _has_time(self) -> bool:
        """Says whether there is time left; if not, that leaves a mark."""
        has_time = time.monotonic() < self.deadline
        self.is_cut_short |= not has_time
        return has_time

    def _is_invalid(self, sub: SubHistory) -> bool:
        """Says whether it is surely invalid; a decision that takes too long leaves a mark."""
        if not self._has_time():
            return False
        self.tried += 1
        left = max(0.0, self.deadline - time.monotonic())
        limits = Limits(
            seconds=min(left, self.seconds * _DECISION_SHARE), memory_bytes=_DECISION_BYTES
        )
        plan = plan_of(self.model, list(sub.entries))
        if len(sub.starts) == 1 and in_turn(self.model, plan, sub.starts[0]) is not None:
            return False
        verdict = search(self.model, plan, limits, sub.starts)
        if verdict.verdict is Verdict.UNKNOWN:
            self.is_cut_short = True
        return verdict.verdict is Verdict.INVALID

    def _fewest_values(self, whole: SubHistory) -> SubHistory:
        """Projects out the values that are not needed, those far from the end first."""
        model = self.model
        if not isinstance(model, ReducibleModel):
            return whole
        values = _values_by_closeness(model, whole)
        if len(values) < 2:
            return whole
        kept = len(values)
        size = 2
        while size < len(values) and self._has_time():
            candidate = projected(model, whole, frozenset(values[size:]))
            if self._is_invalid(candidate):
                kept = size
                break
            size *= 2
        found = projected(model, whole, frozenset(values[kept:]))
        return self._without_values(model, found, values[:kept])

    def _without_values(
        self, model: ReducibleModel, sub: SubHistory, values: list[Hashable]
    ) -> SubHistory:
        size = max(1, len(values) // 2)
        while True:
            place = 0
            while place < len(values) and self._has_time():
                chunk = values[place : place + size]
                candidate = projected(model, sub, frozenset(chunk))
                if len(chunk) < len(values) and self._is_invalid(candidate):
                    sub, values = candidate, values[:place] + values[place + size :]
                else:
                    place += size
            if size == 1:
                return sub
            size = max(1, size // 2)

    def _smallest_window(self, whole: SubHistory) -> SubHistory | None:
        """Returns the latest window that is invalid, or the whole if it alone is."""
        begins = [one.operation.invoke_index for one in whole.entries if one.is_required]
        size, valid = 1, 0
        while size < len(begins):
            candidate = self._window(whole, begins[-size])
            if candidate is not None and self._is_invalid(candidate):
                return self._later_window(whole, begins, valid, size, candidate)
            if candidate is None:
                break
            size, valid = size * 2, size
        tidy = tidied(self.model, whole)
        if not self._is_invalid(tidy):
            return None
        return self._later_window(whole, begins, valid, len(begins) + 1, tidy)

    def _later_window(
        self, whole: SubHistory, begins: Sequence[int], valid: int, size: int, found: SubHistory
    ) -> SubHistory:
        """Bisects: a window that begins earlier holds whatever a later one does."""
        while size - valid > 1:
            middle = (size + valid) // 2
            candidate = self._window(whole, begins[-middle])
            if candidate is not None and self._is_invalid(candidate):
                size, found = middle, candidate
            else:
                valid = middle
        return found

    def _window(self, whole: SubHistory, since: int) -> SubHistory | None:
        candidate = window(self.model, whole, since)
        return None if candidate is None else tidied(self.model, candidate)

    def _until_minimal(self, sub: SubHistory) -> SubHistory:
        """Reduces again and again, until a round changes nothing."""
        while True:
            before = sub
            sub = self._reduced(sub, dropped, self._is_droppable)
            sub = self._reduced(sub, optional, lambda entry: entry.is_required)
            sub = self._weakened(sub)
            sub = self._begun_later(sub)
            if sub == before or self.is_cut_short:
                return sub

    def _begun_later(self, sub: SubHistory) -> SubHistory:
        begins = [one.operation.invoke_index for one in sub.entries if one.is_required]
        size = len(begins) + (sub.since is None)
        return self._later_window(sub, begins, 0, size, sub)

    def _is_droppable(self, entry: Entry) -> bool:
        return entry.is_required and self.model.is_pure(entry.call)

    def _has_weaker(self, choice: int, entry: Entry) -> bool:
        return len(weaker_calls(self.model, entry.call)) > choice

    def _weakened(self, sub: SubHistory) -> SubHistory:
        """Tries the first weaker call of each call, then the second, and so on."""
        most = max(len(weaker_calls(self.model, entry.call)) for entry in sub.entries)
        for choice in range(most):
            sub = self._reduced(
                sub, partial(weakened, choice=choice), partial(self._has_weaker, choice)
            )
        return sub

    def _reduced(
        self, sub: SubHistory, reduce: Reduce, applies: Callable[[Entry], bool]
    ) -> SubHistory:
        """Applies one reduction to as many calls as possible."""
        size = max(1, len(sub) // 2)
        while True:
            place = 0
            while place < len(sub) and self._has_time():
                end = min(place + size, len(sub))
                chunk = [n for n in range(place, end) if applies(sub.entries[n])]
                candidate = tidied(self.model, reduce(self.model, sub, chunk)) if chunk else sub
                if chunk and self._is_invalid(candidate):
                    end -= len(sub) - len(candidate)
                    sub = candidate
                place = max(end, 0)
            if size == 1:
                return sub
            size //= 2


def _values_by_closeness(model: ReducibleModel, whole: SubHistory) -> list[Hashable]:
    """Returns all values, those of the last call to return first, then by how near they came."""
    last = max(
        (one for one in whole.entries if one.is_required),
        key=lambda entry: entry.operation.complete_index or 0,
    )
    own = model.values(last.call)
    about = [(one.operation.invoke_index, model.values(one.call)) for one in whole.entries]
    moments = [at for at, values in about if not own.isdisjoint(values)]
    moments = moments or [last.operation.invoke_index]
    nearest: dict[Hashable, int] = dict.fromkeys(own, -1)
    for at, values in about:
        distance = min(abs(at - moments[0]), abs(at - moments[-1]))
        for value in values:
            nearest[value] = min(distance, nearest.get(value, distance))
    return sorted(nearest, key=nearest.__getitem__)
