"""Finds likely elements for takes with unknown answers, for the order hints of containers.

An element without a known take has a *deadline*: the first completion that is impossible while the
element is inside. Each kind of container has its own reason; a take that found the container empty
is a reason for all kinds. Elements by deadline are matched with indeterminate takes by invocation:
if any matching meets the deadlines, this matching does (as in
`checkers.engines.kernels.unmatched_takes`). An element that an indeterminate take removed must be
out by its deadline, which gives other elements a deadline.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Hashable, Sequence
from itertools import accumulate
from typing import Final

from kraftproof.checkers.models.element_intervals import NEVER, ElementInterval, element_intervals
from kraftproof.checkers.models.reducible import Events

_MOST_ROUNDS: Final = 8
_LOST: Final = ("take", None)

Deadlines = Callable[[Sequence[ElementInterval]], list[int]]
"""Lives -> the first completion that can't have been while each element was there, or NEVER."""


def with_unmatched_takes(
    calls: Sequence[Hashable], events: Sequence[Events], deadlines: Deadlines
) -> list[Hashable]:
    """Return the calls of a container, with the likely elements of indeterminate takes."""
    lost = [number for number, call in enumerate(calls) if call == _LOST]
    lifetimes = element_intervals(calls, events) if lost else None
    found = list(calls)
    if lifetimes is None:
        return found
    nones = _after([events[n] for n, call in enumerate(calls) if call == ("found none", None)])
    taken: dict[Hashable, int] = {}
    for _ in range(_MOST_ROUNDS):
        due = [
            min(nones(one.put_over), at)
            for one, at in zip(lifetimes, deadlines(lifetimes), strict=True)
        ]
        needy = {
            one.element: min(at, taken.get(one.element, NEVER))
            for one, at in zip(lifetimes, due, strict=True)
            if one.element in taken or (one.take_over == NEVER and one.take > at)
        }
        if needy == taken:
            break
        taken = needy
        lifetimes = [
            one._replace(
                take=max(one.put, min(one.take, taken[one.element])), take_over=taken[one.element]
            )
            if one.element in taken
            else one
            for one in lifetimes
        ]
    by_deadline = sorted(taken, key=taken.__getitem__)
    for number, element in zip(lost, by_deadline, strict=False):
        found[number] = ("take", element)
    return found


def _after(spans: Sequence[Events]) -> Callable[[int], int]:
    """Return what says the first end of the spans that begin after an event."""
    spans = sorted(spans)
    ends = [NEVER if end is None else end for _, end in spans]
    soonest = [*accumulate(reversed(ends), min, initial=NEVER)][::-1]
    begins = [begin for begin, _ in spans]
    return lambda event: soonest[bisect_right(begins, event)]


def overtaken(lifetimes: Sequence[ElementInterval]) -> list[int]:
    """Return of a queue's elements when what was put later is taken for sure."""
    first = _after([(one.put, one.take_over) for one in lifetimes])
    return [first(one.put_over) for one in lifetimes]


def uncovered(lifetimes: Sequence[ElementInterval]) -> list[int]:
    """Return of a stack's elements when what lies below for sure is taken."""
    order = sorted(range(len(lifetimes)), key=lambda n: lifetimes[n].put)
    below = sorted(range(len(lifetimes)), key=lambda n: lifetimes[n].put_over)
    return _soonest(lifetimes, order, below, lambda one, other: other.put_over < one.put)


def passed_over(lifetimes: Sequence[ElementInterval]) -> list[int]:
    """Return, for each number, the first sure take of a greater number during its stay."""
    order = sorted(range(len(lifetimes)), key=lambda n: _number(lifetimes[n]), reverse=True)
    return _soonest(lifetimes, order, order, lambda one, other: _number(other) > _number(one))


def _soonest(
    lifetimes: Sequence[ElementInterval],
    order: Sequence[int],
    others: Sequence[int],
    matters: Callable[[ElementInterval, ElementInterval], bool],
) -> list[int]:
    """Return, for each element, the first end of relevant takes that begin after its put.

    Both sequences are sorted so that the relevant others of an element are a prefix, which only
    grows along the order. O(n log n), by a tree of least ends (Fenwick 1994).
    """
    takes = sorted(one.take for one in lifetimes)
    tree = [NEVER] * (len(takes) + 1)
    found, place = [NEVER] * len(lifetimes), 0
    for number in order:
        one = lifetimes[number]
        while place < len(others) and matters(one, lifetimes[others[place]]):
            other = lifetimes[others[place]]
            at = len(takes) - bisect_left(takes, other.take)
            while at <= len(takes):
                tree[at] = min(tree[at], other.take_over)
                at += at & -at
            place += 1
        at = len(takes) - bisect_right(takes, one.put_over)
        while at > 0:
            found[number] = min(found[number], tree[at])
            at -= at & -at
    return found


def _number(lifetime: ElementInterval) -> float:
    assert isinstance(lifetime.element, int | float)
    return lifetime.element
