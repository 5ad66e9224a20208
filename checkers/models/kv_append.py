"""A store of strings: get, put, append; each key initially the empty string.

One string a key. Not here: lists with unique elements, whose order a single read gives away.
"""

from collections.abc import Hashable, Sequence

from typing_extensions import override

from checkers.history import Operation
from checkers.models import SequentialModel, unknown_function


class KvAppend(SequentialModel):
    """A string that is replaced, appended to and read."""

    name = "kv-append"
    functions = frozenset({"get", "put", "append"})

    @override
    def validate(self, operation: Operation) -> None:
        if operation.f not in self.functions:
            raise unknown_function(self, operation)
        is_answered_get = operation.f == "get" and operation.status == "ok"
        value = operation.output if is_answered_get else operation.input
        if (operation.f != "get" or is_answered_get) and not isinstance(value, str):
            raise ValueError(f"field value: {operation.f} takes a string, not {value!r}")

    @override
    def key(self, operation: Operation) -> str:
        return operation.key

    @override
    def init(self) -> Hashable:
        return ""

    @override
    def calls(self, operations: Sequence[Operation]) -> list[Hashable | None]:
        return [_call(operation) for operation in operations]

    @override
    def step(self, state: Hashable, call: Hashable) -> Hashable | None:
        assert isinstance(state, str)
        assert isinstance(call, tuple)
        f, value = call
        if f == "get":
            return state if state == value else None
        return str(value) if f == "put" else state + str(value)

    @override
    def is_pure(self, call: Hashable) -> bool:
        assert isinstance(call, tuple)
        return bool(call[0] == "get")

    @override
    def describe(self, state: Hashable) -> str:
        return f"value {state!r}"


def _call(operation: Operation) -> Hashable | None:
    if operation.f == "get":
        return ("get", operation.output) if operation.status == "ok" else None
    return (operation.f, operation.input)
