"""Sweeps over a priority queue, with as many states as it takes, and turned back where that fails.

It keeps few states while that does (a beam search: Lowerre, "The HARPY speech recognition system",
1976). Where none passes a completion the sweep is turned back and keeps more until it is past it;
if that is not enough, further back and more again, in the end from before any state was dropped. If
then every state was kept, no order passes that completion.
"""

from dataclasses import dataclass
from typing import Final

from checkers.engines.priority_front import Steps, no_steps
from checkers.engines.priority_layout import NOBODY, Layout
from checkers.engines.priority_sweep import Place, beginning, sweep, width_of
from checkers.options import Limits

_NARROWEST: Final = 16
_WIDEST: Final = 1 << 13
_WIDER: Final = 8
_FARTHER: Final = 8
"""So many times more states are kept, and places turned back, where that was not enough."""
_STRIDE: Final = 64
"""Events between places to turn back to."""
_KEPT: Final = 8
"""So many times as many states are kept in all places as in one at most."""
_NUMBERS_A_SECOND: Final = 200_000_000
"""So few numbers of states on any machine; so that what a key may cost is counted, not timed."""
_STATE_NUMBERS: Final = 1_000
"""To make a state costs as much as to copy so many numbers."""
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

    def _count(self) -> None:
        self.states = sum(len(place.states) for place in self.places)


def search(layout: Layout, limits: Limits, *, is_told: bool = False) -> Found:
    """Searches for an order of some calls up to the last event.

    Args:
        layout: the calls.
        limits: what it may cost.
        is_told: whether to keep the steps.
    """
    width, stop = width_of(layout), len(layout.events)
    room = min(_WIDEST, limits.memory_bytes // (_COPIES * width))
    left = int(limits.seconds * _NUMBERS_A_SECOND) // (_STATE_NUMBERS + width)
    place, steps = beginning(layout), no_steps(is_told=is_told)
    trail = _Trail([place], place)
    keep, back, failed, stuck = _NARROWEST, 1, -1, NOBODY
    while place.event < stop and left > 0 and room > 0:
        until = min(stop, place.event + _STRIDE)
        place, steps, work = sweep(layout, place, steps, until, min(keep, room))
        left -= work
        if place.event == until:
            trail.add(place, _KEPT * room)
            if place.event > failed + _STRIDE:
                keep, back = _NARROWEST, 1
        elif place.is_whole:
            stuck = int(layout.events[place.event]) // 2
            break
        elif keep >= room:
            break
        else:
            failed, keep, back = max(failed, place.event), keep * _WIDER, back * _FARTHER
            place = trail.turn_back(back if keep < room else stop)
    return Found(is_passed=place.event == stop, stuck=stuck, place=place, steps=steps)
