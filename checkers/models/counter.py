"""The counter: add, read, and add-and-get, which answers the new sum; initially 0.

Summands are integers of either sign. The answer of an `add` has no meaning.
"""

from collections.abc import Hashable, Sequence
from typing import Final

from typing_extensions import override

from kraftproof.checkers.calls.counter import GREATEST, CounterCalls, counter_calls
from kraftproof.checkers.calls.values import require_integer
from kraftproof.checkers.history.columns import Columns
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.models import unknown_function
from kraftproof.checkers.models.reasons import is_over, may_count
from kraftproof.checkers.models.reducible import SummingModel, Tally
from kraftproof.checkers.models.starting import Step

_MOST_SUMS: Final = 2_000
"""Beyond these, the sums that a window of a history may begin with are too many."""


class Counter(SummingModel):
    """A sum."""

    name = "counter"
    functions = frozenset({"add", "read", "add-and-get"})
    sum_name = "sum"

    @override
    def validate(self, operation: Operation) -> None:
        if operation.f not in self.functions:
            raise unknown_function(self, operation)
        if operation.f != "read" and operation.status != "fail":
            require_integer(operation.input, f"{operation.f} takes", GREATEST)
        if operation.f != "add" and operation.status == "ok":
            require_integer(operation.output, f"{operation.f} answers", GREATEST)

    def calls_of(self, columns: Columns) -> CounterCalls:
        """Return the calls of all counters."""
        return counter_calls(columns, self.name, self.functions)

    def starting_with(self, value: object) -> Sequence[Step]:
        """Return the add of what the counter begins with."""
        require_integer(value, "a counter starts with", GREATEST)
        return [("add", value, None)]

    def reason(self, operations: Sequence[Operation], wrong: Operation) -> str | None:
        """Return between which bounds the sum lay while an operation ran."""
        if wrong.f == "add":
            return None
        adds = [one for one in operations if one.f != "read" and may_count(one, wrong)]
        over = sum(_amount(one) for one in adds if is_over(one, wrong))
        open_adds = [_amount(one) for one in adds if not is_over(one, wrong)]
        least = over + sum(amount for amount in open_adds if amount < 0)
        most = over + sum(amount for amount in open_adds if amount > 0)
        assert isinstance(wrong.output, int)
        if wrong.output < least:
            return f"all that was added by then comes to at least {least}"
        if wrong.output > most:
            return f"all that was added by then comes to at most {most}"
        return None

    @override
    def init(self) -> Hashable:
        return 0

    @override
    def calls(self, operations: Sequence[Operation]) -> list[Hashable | None]:
        return [_call(operation) for operation in operations]

    @override
    def step(self, state: Hashable, call: Hashable) -> Hashable | None:
        assert isinstance(state, int)
        assert isinstance(call, Tally)
        return call.after(state)

    @override
    def is_pure(self, call: Hashable) -> bool:
        return not self.tally(call).amount

    @override
    def weaker(self, call: Hashable) -> Sequence[Hashable]:
        return self.tally(call).untold()

    @override
    def any_state(
        self, starts: Sequence[Hashable], history: Sequence[Hashable], window: Sequence[Hashable]
    ) -> Sequence[Hashable] | None:
        least, greatest = _reach(starts, history)
        bounds = [bound for call in window for bound in self.tally(call)[1:]]
        observed = [bound for bound in bounds if bound is not None]
        if not observed:
            return [greatest]
        before = _reach([0], window)
        first, last = (
            max(least, min(observed) - before[1]),
            min(greatest, max(observed) - before[0]),
        )
        if last - first > _MOST_SUMS:
            return None
        beyond = max(observed) - before[0] + 1
        return [*range(first, last + 1), beyond]

    @override
    def describe_call(self, call: Hashable) -> str | None:
        tally = self.tally(call)
        asked = f"add {tally.amount}" if tally.amount else "read"
        return " -> ".join([asked, *tally.bounds()])

    @override
    def tally(self, call: Hashable) -> Tally:
        assert isinstance(call, Tally)
        return call

    @override
    def sum_of(self, state: Hashable) -> int:
        assert isinstance(state, int)
        return state

    @override
    def summing_to(self, total: int) -> Hashable:
        return total

    @override
    def describe(self, state: Hashable) -> str:
        return f"sum {state}"


def _reach(starts: Sequence[Hashable], calls: Sequence[Hashable]) -> tuple[int, int]:
    """Return the least and the greatest sum that the calls can reach."""
    sums = [state for state in starts if isinstance(state, int)]
    deltas = [call.amount for call in calls if isinstance(call, Tally)]
    return (
        min(sums) + sum(delta for delta in deltas if delta < 0),
        max(sums) + sum(delta for delta in deltas if delta > 0),
    )


def _call(operation: Operation) -> Tally | None:
    """Return what an operation adds and returns; None for an operation without a constraint."""
    observed = operation.output if operation.f != "add" and operation.status == "ok" else None
    delta = 0 if operation.f == "read" else operation.input
    if delta == 0 and observed is None:
        return None
    assert isinstance(delta, int)
    assert observed is None or isinstance(observed, int)
    return Tally(delta, observed, observed)


def _amount(operation: Operation) -> int:
    assert isinstance(operation.input, int), "validated"
    return operation.input
