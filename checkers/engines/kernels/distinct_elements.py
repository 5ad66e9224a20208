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
from kraftproof.checkers.engines.kernels.bisection import first_stuck, outcome_of, spans
from kraftproof.checkers.engines.kernels.element_intervals import (
    Times,
    is_repeated,
    lives,
    none_found,
)
from kraftproof.checkers.engines.kernels.unmatched_takes import (
    are_enough,
    hastened,
    needy,
    rescued,
    spared,
    spares_before,
)
from kraftproof.checkers.engines.types import Outcome
from kraftproof.checkers.history.columns import NEVER

_MOST_ROUNDS: Final = 8
"""Elements that a spare took late may be in the way of others; so often these get spares too."""

Fits = Callable[[Times, Times], bool]
"""(lives, intervals of empty takes) -> whether the container can have had these."""

Deadlines = Callable[[Times, Times], Times]
"""The same -> of each element the first completion that can't have been while it was there."""

DecideKey = Callable[[int, int], Outcome | None]
"""(start, end) -> the outcome of the key with these calls, None if it stays open."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Containers:
    """The containers of a history, and whether prefixes of their histories are legal.

    Attributes:
        calls: their calls.
        fits: whether lives keep the container's order.
        deadlines: by when elements must have been taken.
    """

    calls: ContainerCalls
    fits: Fits
    deadlines: Deadlines

    def may_be_legal(self, start: int, end: int, cut: int) -> bool:
        """Return whether a prefix has what a legal one must have; exact if there are no spares."""
        life, nones, spares = self._prefix(start, end, cut)
        if life is None:
            return False
        if not len(spares):
            return self.fits(life, nones)
        due = self.deadlines(hastened(life, spares), nones)
        enough = are_enough(spares, due[needy(life, due)])
        return bool(enough and self.fits(spared(life, spares), nones))

    def is_legal(self, start: int, end: int, cut: int) -> bool:
        """Return whether a prefix has all that makes one legal."""
        life, nones, spares = self._prefix(start, end, cut)
        if life is None:
            return False
        due = self.deadlines(life, nones)
        for _ in range(_MOST_ROUNDS):
            wanting = needy(life, due)
            held = rescued(life, wanting, spares)
            if self.fits(held, nones):
                return True
            due = np.minimum(due, self.deadlines(held, nones))
            if len(needy(life, due)) == len(wanting):
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
        stuck = first_stuck(calls, start, end, self.may_be_legal)
        if self._has_spare(start, end) and not self.is_legal(
            start, end, self._before(start, end, stuck)
        ):
            return None
        return outcome_of(calls, start, end, stuck, engine)

    def _has_spare(self, start: int, end: int) -> bool:
        is_untold = self.calls.element[start:end] == NO_VALUE
        return bool((is_untold & (self.calls.action[start:end] == TAKE)).any())

    def _before(self, start: int, end: int, stuck: int | None) -> int:
        """Return the last completion before the stuck one, NEVER if none is stuck."""
        if stuck is None:
            return NEVER
        complete = self.calls.complete[start:end]
        return int(complete[complete < self.calls.complete[stuck]].max(initial=-1))

    def _prefix(self, start: int, end: int, cut: int) -> tuple[Times | None, Times, Times]:
        """Return the lives up to a cut, None if there are none; takes of none; and the spares."""
        calls = self.calls
        action, element = calls.action[start:end], calls.element[start:end]
        invoke, complete = calls.invoke[start:end], calls.complete[start:end]
        is_once, life = lives(action, element, invoke, complete, cut)
        nones = none_found(action, invoke, complete, cut)
        return life if is_once else None, nones, spares_before(action, element, invoke, cut)
