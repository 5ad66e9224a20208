"""The register that numbers its values: get, set, set-if; null at version 0, one more each set.

`get` answers [value, version]; `set` takes a value and `set-if` takes [version, value], which fails
unless the register is at that version; both answer the version that they made. Partition epochs,
config versions and the like behave so.
"""

from collections.abc import Hashable, Sequence

from typing_extensions import override

from checkers.calls.values import require_functions
from checkers.calls.versioned import (
    UNTOLD,
    VersionedCall,
    VersionedCalls,
    versioned_call,
    versioned_calls,
)
from checkers.columns import Columns
from checkers.history import Operation
from checkers.models import ColumnarModel, SequentialModel, unknown_function


class VersionedRegister(SequentialModel, ColumnarModel):
    """A register that tells the version of its value."""

    name = "versioned-register"
    functions = frozenset({"get", "set", "set-if"})

    @override
    def validate(self, operation: Operation) -> None:
        if operation.f not in self.functions:
            raise unknown_function(self, operation)
        _call(operation)

    @override
    def calls_of(self, columns: Columns) -> VersionedCalls:
        require_functions(columns, self.name, self.functions)
        return versioned_calls(columns)

    @override
    def init(self) -> Hashable:
        return ("null", 0)

    @override
    def calls(self, operations: Sequence[Operation]) -> list[Hashable | None]:
        return [_call(operation) for operation in operations]

    @override
    def step(self, state: Hashable, call: Hashable) -> Hashable | None:
        assert isinstance(state, tuple)
        assert isinstance(call, VersionedCall)
        version = state[1]
        if call.is_get:
            return state if state == (call.value, call.version) else None
        if call.expected not in {UNTOLD, version} or call.version not in {UNTOLD, version + 1}:
            return None
        return (call.value, version + 1)

    @override
    def is_pure(self, call: Hashable) -> bool:
        assert isinstance(call, VersionedCall)
        return call.is_get

    @override
    def describe(self, state: Hashable) -> str:
        assert isinstance(state, tuple)
        return f"value {state[0]} at version {state[1]}"


def _call(operation: Operation) -> VersionedCall | None:
    is_answered = operation.status == "ok"
    return versioned_call(operation.f, operation.input, operation.output, is_answered=is_answered)
