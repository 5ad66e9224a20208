"""The priority queue: insert a number, and delete-min the least there is; initially empty.

`delete-min` answers a number, or null if it found none. Numbers that are inserted once each go to
the compiled engine; a queue with repeated ones is searched.
"""

from bisect import bisect_left
from collections.abc import Hashable, Sequence

from typing_extensions import override

from checkers.calls.containers import PriorityQueueCalls, container_calls, require_priority
from checkers.columns import Columns
from checkers.history import Operation
from checkers.models import unknown_function
from checkers.models.reducible import ByElement


class PriorityQueue(ByElement):
    """A priority queue; its state is the numbers, ascending."""

    name = "priority-queue"
    functions = frozenset({"insert", "delete-min"})

    @override
    def validate(self, operation: Operation) -> None:
        if operation.f not in self.functions:
            raise unknown_function(self, operation)
        if operation.f == "insert":
            require_priority(operation.input, "insert")
        elif operation.status == "ok" and operation.output is not None:
            require_priority(operation.output, "delete-min")

    def calls_of(self, columns: Columns) -> PriorityQueueCalls:
        """Returns the calls of all priority queues."""
        return container_calls(
            PriorityQueueCalls, columns, model=self.name, put="insert", take="delete-min"
        )

    @override
    def init(self) -> Hashable:
        return ()

    @override
    def calls(self, operations: Sequence[Operation]) -> list[Hashable | None]:
        return [_call(operation) for operation in operations]

    @override
    def step(self, state: Hashable, call: Hashable) -> Hashable | None:
        assert isinstance(state, tuple)
        assert isinstance(call, tuple)
        action, number = call
        if action == "put":
            place = bisect_left(state, number)
            return (*state[:place], number, *state[place:])
        if action == "found none":
            return None if state else state
        if number is None:
            return state[1:]
        return state[1:] if state and state[0] == number else None

    @override
    def is_pure(self, call: Hashable) -> bool:
        assert isinstance(call, tuple)
        return bool(call[0] == "found none")

    @override
    def describe(self, state: Hashable) -> str:
        assert isinstance(state, tuple)
        return f"priority queue [{', '.join(map(str, state))}]"


def _call(operation: Operation) -> Hashable:
    """A call is (what it does, its number if that is known)."""
    if operation.f == "insert":
        return ("put", operation.input)
    if operation.status != "ok":
        return ("take", None)
    return ("found none" if operation.output is None else "take", operation.output)
