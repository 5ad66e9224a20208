"""The queue: enqueue, and dequeue of what came first. Elements are compared as JSON."""

from collections.abc import Hashable, Sequence
from heapq import heappop, heappush
from itertools import accumulate
from typing import ClassVar

from typing_extensions import override

from kraftproof.checkers.calls.containers import ContainerCalls, QueueCalls
from kraftproof.checkers.models.container import Container
from kraftproof.checkers.models.element_intervals import NEVER, ElementInterval, element_intervals
from kraftproof.checkers.models.reducible import Events, OrderHint, Span
from kraftproof.checkers.models.unmatched_takes import overtaken, with_unmatched_takes


class Queue(Container):
    """A first-in-first-out queue; its state is the elements, the first one first."""

    name = "queue"
    put = "enqueue"
    take = "dequeue"
    is_fifo: ClassVar[bool] = True
    kind: ClassVar[type[ContainerCalls]] = QueueCalls

    @override
    def leaves_before(self, other: Hashable, put: Span, item: Hashable, own: Span) -> bool:
        """Return whether the other element was put first."""
        return put[1] < own[0]

    @override
    def update_order(
        self, calls: Sequence[Hashable], events: Sequence[Events]
    ) -> Sequence[OrderHint | None] | None:
        """Put each element as late, and take each as early, as an order of the elements allows."""
        calls = with_unmatched_takes(calls, events, overtaken)
        lifetimes = element_intervals(calls, events)
        ordered = None if lifetimes is None else _in_order(lifetimes)
        if ordered is None:
            return None
        places = {turn: place for place, (_, turn) in enumerate(_moments(ordered))}
        return [OrderHint("moments", places[call]) if call in places else None for call in calls]


_Moment = tuple[tuple[int, bool], Hashable]
"""(The nearest event, whether the call comes after the event), the call."""


def _moments(ordered: Sequence[ElementInterval]) -> list[_Moment]:
    """Return when each element is put and taken: the less is inside, the more find none."""
    latest = [*accumulate((lifetime.put_over for lifetime in reversed(ordered)), min)]
    moments: list[_Moment] = []
    soonest = (-1, False)
    for lifetime, end in zip(ordered, reversed(latest), strict=True):
        put = (end, False)
        moments.append((put, ("put", lifetime.element)))
        soonest = max(soonest, put, (lifetime.take, True))
        if lifetime.take != NEVER:
            moments.append((soonest, ("take", lifetime.element)))
    return sorted(moments, key=lambda moment: moment[0])


def _in_order(lifetimes: Sequence[ElementInterval]) -> list[ElementInterval] | None:
    """Return the elements in order; None if no order suits puts and takes both.

    An element precedes another if its put or its take completed before the other's began. The next
    element is the one with the earliest sure put among the elements without an open predecessor;
    O(n log n).
    """
    begun = sorted(range(len(lifetimes)), key=lambda n: lifetimes[n].put, reverse=True)
    put_over = sorted(range(len(lifetimes)), key=lambda n: lifetimes[n].put_over, reverse=True)
    take_over = sorted(range(len(lifetimes)), key=lambda n: lifetimes[n].take_over, reverse=True)
    is_placed = [False] * len(lifetimes)
    ordered: list[ElementInterval] = []
    begun_to_put: list[tuple[int, int]] = []
    next_ones: list[tuple[int, int]] = []
    while len(ordered) < len(lifetimes):
        first_put = lifetimes[_first_left(put_over, is_placed)].put_over
        first_take = lifetimes[_first_left(take_over, is_placed)].take_over
        while begun and lifetimes[begun[-1]].put <= first_put:
            number = begun.pop()
            heappush(begun_to_put, (lifetimes[number].take, number))
        while begun_to_put and begun_to_put[0][0] <= first_take:
            _, number = heappop(begun_to_put)
            heappush(next_ones, (lifetimes[number].put_over, number))
        if not next_ones:
            return None
        _, number = heappop(next_ones)
        is_placed[number] = True
        ordered.append(lifetimes[number])
    return ordered


def _first_left(ordered: list[int], is_placed: Sequence[bool]) -> int:
    """Return the last number that is not placed; remove the placed numbers after it."""
    while is_placed[ordered[-1]]:
        ordered.pop()
    return ordered[-1]
