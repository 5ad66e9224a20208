"""The log: produce answers the offset of its value, fetch the value at an offset; empty at first.

Offsets are increasing integers, possibly with gaps. `fetch` takes an offset and answers its value,
or null for a gap or an offset without a record. Values are compared as JSON.
"""

from collections.abc import Collection, Hashable, Sequence
from typing import Final

from typing_extensions import override

from kraftproof.checkers.calls.append_log import GREATEST, Earliest, LogCalls, bound, log_calls
from kraftproof.checkers.calls.values import canonical, require_integer
from kraftproof.checkers.findings import phrase
from kraftproof.checkers.history.columns import NEVER, Columns
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.models import unknown_function
from kraftproof.checkers.models.persistent import NOTHING, Records
from kraftproof.checkers.models.reasons import is_over
from kraftproof.checkers.models.reducible import ByElement, Events, OrderHint
from kraftproof.checkers.models.starting import Step, require_records

_MOST_TOLD: Final = 20
"""Number of records in the description of a log, from the end."""


class AppendLog(ByElement):
    """A log; its state is the produced records, by offset."""

    name = "append-log"
    functions = frozenset({"produce", "fetch"})

    @override
    def validate(self, operation: Operation) -> None:
        if operation.f not in self.functions:
            raise unknown_function(self, operation)
        if operation.status == "ok" and operation.f == "produce":
            require_integer(operation.output, "produce answers", GREATEST)
        if operation.status == "ok" and operation.f == "fetch":
            require_integer(operation.input, "fetch takes", GREATEST)

    def calls_of(self, columns: Columns) -> LogCalls:
        """Return the calls on all logs."""
        return log_calls(columns, self.name, self.functions)

    def starting_with(self, value: object) -> Sequence[Step]:
        """Return the produces of the records that the log holds at first."""
        records = require_records(value, "an append-log starts with", GREATEST)
        return [("produce", held, offset) for offset, held in records]

    def reason(self, operations: Sequence[Operation], wrong: Operation) -> str | None:
        """Return the value produced at the offset in the answer of a fetch or a produce."""
        offset = wrong.input if wrong.f == "fetch" else wrong.output
        made = [one for one in operations if one.f == "produce" and one.status == "ok"]
        there = [one for one in made if one.output == offset and one is not wrong]
        if wrong.f == "produce":
            return f"{phrase(there[0])} was given that offset, too" if there else None
        if wrong.output is None:
            there = [one for one in there if is_over(one, wrong)]
            return f"{phrase(there[0])} had completed there before it began" if there else None
        others = [one for one in there if canonical(one.input) != canonical(wrong.output)]
        return f"{phrase(others[0])} was given that offset" if others else None

    @override
    def init(self) -> Hashable:
        return NOTHING

    @override
    def calls(self, operations: Sequence[Operation]) -> list[Hashable | None]:
        offsets = _bound(operations)
        return [_call(operation, offsets.get(operation.index)) for operation in operations]

    @override
    def step(self, state: Hashable, call: Hashable) -> Hashable | None:
        assert isinstance(state, Records)
        assert isinstance(call, tuple)
        is_produced, offset, value = call
        if is_produced:
            return state.followed_by(offset, value) if state.offset < offset else None
        return state if state.value_at(offset) == value else None

    @override
    def is_pure(self, call: Hashable) -> bool:
        assert isinstance(call, tuple)
        return not call[0]

    @override
    def candidate_causes(
        self, calls: Collection[Hashable], others: Collection[Hashable]
    ) -> Collection[Hashable]:
        """A record enables fetches of its value and blocks calls at its offset and below."""
        fetched = {call[1:] for call in others if isinstance(call, tuple) and not call[0]}
        return [call for call in calls if isinstance(call, tuple) and call[1:] in fetched]

    @override
    def update_order(
        self, calls: Sequence[Hashable], events: Sequence[Events]
    ) -> Sequence[OrderHint | None]:
        """Record are produced in the order of their offsets."""
        return [
            OrderHint("offsets", call[1]) if isinstance(call, tuple) and call[0] else None
            for call in calls
        ]

    @override
    def describe(self, state: Hashable) -> str:
        assert isinstance(state, Records)
        last = ", ".join(f"{one.offset}: {one.value}" for one in state.last(_MOST_TOLD))
        hidden = "" if state.count <= _MOST_TOLD else f"{state.count - _MOST_TOLD} more, "
        return f"log [{hidden}{last}]"


def _call(operation: Operation, found_at: int | None) -> Hashable | None:
    """A call is (whether a record was produced, the offset, the value or None).

    None if nothing is known.
    """
    is_answered = operation.status == "ok"
    if operation.f == "produce":
        offset = operation.output if is_answered else found_at
        return None if offset is None else (True, offset, canonical(operation.input))
    if not is_answered:
        return None
    value = None if operation.output is None else canonical(operation.output)
    return (False, operation.input, value)


def _bound(operations: Sequence[Operation]) -> dict[int, int]:
    """Return at which offset each produce without an answer was found again."""
    numbers: dict[str, int] = {}
    found: Earliest = {}
    observed: Earliest = {}
    untold = []
    for operation in sorted(operations, key=lambda operation: operation.invoke_index):
        is_fetch, is_answered = operation.f == "fetch", operation.status == "ok"
        text = canonical(operation.output if is_fetch else operation.input)
        value = numbers.setdefault(text, len(numbers))
        if is_answered and not (is_fetch and operation.output is None):
            offset = operation.input if is_fetch else operation.output
            assert isinstance(offset, int)
            assert operation.complete_index is not None
            first, event = found, operation.complete_index
            if not is_fetch:
                first, event = observed, operation.invoke_index
            first[value, offset] = min(event, first.get((value, offset), NEVER))
        elif operation.status == "info" and not is_fetch:
            untold.append((operation.index, value))
    return bound(untold, found, observed)
