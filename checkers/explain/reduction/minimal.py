"""Reduces an invalid sub-history, call by call, until no single reduction keeps it invalid.

That is what *minimal* means. Chunks of calls are reduced, each half as large as before (after
Zeller & Hildebrandt, "Simplifying and isolating failure-inducing input", 2002).
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from functools import partial

from kraftproof.checkers.explain.reduction.deciding import Deciding
from kraftproof.checkers.explain.reduction.reductions import (
    dropped,
    helpful,
    optional,
    tidied,
    weakened,
    weaker_calls,
)
from kraftproof.checkers.explain.reduction.values import fewest
from kraftproof.checkers.explain.reduction.windows import begun_later
from kraftproof.checkers.explain.subhistory import SubHistory
from kraftproof.checkers.judge.entries import Entry
from kraftproof.checkers.models import SequentialModel

Reduce = Callable[[SequentialModel, SubHistory, Collection[int]], SubHistory]
Step = tuple[Reduce, Callable[[Entry], bool]]
"""A reduction, and a predicate that selects its calls."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Minimised:
    """The remaining part of a history.

    Attributes:
        sub: the sub-history; invalid, unless `is_invalid` is false.
        is_invalid: whether an engine decided so; false if not even the whole could be decided.
        is_minimal: whether no tried single sound reduction leaves the sub-history invalid.
    """

    sub: SubHistory
    is_invalid: bool
    is_minimal: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Reducing:
    """Reduces sub-histories of one history.

    Attributes:
        model: the model.
        deciding: what decides candidates.
        has_beside: keep optional calls that help no remaining call, since the next reduction may
            need the optional calls.
    """

    model: SequentialModel
    deciding: Deciding
    has_beside: bool = False

    def until_minimal(self, sub: SubHistory) -> Minimised:
        """Reduce an invalid sub-history repeatedly, until a round changes nothing."""
        while True:
            before, self.deciding.is_cut_short = sub, False
            for reduce, applies in self._steps(sub):
                sub = self._reduced(sub, reduce, applies)
            if sub.total is None and sub.balance is None and not self.has_beside:
                sub = begun_later(self.model, sub, self.deciding.is_invalid)
            if sub == before or not self.deciding.has_time():
                return Minimised(
                    sub=sub, is_invalid=True, is_minimal=not self.deciding.is_cut_short
                )

    def without_beside(self, sub: SubHistory) -> SubHistory:
        """Return the sub-history with the fewest optional calls that make every reduction valid."""
        beside = [one.operation.index for one in sub.entries if not one.is_required]

        def only(some: Collection[object]) -> SubHistory:
            entries = (one for one in sub.entries if one.is_required or one.operation.index in some)
            return replace(sub, entries=tuple(entries))

        def is_enough(some: Collection[object]) -> bool:
            return all(map(self.deciding.is_possible, self._singles(only(some))))

        if is_enough(()):
            return only(())
        return only(fewest([*beside], is_enough, self.deciding.has_time)) if beside else sub

    def _steps(self, sub: SubHistory) -> Iterator[Step]:
        yield dropped, self._is_droppable
        most = max(len(weaker_calls(self.model, entry.call)) for entry in sub.entries)
        for choice in range(most):  # the first weaker call of each call, then the second
            yield partial(weakened, choice=choice), partial(self._has_weaker, choice)
        yield optional, lambda entry: entry.is_required

    def _singles(self, sub: SubHistory) -> Iterator[SubHistory]:
        """Yield what each reduction of a single call would leave."""
        for reduce, applies in self._steps(sub):
            places = (place for place, entry in enumerate(sub.entries) if applies(entry))
            yield from (reduce(self.model, sub, [place]) for place in places)

    def _is_droppable(self, entry: Entry) -> bool:
        return entry.is_required and self.model.is_pure(entry.call)

    def _has_weaker(self, choice: int, entry: Entry) -> bool:
        return len(weaker_calls(self.model, entry.call)) > choice

    def _tidied(self, sub: SubHistory) -> SubHistory:
        if self.has_beside:
            return replace(sub, entries=helpful(self.model, sub.entries))
        return tidied(self.model, sub)

    def _reduced(
        self, sub: SubHistory, reduce: Reduce, applies: Callable[[Entry], bool]
    ) -> SubHistory:
        """Apply one reduction to as many calls as possible."""
        size = max(1, len(sub) // 2)
        while True:
            place = 0
            while place < len(sub) and self.deciding.has_time():
                end = min(place + size, len(sub))
                chunk = [n for n in range(place, end) if applies(sub.entries[n])]
                candidate = self._tidied(reduce(self.model, sub, chunk)) if chunk else sub
                if chunk and self.deciding.is_invalid(candidate):
                    end -= len(sub) - len(candidate)
                    sub = candidate
                place = max(end, 0)
            if size == 1:
                return sub
            size //= 2
