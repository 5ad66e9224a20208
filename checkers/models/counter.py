"""The counter: add, read, and add-and-get, which answers the new sum; initially 0.

Summands are integers of either sign. An `add` answers nothing that counts.
"""

from collections.abc import Hashable, Sequence
from typing import Final

from typing_extensions import override

from checkers.calls.counter import GREATEST, CounterCalls, counter_calls
from checkers.calls.values import require_integer
from checkers.columns import Columns
from checkers.history import Operation
from checkers.models import unknown_function
from checkers.models.reducible import SummingModel, Tally

_MOST_SUMS: Final = 2_000
"""Beyond these, the sums that a window of a history may begin with are too many."""
_AT_LEAST: Final = "at least"
_AT_MOST: Final = "at most"


class Counter(SummingModel):
    """A sum."""

    name = "counter"
    functions = frozenset({"add", "read", "add-and-get"})

    @override
    def validate(self, operation: Operation) -> None:
        if operation.f not in self.functions:
            raise unknown_function(self, operation)
        if operation.f != "read" and operation.status != "fail":
            require_integer(operation.input, f"{operation.f} takes", GREATEST)
        if operation.f != "add" and operation.status == "ok":
            require_integer(operation.output, f"{operation.f} answers", GREATEST)

    def calls_of(self, columns: Columns) -> CounterCalls:
        """Returns the calls of all counters."""
        return counter_calls(columns, self.name, self.functions)

    @override
    def init(self) -> Hashable:
        return 0

    @override
    def calls(self, operations: Sequence[Operation]) -> list[Hashable | None]:
        return [_call(operation) for operation in operations]

    @override
    def step(self, state: Hashable, call: Hashable) -> Hashable | None:
        assert isinstance(state, int)
        assert isinstance(call, tuple)
        delta, told, *bound = call
        after: int = state + delta
        if told is None or told == after:
            return after
        return after if bound == [_AT_LEAST if told < after else _AT_MOST] else None

    @override
    def is_pure(self, call: Hashable) -> bool:
        assert isinstance(call, tuple)
        return bool(call[0] == 0)

    @override
    def weaker(self, call: Hashable) -> Sequence[Hashable]:
        assert isinstance(call, tuple)
        delta, told, *_ = call
        return ((delta, None),) if delta and told is not None else ()

    @override
    def any_state(
        self, starts: Sequence[Hashable], history: Sequence[Hashable], window: Sequence[Hashable]
    ) -> Sequence[Hashable] | None:
        least, greatest = _reach(starts, history)
        told = [call[1] for call in window if isinstance(call, tuple) and call[1] is not None]
        if not told:
            return [greatest]
        before = _reach([0], window)
        first, last = max(least, min(told) - before[1]), min(greatest, max(told) - before[0])
        if last - first > _MOST_SUMS:
            return None
        beyond = max(told) - before[0] + 1
        return [*range(first, last + 1), beyond]

    @override
    def describe_call(self, call: Hashable) -> str | None:
        assert isinstance(call, tuple)
        delta, told, *bound = call
        if delta:
            return f"add {delta}" if not bound else f"add {delta} -> {bound[0]} {told}"
        return " ".join(["read ->", *bound, str(told)])

    @override
    def tally(self, call: Hashable) -> Tally:
        assert isinstance(call, tuple)
        delta, told, *_ = call
        return Tally(delta, told)

    @override
    def adding(self, amount: int) -> Hashable:
        return (amount, None)

    @override
    def bounded(self, call: Hashable, *, is_least: bool) -> Hashable:
        assert isinstance(call, tuple)
        return (*call, _AT_LEAST if is_least else _AT_MOST)

    @override
    def describe(self, state: Hashable) -> str:
        return f"sum {state}"


def _reach(starts: Sequence[Hashable], calls: Sequence[Hashable]) -> tuple[int, int]:
    """Returns the least and the greatest sum that some of the calls lead to."""
    sums = [state for state in starts if isinstance(state, int)]
    deltas = [call[0] for call in calls if isinstance(call, tuple)]
    return (
        min(sums) + sum(delta for delta in deltas if delta < 0),
        max(sums) + sum(delta for delta in deltas if delta > 0),
    )


def _call(operation: Operation) -> Hashable | None:
    """A call is (what it adds, the sum it answered or None).

    An explanation may add a third: whether that is the least that it answered, or the most.
    """
    told = operation.output if operation.f != "add" and operation.status == "ok" else None
    delta = 0 if operation.f == "read" else operation.input
    return None if delta == 0 and told is None else (delta, told)
