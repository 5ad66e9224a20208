"""Several registers under one key, read and written together in a transaction.

An operation `txn` has a list of ["read" | "write", register, value], done in order and as one. A
register is initially 0, as in Knossos, or null where a transaction of the history reads it as null:
a history does not say which of the two its system starts from.
"""

from collections.abc import Callable, Hashable, Sequence
from typing import Final

from typing_extensions import override

from checkers.history import Operation
from checkers.models import unknown_function
from checkers.models.cas_register import canonical
from checkers.models.reducible import ReducibleModel

_ACTIONS: Final = ("read", "write")
_UNREAD: Final = ""
"""Stands for every value that no transaction reads of its register; no JSON text."""


class MultiRegister(ReducibleModel):
    """Registers that a transaction reads and writes."""

    name = "multi-register"
    functions = frozenset({"txn"})

    @override
    def validate(self, operation: Operation) -> None:
        if operation.f not in self.functions:
            raise unknown_function(self, operation)
        value = _actions(operation)
        if not isinstance(value, list) or not all(map(_is_action, value)):
            wanted = '[["read" | "write", register, value], ...]'
            raise ValueError(f"field value: txn takes {wanted}, not {canonical(value)}")

    @override
    def init(self) -> Hashable:
        return ()

    @override
    def calls(self, operations: Sequence[Operation]) -> list[Hashable | None]:
        null_registers = _read_as_null(operations)
        return [_call(operation, null_registers) for operation in operations]

    @override
    def step(self, state: Hashable, call: Hashable) -> Hashable | None:
        assert isinstance(state, tuple)
        assert isinstance(call, tuple)
        values: dict[str, str] = dict(state)
        for action, register, value, initial in call:
            if action == "write":
                values[register] = value
            elif values.get(register, initial) != value:
                return None
        return tuple(sorted(values.items()))

    @override
    def is_pure(self, call: Hashable) -> bool:
        assert isinstance(call, tuple)
        return all(action == "read" for action, *_ in call)

    @override
    def normal_form(self, calls: Sequence[Hashable]) -> Callable[[Hashable], Hashable]:
        asked_for = frozenset(
            (register, value)
            for call in calls
            if isinstance(call, tuple)
            for action, register, value, _ in call
            if action == "read"
        )

        def normal(state: Hashable) -> Hashable:
            assert isinstance(state, tuple)
            return tuple(
                (name, value if (name, value) in asked_for else _UNREAD) for name, value in state
            )

        return normal

    @override
    def describe_call(self, call: Hashable) -> str | None:
        assert isinstance(call, tuple)
        return ", ".join(f"{action} {register} {value}" for action, register, value, _ in call)

    @override
    def weaker(self, call: Hashable) -> Sequence[Hashable]:
        assert isinstance(call, tuple)
        reads = [place for place, action in enumerate(call) if action[0] == "read"]
        return [call[:place] + call[place + 1 :] for place in reads if len(call) > 1]

    @override
    def values(self, call: Hashable) -> frozenset[Hashable]:
        assert isinstance(call, tuple)
        return frozenset(register for _, register, *_ in call)

    @override
    def without(self, call: Hashable, values: frozenset[Hashable]) -> Hashable | None:
        assert isinstance(call, tuple)
        return tuple(action for action in call if action[1] not in values) or None

    @override
    def describe(self, state: Hashable) -> str:
        assert isinstance(state, tuple)
        values = (f"{register} = {value or 'unread'}" for register, value in state)
        return ", ".join(values) or "no register written"


def _actions(operation: Operation) -> object:
    """The actions, with the values read where the transaction was answered."""
    return operation.output if operation.status == "ok" else operation.input


def _is_action(action: object) -> bool:
    return isinstance(action, list) and len(action) == 3 and action[0] in _ACTIONS


def _read_as_null(operations: Sequence[Operation]) -> frozenset[str]:
    return frozenset(
        canonical(register)
        for operation in operations
        if operation.status == "ok" and isinstance(operation.output, list)
        for action, register, value in operation.output
        if action == "read" and value is None
    )


def _call(operation: Operation, null_registers: frozenset[str]) -> Hashable | None:
    """A call is a tuple of (action, register, value, the register's initial value)."""
    actions = _actions(operation)
    assert isinstance(actions, list)
    answered = operation.status == "ok"
    return tuple(
        (action, name, canonical(value), "null" if name in null_registers else "0")
        for action, register, value in actions
        if answered or action == "write"
        for name in (canonical(register),)
    )
