"""The priority queue: insert a number, and delete-min the least there is."""

from bisect import bisect_left
from collections.abc import Hashable
from typing import Any, ClassVar

from typing_extensions import override

from checkers.calls.containers import ContainerCalls, PriorityQueueCalls, require_priority
from checkers.history import Operation
from checkers.models.container import Container


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
    def call(self, operation: Operation) -> Hashable:
        """Returns (what it does, its number as it is, for numbers are ordered)."""
        if operation.f == self.put:
            return ("put", operation.input)
        if operation.status != "ok":
            return ("take", None)
        return ("found none" if operation.output is None else "take", operation.output)

    @override
    def holding(self, state: tuple[Any, ...], element: Any) -> tuple[Any, ...]:
        place = bisect_left(state, element)
        return (*state[:place], element, *state[place:])
