"""The map: put, get and remove by key; every key is absent at first.

The key of an operation is the map's key, so each key is checked as an independent register, which
is null while the key is absent: `put` writes a value other than null, `get` answers the value or
null, `remove` writes null. What put and remove answer does not count. Values are compared as JSON.
"""

from collections.abc import Callable, Collection, Hashable, Sequence
from typing import Final

from typing_extensions import override

from kraftproof.checkers.calls.maps import map_calls, require_value
from kraftproof.checkers.calls.register import RegisterCalls
from kraftproof.checkers.calls.values import canonical
from kraftproof.checkers.history.columns import Columns
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.models import unknown_function
from kraftproof.checkers.models.blocks import Access, order_of_blocks
from kraftproof.checkers.models.reasons import Values
from kraftproof.checkers.models.reducible import Events, OrderHint, ReducibleModel
from kraftproof.checkers.models.starting import Step
from kraftproof.checkers.text import OTHER_VALUE

_ABSENT: Final = "null"
_UNREAD: Final = ""
"""Stands for every value that no get asks for; no JSON text."""


class Map(ReducibleModel):
    """One key of a map; its state is the value as JSON."""

    name = "map"
    functions = frozenset({"put", "get", "remove"})

    @override
    def validate(self, operation: Operation) -> None:
        if operation.f not in self.functions:
            raise unknown_function(self, operation)
        if operation.f == "put":
            require_value(operation.input)

    def calls_of(self, columns: Columns) -> RegisterCalls:
        """Return the calls on all keys."""
        return map_calls(columns, self.name, self.functions)

    @override
    def init(self) -> Hashable:
        return _ABSENT

    @override
    def calls(self, operations: Sequence[Operation]) -> list[Hashable | None]:
        return [_call(operation) for operation in operations]

    @override
    def step(self, state: Hashable, call: Hashable) -> Hashable | None:
        assert isinstance(call, tuple)
        is_get, value = call
        if is_get:
            return state if state == value else None
        return str(value)

    @override
    def is_pure(self, call: Hashable) -> bool:
        assert isinstance(call, tuple)
        return bool(call[0])

    @override
    def normal_form(self, calls: Sequence[Hashable]) -> Callable[[Hashable], Hashable]:
        asked_for = {call[1] for call in calls if isinstance(call, tuple) and call[0]}
        return lambda state: state if state in asked_for else _UNREAD

    @override
    def candidate_causes(
        self, calls: Collection[Hashable], others: Collection[Hashable]
    ) -> Collection[Hashable]:
        """A value that no other get returns is overwritten before the next get."""
        asked_for = {call[1] for call in others if isinstance(call, tuple) and call[0]}
        return [call for call in calls if isinstance(call, tuple) and call[1] in asked_for]

    @override
    def update_order(
        self, calls: Sequence[Hashable], events: Sequence[Events]
    ) -> Sequence[OrderHint | None] | None:
        about = [call for call in calls if isinstance(call, tuple)]
        accesses = [
            Access(value, None) if is_get else Access(None, value) for is_get, value in about
        ]
        return order_of_blocks(accesses, events, _ABSENT)

    @override
    def any_state(
        self, starts: Sequence[Hashable], history: Sequence[Hashable], window: Sequence[Hashable]
    ) -> Sequence[Hashable] | None:
        asked_for = {call[1] for call in window if isinstance(call, tuple) and call[0]}
        puts = {call[1] for call in history if isinstance(call, tuple) and not call[0]}
        held = puts | set(starts)
        return [*sorted(str(state) for state in held & asked_for), _UNREAD]

    def starting_with(self, value: object) -> Sequence[Step]:
        """Return the put of what the key holds at first."""
        return [] if value is None else [("put", value, None)]

    def reason(self, operations: Sequence[Operation], wrong: Operation) -> str | None:
        """Return why the key can't have had the value that a get found."""
        if wrong.f != "get":
            return None
        values = Values(sets=_value_set, finds=_value_found, initial=_ABSENT)
        return values.reason(operations, wrong, canonical(wrong.output))

    @override
    def describe(self, state: Hashable) -> str:
        if state == _UNREAD:
            return OTHER_VALUE
        return "absent" if state == _ABSENT else f"value {state}"


def _call(operation: Operation) -> Hashable | None:
    """A call is (whether it is a get, the value); None for a get without an answer."""
    if operation.f == "get":
        return (True, canonical(operation.output)) if operation.status == "ok" else None
    return (False, _ABSENT if operation.f == "remove" else canonical(operation.input))


def _value_found(operation: Operation) -> str | None:
    """Return the value that a completed get found."""
    is_answered = operation.f == "get" and operation.status == "ok"
    return canonical(operation.output) if is_answered else None


def _value_set(operation: Operation) -> str | None:
    """Return the value that an operation sets; null for an operation that removes the key."""
    if operation.f == "remove":
        return _ABSENT
    return canonical(operation.input) if operation.f == "put" else None
