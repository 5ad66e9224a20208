"""A lock that expires and fences with tokens: lock grants, use presents, unlock returns.

A lock may expire at any time, unobserved. Safety follows from growing tokens: a resource that
accepted a token never accepts a smaller token, nor a token known to be dead. `lock` answers an
integer token; `use` takes a token and answers true if accepted, false if refused as dead; `unlock`
takes a token. A token that no client received is never accepted.
"""

from collections.abc import Hashable, Sequence
from typing import Final

from typing_extensions import override

from kraftproof.checkers.calls.fencing import GREATEST, FencingCalls, fencing_calls
from kraftproof.checkers.calls.values import require_boolean, require_integer
from kraftproof.checkers.findings import phrase
from kraftproof.checkers.history.columns import Columns
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.models import unknown_function
from kraftproof.checkers.models.reasons import is_over, may_count
from kraftproof.checkers.models.reducible import ByElement, Events, OrderHint
from kraftproof.checkers.models.starting import Step

_NOBODY: Final = -GREATEST
"""Less than every token."""


class FencingLock(ByElement):
    """A lock; the state is (the live token, the largest granted token)."""

    name = "fencing-lock"
    functions = frozenset({"lock", "use", "unlock"})

    @override
    def validate(self, operation: Operation) -> None:
        f = operation.f
        if f not in self.functions:
            raise unknown_function(self, operation)
        if f == "lock" and operation.status == "ok":
            require_integer(operation.output, "lock answers", GREATEST)
        if f != "lock" and operation.status != "fail":
            require_integer(operation.input, f"{f} takes", GREATEST)
        if f == "use" and operation.status == "ok":
            require_boolean(operation.output, f)

    def calls_of(self, columns: Columns) -> FencingCalls:
        """Return the calls on all locks."""
        return fencing_calls(columns, self.name, self.functions)

    def starting_with(self, value: object) -> Sequence[Step]:
        """Return the grant of the last token from before the history, which may be in force."""
        require_integer(value, "a fencing-lock starts with", GREATEST)
        return [("lock", None, value)]

    def reason(self, operations: Sequence[Operation], wrong: Operation) -> str | None:
        """Return why a token can't have been granted, or was dead when it was accepted."""
        is_accepted = wrong.f == "use" and wrong.output is True
        if wrong.f != "lock" and not is_accepted:
            return None
        before = [one for one in operations if is_over(one, wrong)]
        larger = _larger(before, wrong)
        if larger is not None or not is_accepted:
            return larger
        granted = [
            one
            for one in operations
            if one.f == "lock" and one.status == "ok" and one.output == wrong.input
        ]
        if not any(may_count(one, wrong) for one in granted):
            return f"no lock had answered token {wrong.input} by then"
        for one in before:
            says_dead = one.f == "unlock" or (one.f == "use" and one.output is False)
            if says_dead and one.input == wrong.input and all(is_over(at, one) for at in granted):
                did = "completed" if one.f == "unlock" else "been refused"
                return f"{phrase(one)} had {did} before it began"
        return None

    @override
    def init(self) -> Hashable:
        return (_NOBODY, _NOBODY)

    @override
    def calls(self, operations: Sequence[Operation]) -> list[Hashable | None]:
        return [_call(operation) for operation in operations]

    @override
    def step(self, state: Hashable, call: Hashable) -> Hashable | None:
        assert isinstance(state, tuple)
        assert isinstance(call, tuple)
        alive, largest = state
        says, token = call
        if says == "granted":
            return (token, token) if token > largest else None
        if says == "alive":
            return state if token == alive else None
        return (_NOBODY, largest) if token == alive else state

    @override
    def is_pure(self, call: Hashable) -> bool:
        assert isinstance(call, tuple)
        return bool(call[0] == "alive")

    @override
    def update_order(
        self, calls: Sequence[Hashable], events: Sequence[Events]
    ) -> Sequence[OrderHint | None]:
        """Tokens are granted in increasing order; calls that prove a token dead come late."""
        return [
            OrderHint("grants", call[1])
            if isinstance(call, tuple) and call[0] == "granted"
            else None
            for call in calls
        ]

    @override
    def describe(self, state: Hashable) -> str:
        assert isinstance(state, tuple)
        alive, largest = state
        if largest == _NOBODY:
            return "no token granted"
        return f"token {largest} {'alive' if alive == largest else 'dead'}"


def _call(operation: Operation) -> Hashable | None:
    """A call is (its statement on a token, the token); None for a call without a statement."""
    is_answered = operation.status == "ok"
    if operation.f == "unlock":
        return ("dead", operation.input)
    if not is_answered:
        return None
    if operation.f == "lock":
        return ("granted", operation.output)
    return ("alive" if operation.output else "dead", operation.input)


def _larger(before: Sequence[Operation], wrong: Operation) -> str | None:
    """Return which token was granted or accepted earlier, and leaves no place for a token."""
    shown = wrong.output if wrong.f == "lock" else wrong.input
    assert isinstance(shown, int), "validated"
    for one in before:
        token = one.output if one.f == "lock" else one.input
        if one.f == "unlock" or (one.f == "use" and one.output is not True):
            continue
        assert isinstance(token, int), "validated"
        if token > shown or (token == shown and wrong.f == "lock"):
            did = "granted" if one.f == "lock" else "accepted"
            which = "the initial value" if one.index < 0 else f"operation {one.index}"
            return f"token {token} had been {did} before it began ({which})"
    return None
