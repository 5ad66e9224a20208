"""The priority queue: insert a number, and delete-min the least there is."""

from bisect import bisect_left
from collections.abc import Callable, Hashable, Sequence
from typing import Any, ClassVar

from typing_extensions import override

from kraftproof.checkers.calls.containers import (
    ContainerCalls,
    PriorityQueueCalls,
    require_priority,
)
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.models.container import Container
from kraftproof.checkers.models.element_intervals import NEVER, ElementInterval, element_intervals
from kraftproof.checkers.models.reducible import Events, OrderHint, Span
from kraftproof.checkers.models.starting import Step
from kraftproof.checkers.models.unmatched_takes import passed_over, with_unmatched_takes


class PriorityQueue(Container):
    """A priority queue; its state is the numbers, ascending."""

    name = "priority-queue"
    put = "insert"
    take = "delete-min"
    kind: ClassVar[type[ContainerCalls]] = PriorityQueueCalls

    @override
    def validate(self, operation: Operation) -> None:
        super().validate(operation)
        if operation.f == self.put:
            require_priority(operation.input, self.put)
        elif operation.status == "ok" and operation.output is not None:
            require_priority(operation.output, self.take)

    @override
    def starting_with(self, value: object) -> Sequence[Step]:
        steps = super().starting_with(value)
        for _, number, _ in steps:
            require_priority(number, self.put)
        return steps

    @override
    def call(self, operation: Operation) -> Hashable:
        """Return (the action, the number itself, since numbers are ordered)."""
        if operation.f == self.put:
            return ("put", operation.input)
        if operation.status != "ok":
            return ("take", None)
        return ("found none" if operation.output is None else "take", operation.output)

    @override
    def normal_form(self, calls: Sequence[Hashable]) -> Callable[[Hashable], Hashable]:
        """Return states unchanged: a number that is never taken still blocks greater numbers."""
        return lambda state: state

    @override
    def holding(self, state: tuple[Any, ...], element: Any) -> tuple[Any, ...]:
        place = bisect_left(state, element)
        return (*state[:place], element, *state[place:])

    @override
    def leaves_before(self, other: Any, put: Span, item: Any, own: Span) -> bool:
        """Return whether the other number is less."""
        return bool(other < item)

    @override
    def update_order(
        self, calls: Sequence[Hashable], events: Sequence[Events]
    ) -> Sequence[OrderHint | None] | None:
        """Put each number as late as possible, and take it once no lesser number is inside."""
        calls = with_unmatched_takes(calls, events, passed_over)
        lifetimes = element_intervals(calls, events)
        moments = None if lifetimes is None else _moments(lifetimes)
        if moments is None:
            return None
        places = {turn: place for place, (_, turn) in enumerate(sorted(moments))}
        return [
            OrderHint("moments", places[turn]) if turn in places else None
            for call in calls
            if isinstance(call, tuple)
            for turn in ((call[1], call[0] == "take"),)
        ]


_Moment = tuple[tuple[int, bool], tuple[Any, bool]]
"""(The gap between events, whether at its end), (the number, whether this is its take)."""


def _moments(lifetimes: Sequence[ElementInterval]) -> list[_Moment] | None:
    """Return the moments of each number's put and take; None if no order exists.

    From the least number on, as `checkers.engines.containers.priority_queue` decides; O(n log n).
    """
    times = sorted({time for lifetime in lifetimes for time in lifetime[1:] if time != NEVER})
    gap_after = {time: gap for gap, time in enumerate(times)} | {NEVER: len(times)}
    free = list(range(len(times) + 1))
    moments: list[_Moment] = []
    for lifetime in sorted(lifetimes, key=_number):
        if lifetime.put_over == NEVER:
            continue
        taken = len(times)
        if lifetime.take != NEVER:
            taken = _next_free(free, gap_after[lifetime.take])
            if taken >= gap_after[lifetime.take_over] and lifetime.take_over != NEVER:
                return None
        if taken < len(times):
            moments.append(((taken, False), (lifetime.element, True)))
        put = gap_after[lifetime.put_over]
        moments.append(((min(put - 1, taken), taken >= put), (lifetime.element, False)))
        for gap in range(put, taken):
            free[gap] = gap + 1
    return moments


def _number(lifetime: ElementInterval) -> float:
    assert isinstance(lifetime.element, int | float)
    return lifetime.element


def _next_free(free: list[int], gap: int) -> int:
    """Return the first free gap at or after a gap, and shorten the path to the gap."""
    while free[gap] != gap:
        free[gap] = free[free[gap]]
        gap = free[gap]
    return gap
