"""The compare-and-set register: read, write, cas [old, new]; initially null.

One register a key. Values are compared as JSON. Not here: versions (a compare by version is another
model).
"""

from collections.abc import Callable, Collection, Hashable, Sequence
from typing import Final

import msgspec
from typing_extensions import override

from kraftproof.checkers.calls.register import RegisterCalls, refused_cas, register_calls
from kraftproof.checkers.calls.values import require_functions
from kraftproof.checkers.history.columns import Columns
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.models import ColumnarModel, unknown_function
from kraftproof.checkers.models.blocks import Access, order_of_blocks
from kraftproof.checkers.models.reasons import Values
from kraftproof.checkers.models.reducible import Events, OrderHint, ReducibleModel
from kraftproof.checkers.models.starting import Step
from kraftproof.checkers.text import OTHER_VALUE, as_json

_UNREAD: Final = ""
"""Stands for every value that no read and no cas of the history asks for; no JSON text."""
_CONTAINERS: Final = frozenset("[{")
"""The first characters of JSON lists and maps."""


def canonical(value: object) -> str:
    """Return a value as JSON text that is equal for equal values."""
    return msgspec.json.encode(value, order="sorted").decode()


class CasRegister(ReducibleModel, ColumnarModel):
    """A register with compare-and-set."""

    name = "cas-register"
    functions = frozenset({"read", "write", "cas"})

    @override
    def validate(self, operation: Operation) -> None:
        if operation.f not in self.functions:
            raise unknown_function(self, operation)
        if operation.f == "cas" and not _is_pair(operation.input):
            raise ValueError(f"field value: cas takes [old, new], not {as_json(operation.input)}")
        if operation.f == "cas" and operation.status == "ok" and operation.output is False:
            raise refused_cas()

    def has_shape(self, operations: Sequence[Operation]) -> bool:
        """Return whether each list or map that was read was also written."""
        read = {canonical(one.output)[0] for one in operations if one.f == "read"}
        written = {value[0] for one in operations if (value := _value_set(one)) is not None}
        return read & _CONTAINERS <= written

    @override
    def calls_of(self, columns: Columns) -> RegisterCalls:
        require_functions(columns, self.name, self.functions)
        return register_calls(columns)

    @override
    def init(self) -> Hashable:
        return "null"

    @override
    def calls(self, operations: Sequence[Operation]) -> list[Hashable | None]:
        return [_call(operation) for operation in operations]

    @override
    def step(self, state: Hashable, call: Hashable) -> Hashable | None:
        assert isinstance(call, tuple)
        expected, new = call
        if expected is not None and expected != state:
            return None
        return state if new is None else str(new)

    @override
    def is_pure(self, call: Hashable) -> bool:
        assert isinstance(call, tuple)
        return call[1] is None

    @override
    def normal_form(self, calls: Sequence[Hashable]) -> Callable[[Hashable], Hashable]:
        asked_for = frozenset(call[0] for call in calls if isinstance(call, tuple))
        return lambda state: state if state in asked_for else _UNREAD

    @override
    def weaker(self, call: Hashable) -> Sequence[Hashable]:
        assert isinstance(call, tuple)
        expected, new = call
        return () if expected is None or new is None else ((None, new),)

    @override
    def describe_call(self, call: Hashable) -> str | None:
        assert isinstance(call, tuple)
        expected, new = call
        if expected is None:
            return f"write {new}"
        return f"read -> {expected}" if new is None else f"cas [{expected},{new}]"

    @override
    def candidate_causes(
        self, calls: Collection[Hashable], others: Collection[Hashable]
    ) -> Collection[Hashable]:
        """A value that no other call needs is overwritten before the next needed value."""
        asked_for = {call[0] for call in others if isinstance(call, tuple)}
        return [call for call in calls if isinstance(call, tuple) and call[1] in asked_for]

    @override
    def update_order(
        self, calls: Sequence[Hashable], events: Sequence[Events]
    ) -> Sequence[OrderHint | None] | None:
        accesses = [Access(*call) for call in calls if isinstance(call, tuple)]
        return order_of_blocks(accesses, events, self.init())

    @override
    def any_state(
        self, starts: Sequence[Hashable], history: Sequence[Hashable], window: Sequence[Hashable]
    ) -> Sequence[Hashable] | None:
        asked_for = {call[0] for call in window if isinstance(call, tuple)}
        held = {call[1] for call in history if isinstance(call, tuple)} | set(starts)
        return [*sorted(str(state) for state in held & asked_for if state is not None), _UNREAD]

    def starting_with(self, value: object) -> Sequence[Step]:
        """Return the write of what the register holds at first."""
        return [("write", value, value)]

    def reason(self, operations: Sequence[Operation], wrong: Operation) -> str | None:
        """Return why the register can't have held the value that an operation found."""
        wanted = _call(wrong)
        if not isinstance(wanted, tuple) or wanted[0] is None:
            return None
        values = Values(sets=_value_set, finds=_value_found, initial=str(self.init()))
        return values.reason(operations, wrong, str(wanted[0]))

    @override
    def describe(self, state: Hashable) -> str:
        return OTHER_VALUE if state == _UNREAD else f"value {state}"


def _is_pair(value: object) -> bool:
    return isinstance(value, list) and len(value) == 2


def _call(operation: Operation) -> Hashable | None:
    """A call is (the required value or None, the value set or None)."""
    if operation.f == "write":
        return (None, canonical(operation.input))
    if operation.f == "cas":
        assert isinstance(operation.input, list)
        old, new = operation.input
        return (canonical(old), canonical(new))
    return (canonical(operation.output), None) if operation.status == "ok" else None


def _value_found(operation: Operation) -> str | None:
    """Return the value that a completed read or cas found."""
    call = _call(operation) if operation.status == "ok" else None
    return call[0] if isinstance(call, tuple) else None


def _value_set(operation: Operation) -> str | None:
    """Return the value that an operation sets if the operation takes effect."""
    if operation.f == "cas":
        assert isinstance(operation.input, list)
        return canonical(operation.input[1])
    return canonical(operation.input) if operation.f == "write" else None
