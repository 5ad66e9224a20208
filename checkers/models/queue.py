"""The queue: enqueue, and dequeue of what came first; initially empty.

`dequeue` answers an element, or null if it found none. Elements are compared as JSON. Elements that
are put once each go to the compiled engine; a queue with repeated ones is searched.
"""

from collections.abc import Hashable, Sequence

from typing_extensions import override

from checkers.calls.containers import (
    QueueCalls,
    container_call,
    container_calls,
    require_element,
)
from checkers.columns import Columns
from checkers.history import Operation
from checkers.models import unknown_function
from checkers.models.reducible import ByElement


class Queue(ByElement):
    """A first-in-first-out queue; its state is the elements, the first one first."""

    name = "queue"
    functions = frozenset({"enqueue", "dequeue"})

    @override
    def validate(self, operation: Operation) -> None:
        if operation.f not in self.functions:
            raise unknown_function(self, operation)
        if operation.f == "enqueue":
            require_element(operation.input, "enqueue")

    def calls_of(self, columns: Columns) -> QueueCalls:
        """Returns the calls of all queues."""
        return container_calls(QueueCalls, columns, model=self.name, put="enqueue", take="dequeue")

    @override
    def init(self) -> Hashable:
        return ()

    @override
    def calls(self, operations: Sequence[Operation]) -> list[Hashable | None]:
        return [container_call(operation, "dequeue") for operation in operations]

    @override
    def step(self, state: Hashable, call: Hashable) -> Hashable | None:
        assert isinstance(state, tuple)
        assert isinstance(call, tuple)
        action, element = call
        if action == "put":
            return (*state, element)
        if action == "found none":
            return None if state else state
        if element is None:
            return state[1:]
        return state[1:] if state and state[0] == element else None

    @override
    def is_pure(self, call: Hashable) -> bool:
        assert isinstance(call, tuple)
        return bool(call[0] == "found none")

    @override
    def describe(self, state: Hashable) -> str:
        assert isinstance(state, tuple)
        return f"queue [{', '.join(state)}]"
