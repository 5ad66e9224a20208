"""Sweeps over a priority queue, with as many states as it takes, and turned back where that fails.

It keeps few states while that does (a beam search: Lowerre, "The HARPY speech recognition system",
1976). Where none passes a completion, or those that do are known to fail, the sweep is turned back,
farther each time, and there keeps more and others: which, is a matter of chance then, since what
the best states have in common may be what was wrong (restarts by chance: Gomes, Selman & Kautz,
"Boosting combinatorial search through randomization", 1998). The chance is drawn from how often it
was turned back, so a search always goes the same way.

Where that does not help soon, every state is kept from the last place on up to which all were. If
none of these passes a completion, no order does.
"""

from dataclasses import dataclass
from typing import Final

from kraftproof.checkers.engines.repeated.priority_queue.frontier import Steps, no_steps
from kraftproof.checkers.engines.repeated.priority_queue.heuristic import Taste
from kraftproof.checkers.engines.repeated.priority_queue.layout import NOBODY, Layout
from kraftproof.checkers.engines.repeated.priority_queue.sweep import (
    Place,
    beginning,
    sweep,
    width_of,
)
from kraftproof.checkers.options import Limits

_NARROWEST: Final = 16
"""So few states are kept at first."""
_WIDER: Final = 4
_WIDE: Final = 256
"""So many times more each time that it fails, up to so many."""
_WIDEST: Final = 1 << 13
"""So many at most where all are kept."""
_LUCK: Final = 16
"""What chance adds at most to what a state costs."""
_WHOLE_AFTER: Final = 6
"""So often it fails at a place before all states are kept."""
_WHOLE_SHARE: Final = 0.25
"""So much of what is left that may cost."""
_WHOLE_STRIDE: Final = 8
"""Events between places then: the last of which all states are known is where to go on."""
_STRIDE: Final = 64
"""Events between places to turn back to."""
_KEPT: Final = 8
"""So many times as many states are kept in all places as in one at most."""
_NUMBERS_A_SECOND: Final = 200_000_000
"""So few numbers of states on any machine; so that what a key may cost is counted, not timed."""
_STATE_NUMBERS: Final = 200
"""To make a state costs as much as to copy so many numbers."""
_SWEEP: Final = 200
"""To begin a sweep costs as much as so many states."""
_COPIES: Final = 64
"""What a kept state costs for each of its numbers in bytes: with those that follow it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What came of a search.

    Attributes:
        is_passed: whether all was passed.
        stuck: if not, the call whose completion no order passes; NOBODY if that is not known.
        place: where the search ended.
        steps: how it came there, if they were to be told.
    """

    is_passed: bool
    stuck: int
    place: Place
    steps: Steps


@dataclass(slots=True)
class _Trail:
    """The places that a search can be turned back to.

    Attributes:
        places: the last ones, in order.
        whole: the last one before any state was dropped.
        states: how many states all of them have.
    """

    places: list[Place]
    whole: Place
    states: int = 1

    def add(self, place: Place, most: int) -> None:
        """Adds a place; the first ones go if there are more states than so many."""
        self.places.append(place)
        if place.is_whole:
            self.whole = place
        self.states += len(place.states)
        if self.states > most:
            self.places = self.places[len(self.places) // 2 :]
            self._count()

    def turn_back(self, count: int) -> Place:
        """Returns the place so many before the last, and forgets those after it."""
        self.places = self.places[: -count or None]
        if not self.places or self.places[-1].event < self.whole.event:
            self.places = [self.whole]
        self._count()
        return self.places[-1]

    def last_step(self) -> int:
        """Returns the last step to any of the places."""
        return max(int(place.nodes.max()) for place in (*self.places, self.whole))

    def _count(self) -> None:
        self.states = sum(len(place.states) for place in self.places)


def search(layout: Layout, limits: Limits, *, is_told: bool = False) -> Found:
    """Searches for an order of some calls up to the last event.

    Args:
        layout: the calls.
        limits: what it may cost.
        is_told: whether to keep the steps.
    """
    width = width_of(layout)
    room = min(_WIDEST, limits.memory_bytes // (_COPIES * width))
    left = int(limits.seconds * _NUMBERS_A_SECOND) // (_STATE_NUMBERS + width) if room else 0
    running = _Search(layout, room, left, no_steps(is_told=is_told))
    running.run()
    is_passed = running.place.event == len(layout.events)
    return Found(is_passed=is_passed, stuck=running.stuck, place=running.place, steps=running.steps)


class _Search:
    """A search under way.

    Attributes:
        place: where it is.
        stuck: the call whose completion no order passes, once that is known; else NOBODY.
        steps: those to here, if they are told.
    """

    def __init__(self, layout: Layout, room: int, left: int, steps: Steps) -> None:
        self.place, self.stuck, self.steps = beginning(layout), NOBODY, steps
        self._layout, self._room, self._left = layout, room, left
        self._stop = len(layout.events)
        self._trail = _Trail([self.place], self.place)
        self._failed, self._fails, self._turned, self._back = -1, 0, 0, 1
        self._may_keep_all = True

    def run(self) -> None:
        """Goes on until it passed all, is stuck, or has spent what it may."""
        while self._goes_on():
            kept = min(_NARROWEST * _WIDER ** min(self._fails, _WHOLE_AFTER), _WIDE, self._room)
            taste = Taste(kept, _LUCK if self._fails else 0, self._turned)
            if self._passes(self.place, _STRIDE, taste):
                self._trail.add(self.place, _KEPT * self._room)
                if self.place.event > self._failed + _STRIDE:
                    self._fails, self._back = 0, 1
            elif self.stuck == NOBODY:
                self._failed = max(self._failed, self.place.event)
                is_due = self._fails == _WHOLE_AFTER and self._may_keep_all
                if not (is_due and self._passes_with_all()):
                    self._turn_back()

    def _goes_on(self) -> bool:
        return self.place.event < self._stop and self._left > 0 and self.stuck == NOBODY

    def _passes(self, place: Place, stride: int, taste: Taste) -> bool:
        """Goes on from a place; says whether it passed so many events."""
        until = min(self._stop, place.event + stride)
        self.place, self.steps, met = sweep(self._layout, place, self.steps, until, taste)
        self._left -= met + _SWEEP
        if self.place.event < until and self.place.is_whole:
            self.stuck = int(self._layout.events[self.place.event]) // 2
        return self.place.event == until

    def _passes_with_all(self) -> bool:
        """Goes on with all states past where others failed; says whether there was room for it.

        Or whether it is decided by that.
        """
        least, place = int(self._left * (1 - _WHOLE_SHARE)), self._trail.whole
        while place.event <= self._failed + _STRIDE and place.event < self._stop:
            is_passed = self._passes(place, _WHOLE_STRIDE, Taste(self._room, 0, 0))
            if self.stuck != NOBODY:
                return True
            if not is_passed or not self.place.is_whole or self._left < least:
                self._may_keep_all = False
                return False
            place = self.place
        self._trail.add(place, _KEPT * self._room)
        self._fails, self._back = 0, 1
        return True

    def _turn_back(self) -> None:
        """Turns back, farther than the last time, or hardly at all if that was all the way."""
        self.place = self._trail.turn_back(self._back)
        if len(self.steps.before) > 0:
            self.steps = self.steps._replace(size=self._trail.last_step() + 1)
        self._fails, self._turned = self._fails + 1, self._turned + 1
        self._back = 2 * self._back if self._back < len(self._trail.places) else 1
