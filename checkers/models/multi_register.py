"""Several registers under one key, read and written together in a transaction.

An operation `txn` has a list of ["read" | "write", register, value], done in order and as one. A
register is initially 0, as in Knossos, or null if a transaction of the history reads it as null: a
history does not say which of the two its system starts from. A register that was surely read as 0
before 0 was brought in starts with 0, even if null is written and read later. If the history leaves
both open, a key is invalid only if neither start gives a legal order.
"""

from collections.abc import (
    Callable,
    Collection,
    Container,
    Hashable,
    Iterable,
    Iterator,
    Mapping,
    Sequence,
)
from itertools import combinations, product
from math import prod
from typing import Final

import msgspec
from typing_extensions import override

from kraftproof.checkers.calls.answered import require_asked
from kraftproof.checkers.calls.transactions import (
    Action,
    Timed,
    TransactionCalls,
    actions_of,
    initial_of,
    start_with_null,
    transaction_calls,
    uncertain_starts,
)
from kraftproof.checkers.history.columns import NEVER, Columns
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.models import unknown_function
from kraftproof.checkers.models.reducible import ReducibleModel
from kraftproof.checkers.models.register_reasons import register_reason
from kraftproof.checkers.models.starting import Step, plain_name
from kraftproof.checkers.text import OTHER_VALUE

_UNREAD: Final = ""
"""Stands for every value that no transaction reads from its register; not a JSON text."""
_MOST_STATES: Final = 2_000
"""Beyond these, the states that a window of a history may begin in are too many."""


class MultiRegister(ReducibleModel):
    """Registers that a transaction reads and writes."""

    name = "multi-register"
    functions = frozenset({"txn"})

    @override
    def validate(self, operation: Operation) -> None:
        if operation.f not in self.functions:
            raise unknown_function(self, operation)
        _actions(operation)
        if operation.status == "ok":
            require_asked(operation.input, operation.output)

    def places(self, key: str, operations: Iterable[Operation]) -> Mapping[str, str]:
        """Return the registers that transactions name."""
        names = {register for one in operations for _, register, _ in _all_actions(one)}
        return {name: plain_name(name) for name in names}

    def starting_with(self, value: object) -> Sequence[Step]:
        """Return the transaction that writes the initial values of the registers."""
        assert isinstance(value, dict)
        actions = [["write", msgspec.json.decode(name), held] for name, held in value.items()]
        return [("txn", actions, actions)]

    def other_starts(self, operations: Iterable[Operation]) -> Iterator[Mapping[str, object]]:
        """Yield each way to start some of the registers with 0 that may start with 0 or null."""
        registers = sorted(uncertain_starts(_timed(operations)))
        for number in range(1, len(registers) + 1):
            for chosen in combinations(registers, number):
                yield dict.fromkeys(chosen, 0)

    def calls_of(self, columns: Columns) -> TransactionCalls:
        """Return the calls on the registers of all keys."""
        return transaction_calls(columns, self.name, self.functions)

    def reason(self, operations: Sequence[Operation], wrong: Operation) -> str | None:
        """Return why a transaction cannot have read its values."""
        return register_reason(operations, wrong, _null_registers(operations))

    @override
    def init(self) -> Hashable:
        return ()

    @override
    def calls(self, operations: Sequence[Operation]) -> list[Hashable | None]:
        null_registers = _null_registers(operations)
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
        asked_for = frozenset((register, value) for register, value, _ in _asked_for(calls))

        def normal(state: Hashable) -> Hashable:
            assert isinstance(state, tuple)
            return tuple(
                (name, value if (name, value) in asked_for else _UNREAD) for name, value in state
            )

        return normal

    @override
    def candidate_causes(
        self, calls: Collection[Hashable], others: Collection[Hashable]
    ) -> Collection[Hashable]:
        """A value that no other transaction reads is overwritten before the next read."""
        read = {(register, value) for register, value, _ in _asked_for(others)}
        return [call for call in calls if not read.isdisjoint(_left(call))]

    @override
    def any_state(
        self, starts: Sequence[Hashable], history: Sequence[Hashable], window: Sequence[Hashable]
    ) -> Sequence[Hashable] | None:
        """Return all combinations: each register has a needed value it may hold, or another."""
        held = {entry for state in starts if isinstance(state, tuple) for entry in state}
        held = held.union(*map(_left, history))
        options: dict[str, list[str]] = {}
        for name, value, initial in sorted(_asked_for(window)):
            may_be = value == initial or (name, value) in held
            options.setdefault(name, [_UNREAD]).extend([value] if may_be else [])
        if prod(map(len, options.values())) > _MOST_STATES:
            return None
        return [tuple(zip(options, values, strict=True)) for values in product(*options.values())]

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
    def without(self, call: Hashable, values: Container[Hashable]) -> Hashable | None:
        assert isinstance(call, tuple)
        return tuple(action for action in call if action[1] not in values) or None

    @override
    def describe(self, state: Hashable) -> str:
        assert isinstance(state, tuple)
        values = (f"{register} = {value or OTHER_VALUE}" for register, value in state)
        return ", ".join(values) or "no register written"


def _left(call: Hashable) -> set[tuple[str, str]]:
    """Return (register, value) of each write."""
    assert isinstance(call, tuple)
    return {(name, value) for action, name, value, _ in call if action == "write"}


def _asked_for(calls: Collection[Hashable]) -> set[tuple[str, str, str]]:
    """Return (register, value, the register's initial value) of what is read."""
    return {
        (name, value, initial)
        for call in calls
        if isinstance(call, tuple)
        for action, name, value, initial in call
        if action == "read"
    }


def _actions(operation: Operation) -> list[Action]:
    """The actions, with the values read where the transaction was answered."""
    is_answered = operation.status == "ok"
    observed = operation.output if is_answered else operation.input
    return actions_of(observed, is_answered=is_answered)


def _all_actions(operation: Operation) -> list[Action]:
    """Return the requested actions, including reads without an answer."""
    return actions_of(operation.input, is_answered=True)


def _null_registers(operations: Sequence[Operation]) -> frozenset[str]:
    """Return the registers that start with null, as `start_with_null` tells."""
    return start_with_null(_timed(operations))


def _timed(operations: Iterable[Operation]) -> Iterator[Timed]:
    for one in operations:
        if one.status != "fail":
            yield one.invoke_index, _end(one), _actions(one)


def _end(operation: Operation) -> int:
    """Return the event of the completion; NEVER for a transaction that may not have happened."""
    is_over = operation.status == "ok" and operation.complete_index is not None
    return operation.complete_index or 0 if is_over else NEVER


def _call(operation: Operation, null_registers: frozenset[str]) -> Hashable | None:
    """A call is a tuple of (action, register, value, the register's initial value)."""
    return tuple(
        (action, name, value, initial_of(null_registers, name))
        for action, name, value in _actions(operation)
    )
