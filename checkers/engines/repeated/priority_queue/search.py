"""A beam search over a priority queue: wider and from farther back each time that it fails.

If no state passes a completion, the search restarts from an earlier checkpoint, farther back each
time, with more states and with random numbers added to their costs, since the best states may share
the mistake (Gomes, Selman and Kautz, "Boosting combinatorial search through randomization", 1998).
The random numbers depend on the number of restarts, so that a search always goes the same way.

If that fails repeatedly, the search keeps every state from the last checkpoint on at which none was
dropped. If none of these passes a completion, no order does.
"""

from dataclasses import dataclass
from typing import Final

from kraftproof.checkers.engines.repeated.priority_queue.frontier import Steps, no_steps
from kraftproof.checkers.engines.repeated.priority_queue.heuristic import Selection
from kraftproof.checkers.engines.repeated.priority_queue.layout import NOBODY, Layout
from kraftproof.checkers.engines.repeated.priority_queue.sweep import (
    Place,
    beginning,
    sweep,
    width_of,
)
from kraftproof.checkers.options import Limits

_NARROWEST: Final = 16
"""Number of states kept at first."""
_WIDER: Final = 4
_WIDE: Final = 256
"""Factor by which the beam widens after each failure, and its maximum width."""
_WIDEST: Final = 1 << 13
"""Maximum number of states if every state is kept."""
_PERTURBATION: Final = 16
"""Upper bound of the random number added to the cost of a state after a failure."""
_WHOLE_AFTER: Final = 6
"""Number of failures after which every state is kept."""
_WHOLE_SHARE: Final = 0.25
"""Share of the remaining work for keeping every state."""
_WHOLE_STRIDE: Final = 8
"""Number of events between checkpoints while every state is kept."""
_STRIDE: Final = 64
"""Number of events between checkpoints."""
_KEPT: Final = 8
"""Maximum number of states in all checkpoints, as a multiple of that in one."""
_NUMBERS_A_SECOND: Final = 200_000_000
"""Numbers of states that may be written for each second of the limit."""
_STATE_NUMBERS: Final = 200
"""Cost of making a state, in numbers written."""
_SWEEP: Final = 200
"""Cost of starting a sweep, in states."""
_COPIES: Final = 64
"""Bytes for each number of a kept state, the states that follow from it included."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The result of a search.

    Attributes:
        is_passed: Whether all completions were passed.
        first_illegal: The call whose completion no order passes; NOBODY if unknown.
        place: The last checkpoint.
        steps: The steps to it, if the caller asks for the order.
    """

    is_passed: bool
    first_illegal: int
    place: Place
    steps: Steps


@dataclass(slots=True)
class _Trail:
    """The checkpoints of a search.

    Attributes:
        places: The last checkpoints, in order.
        whole: The last checkpoint before any state was dropped.
        states: The number of states in all checkpoints.
    """

    places: list[Place]
    whole: Place
    states: int = 1

    def add(self, place: Place, most: int) -> None:
        """Add a checkpoint; drop the first ones beyond a number of states."""
        self.places.append(place)
        if place.is_whole:
            self.whole = place
        self.states += len(place.states)
        if self.states > most:
            self.places = self.places[len(self.places) // 2 :]
            self._count()

    def turn_back(self, count: int) -> Place:
        """Return the place so many before the last, and forgets those after it."""
        self.places = self.places[: -count or None]
        if not self.places or self.places[-1].event < self.whole.event:
            self.places = [self.whole]
        self._count()
        return self.places[-1]

    def last_step(self) -> int:
        """Return the last step to any of the places."""
        return max(int(place.nodes.max()) for place in (*self.places, self.whole))

    def _count(self) -> None:
        self.states = sum(len(place.states) for place in self.places)


def search(layout: Layout, limits: Limits, *, is_observed: bool = False) -> Found:
    """Search for an order of some calls up to the last event.

    Args:
        layout: the calls.
        limits: the limits.
        is_observed: whether to keep the steps.
    """
    width = width_of(layout)
    capacity = min(_WIDEST, limits.memory_bytes // (_COPIES * width))
    left = int(limits.seconds * _NUMBERS_A_SECOND) // (_STATE_NUMBERS + width) if capacity else 0
    running = _Search(layout, capacity, left, no_steps(is_observed=is_observed))
    running.run()
    is_passed = running.place.event == len(layout.events)
    return Found(
        is_passed=is_passed,
        first_illegal=running.first_illegal,
        place=running.place,
        steps=running.steps,
    )


class _Search:
    """A search under way.

    Attributes:
        place: where it is.
        first_illegal: the call whose completion no order passes, once that is known; else NOBODY.
        steps: those to here, if they are told.
    """

    def __init__(self, layout: Layout, capacity: int, left: int, steps: Steps) -> None:
        self.place, self.first_illegal, self.steps = beginning(layout), NOBODY, steps
        self._layout, self._capacity, self._left = layout, capacity, left
        self._stop = len(layout.events)
        self._trail = _Trail([self.place], self.place)
        self._failed, self._fails, self._turned, self._back = -1, 0, 0, 1
        self._may_keep_all = True

    def run(self) -> None:
        """Continue until all is passed, refuted, or the work is spent."""
        while self._goes_on():
            kept = min(_NARROWEST * _WIDER ** min(self._fails, _WHOLE_AFTER), _WIDE, self._capacity)
            selection = Selection(kept, _PERTURBATION if self._fails else 0, self._turned)
            if self._passes(self.place, _STRIDE, selection):
                self._trail.add(self.place, _KEPT * self._capacity)
                if self.place.event > self._failed + _STRIDE:
                    self._fails, self._back = 0, 1
            elif self.first_illegal == NOBODY:
                self._failed = max(self._failed, self.place.event)
                is_due = self._fails == _WHOLE_AFTER and self._may_keep_all
                if not (is_due and self._passes_with_all()):
                    self._turn_back()

    def _goes_on(self) -> bool:
        return self.place.event < self._stop and self._left > 0 and self.first_illegal == NOBODY

    def _passes(self, place: Place, stride: int, selection: Selection) -> bool:
        """Go on from a place; return whether it passed so many events."""
        until = min(self._stop, place.event + stride)
        self.place, self.steps, met = sweep(self._layout, place, self.steps, until, selection)
        self._left -= met + _SWEEP
        if self.place.event < until and self.place.is_whole:
            self.first_illegal = int(self._layout.events[self.place.event]) // 2
        return self.place.event == until

    def _passes_with_all(self) -> bool:
        """Continue with all states past the failures; return whether the capacity sufficed.

        True as well if a refutation is found.
        """
        least, place = int(self._left * (1 - _WHOLE_SHARE)), self._trail.whole
        while place.event <= self._failed + _STRIDE and place.event < self._stop:
            is_passed = self._passes(place, _WHOLE_STRIDE, Selection(self._capacity, 0, 0))
            if self.first_illegal != NOBODY:
                return True
            if not is_passed or not self.place.is_whole or self._left < least:
                self._may_keep_all = False
                return False
            place = self.place
        self._trail.add(place, _KEPT * self._capacity)
        self._fails, self._back = 0, 1
        return True

    def _turn_back(self) -> None:
        """Turn back, farther than the last time, or hardly at all if that was all the way."""
        self.place = self._trail.turn_back(self._back)
        if len(self.steps.before) > 0:
            self.steps = self.steps._replace(size=self._trail.last_step() + 1)
        self._fails, self._turned = self._fails + 1, self._turned + 1
        self._back = 2 * self._back if self._back < len(self._trail.places) else 1
