"""The lock: acquire, release; initially free.

It does not know who holds it: a release by another process is legal, two acquisitions in a row are
not.
"""

from collections.abc import Hashable, Sequence

from typing_extensions import override

from checkers.calls.mutex import MutexCalls, mutex_calls
from checkers.columns import Columns
from checkers.history import Operation
from checkers.models import unknown_function
from checkers.models.reducible import ReducibleModel


class Mutex(ReducibleModel):
    """A lock that is free or held."""

    name = "mutex"
    functions = frozenset({"acquire", "release"})

    @override
    def validate(self, operation: Operation) -> None:
        if operation.f not in self.functions:
            raise unknown_function(self, operation)

    def calls_of(self, columns: Columns) -> MutexCalls:
        """Returns the calls on all locks."""
        return mutex_calls(columns, self.name, self.functions)

    @override
    def init(self) -> Hashable:
        return "free"

    @override
    def calls(self, operations: Sequence[Operation]) -> list[Hashable | None]:
        return [operation.f for operation in operations]

    @override
    def step(self, state: Hashable, call: Hashable) -> Hashable | None:
        if call == "acquire":
            return "held" if state == "free" else None
        return "free" if state == "held" else None

    @override
    def is_pure(self, call: Hashable) -> bool:
        return False

    @override
    def alternates_with(self, call: Hashable) -> Hashable:
        return "release" if call == "acquire" else "acquire"

    @override
    def describe(self, state: Hashable) -> str:
        return str(state)
