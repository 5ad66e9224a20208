"""Decide queues, stacks and priority queues with unique elements: the part they share.

Each container supplies two kernels: whether intervals of elements
(`checkers.engines.kernels.element_intervals`) fit its order, and the deadline by which each element
must have been taken. Both are asked about prefixes. A key with an element that is put twice goes to
the search for repeated elements.

Indeterminate takes (`checkers.engines.kernels.unmatched_takes`) need two bounds. The necessary
condition gives a first illegal completion, perhaps too late. If the sufficient condition holds for
the prefix before it, or for the whole history if no completion is illegal, the result is exact.
Otherwise the key goes to the search, too.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from kraftproof.checkers.calls.containers import TAKE, ContainerCalls
from kraftproof.checkers.calls.values import NO_VALUE
from kraftproof.checkers.engines.kernels.bisection import find_first_illegal, outcome_of, spans
from kraftproof.checkers.engines.kernels.element_intervals import (
    Times,
    element_intervals,
    is_repeated,
    none_found,
)
from kraftproof.checkers.engines.kernels.unmatched_takes import (
    are_enough,
    in_need,
    unmatched_before,
    with_earlier_takes,
    with_matches,
    with_unmatched,
)
from kraftproof.checkers.engines.types import Outcome
from kraftproof.checkers.history.columns import NEVER

_MOST_ROUNDS: Final = 8
"""The number of rounds in which elements that leave late give further elements a deadline."""

Fits = Callable[[Times, Times], bool]
"""(lives, intervals of empty takes) -> whether the container can have had these."""

Deadlines = Callable[[Times, Times], Times]
"""(intervals, empty takes) -> the first completion impossible with each element inside."""

DecideKey = Callable[[int, int], Outcome | None]
"""(start, end) -> the outcome of the key with these calls, None if it stays open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Containers:
    """The containers of a history, and the legality of prefixes of each.

    Attributes:
        calls: The calls.
        fits: Returns whether intervals fit the container's order.
        deadlines: Returns the deadline of each element.
    """

    calls: ContainerCalls
    fits: Fits
    deadlines: Deadlines

    def may_be_legal(self, start: int, end: int, cut: int) -> bool:
        """Return the necessary condition for a legal prefix; exact without unmatched takes."""
        intervals, nones, unmatched = self._prefix(start, end, cut)
        if intervals is None:
            return False
        if not len(unmatched):
            return self.fits(intervals, nones)
        due = self.deadlines(with_earlier_takes(intervals, unmatched), nones)
        enough = are_enough(unmatched, due[in_need(intervals, due)])
        return bool(enough and self.fits(with_unmatched(intervals, unmatched), nones))

    def is_legal(self, start: int, end: int, cut: int) -> bool:
        """Return the sufficient condition for a legal prefix."""
        intervals, nones, unmatched = self._prefix(start, end, cut)
        if intervals is None:
            return False
        due = self.deadlines(intervals, nones)
        for _ in range(_MOST_ROUNDS):
            wanting = in_need(intervals, due)
            held = with_matches(intervals, wanting, unmatched)
            if self.fits(held, nones):
                return True
            due = np.minimum(due, self.deadlines(held, nones))
            if len(in_need(intervals, due)) == len(wanting):
                break
        return False

    def decide(self, engine: str, decide_repeated: DecideKey) -> list[Outcome | None]:
        """Return the outcome of every key, None for a key left to the general engine.

        Args:
            engine: The engine's name.
            decide_repeated: Decides a key whose elements repeat, or whose indeterminate takes
                leave the question open; None if it can't.
        """
        return [
            self.decide_key(start, end, engine) or decide_repeated(start, end)
            for start, end in spans(self.calls)
        ]

    def decide_key(self, start: int, end: int, engine: str) -> Outcome | None:
        """Return the outcome of a key; None if an element repeats or the question stays open."""
        calls = self.calls
        if is_repeated(calls.action[start:end], calls.element[start:end]):
            return None
        first_illegal = find_first_illegal(calls, start, end, self.may_be_legal)
        if self._has_unmatched(start, end) and not self.is_legal(
            start, end, self._before(start, end, first_illegal)
        ):
            return None
        return outcome_of(calls, start, end, first_illegal, engine)

    def _has_unmatched(self, start: int, end: int) -> bool:
        is_untold = self.calls.element[start:end] == NO_VALUE
        return bool((is_untold & (self.calls.action[start:end] == TAKE)).any())

    def _before(self, start: int, end: int, first_illegal: int | None) -> int:
        """Return the last completion before the stuck one, NEVER if none is stuck."""
        if first_illegal is None:
            return NEVER
        complete = self.calls.complete[start:end]
        return int(complete[complete < self.calls.complete[first_illegal]].max(initial=-1))

    def _prefix(self, start: int, end: int, cut: int) -> tuple[Times | None, Times, Times]:
        """Return the intervals up to a cut or None, the empty takes, and the unmatched takes."""
        calls = self.calls
        action, element = calls.action[start:end], calls.element[start:end]
        invoke, complete = calls.invoke[start:end], calls.complete[start:end]
        is_once, intervals = element_intervals(action, element, invoke, complete, cut)
        nones = none_found(action, invoke, complete, cut)
        return intervals if is_once else None, nones, unmatched_before(action, element, invoke, cut)
