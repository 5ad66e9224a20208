"""A register with numbered values: get, set, set-if; null at version 0, and each set adds one.

`get` answers [value, version]; `set` takes a value and `set-if` takes [version, value], which fails
unless the register is at that version; both answer the version that they made. Partition epochs,
config versions and the like behave so.
"""

from collections.abc import Callable, Collection, Container, Hashable, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

from typing_extensions import override

from kraftproof.checkers.calls.values import canonical, require_functions
from kraftproof.checkers.calls.versioned import (
    UNTOLD,
    VersionedCall,
    VersionedCalls,
    versioned_call,
    versioned_calls,
)
from kraftproof.checkers.history.columns import Columns
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.models import ColumnarModel, unknown_function
from kraftproof.checkers.models.reasons import Values
from kraftproof.checkers.models.reducible import Events, OrderHint, SummingModel, Tally
from kraftproof.checkers.models.starting import Step
from kraftproof.checkers.models.versions import order_of_versions
from kraftproof.checkers.text import OTHER_VALUE, as_json

_UNREAD: Final = ""
"""Stands for every value that no get asks for; no JSON text."""
_MOST_STEPS: Final = 20_000
"""With more from them, the states that a window of a history may begin in are too many."""
_LATEST_START: Final = 10_000
"""The greatest initial version: each version takes a set before the history."""


class VersionedRegister(SummingModel, ColumnarModel):
    """A register with versions: the version is a sum, to which each set adds one."""

    name = "versioned-register"
    is_compiled = False
    functions = frozenset({"get", "set", "set-if"})
    sum_name = "version"

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
        version = state[1]
        if isinstance(call, Tally):
            after = call.after(version)
            if after is None:
                return None
            return (_UNREAD, after) if call.amount else state
        assert isinstance(call, VersionedCall)
        if call.is_get:
            return state if state == (call.value, call.version) else None
        if call.expected not in {UNTOLD, version} or call.version not in {UNTOLD, version + 1}:
            return None
        return (call.value, version + 1)

    @override
    def is_pure(self, call: Hashable) -> bool:
        return not self.tally(call).amount

    @override
    def normal_form(self, calls: Sequence[Hashable]) -> Callable[[Hashable], Hashable]:
        """Versions only grow: a value counts only at a version that a get saw it at.

        Nor does any version count beyond the last that a call is about.
        """
        seen, beyond = _seen(calls), max(self._needed(calls), default=-1) + 1

        def normal(state: Hashable) -> Hashable:
            assert isinstance(state, tuple)
            return state if state in seen else (_UNREAD, min(state[1], beyond))

        return normal

    @override
    def weaker(self, call: Hashable) -> Sequence[Hashable]:
        """Return the set without its comparison, and the set without its returned version."""
        if isinstance(call, Tally):
            return call.untold()
        assert isinstance(call, VersionedCall)
        if call.is_get:
            return ()
        fewer = (replace(call, expected=UNTOLD), replace(call, version=UNTOLD))
        return tuple(one for one in fewer if one != call)

    @override
    def candidate_causes(
        self, calls: Collection[Hashable], others: Collection[Hashable]
    ) -> Collection[Hashable]:
        """Gets of a value that these sets cannot leave come before all of them, or never."""
        if any(not isinstance(call, VersionedCall) or not call.is_get for call in others):
            return calls
        left = _left([], calls)
        return calls if any(_is_in(left, one) for one in _seen(others)) else ()

    @override
    def any_state(
        self, starts: Sequence[Hashable], history: Sequence[Hashable], window: Sequence[Hashable]
    ) -> Sequence[Hashable] | None:
        """Return the versions from which the window's sets reach a needed version, and one beyond.

        From any other version, no needed version is reached or passed. So one representative is
        enough: the earliest version that reaches the next needed version, or else the version
        beyond.
        """
        sets = sum(self.tally(call).amount for call in window)
        observed = list(pairwise([-sets - 1, *sorted(self._needed(window))]))
        states = sum(min(later - earlier, sets + 1) for earlier, later in observed)
        if states * len(set(window)) > _MOST_STEPS:
            return None
        versions = {
            version
            for earlier, later in observed
            for version in range(max(earlier, later - sets - 1, -1) + 1, later + 1)
        }
        versions.add(observed[-1][1] + 1 if observed else 0)
        left = _left(starts, history)
        seen = sorted(one for one in _seen(window) if _is_in(left, one))
        return [*((_UNREAD, version) for version in sorted(versions)), *seen]

    @override
    def tally(self, call: Hashable) -> Tally:
        if isinstance(call, Tally):
            return call
        assert isinstance(call, VersionedCall)
        observed = None if call.about == UNTOLD else call.about
        return Tally(int(not call.is_get), observed, observed)

    @override
    def sum_of(self, state: Hashable) -> int:
        assert isinstance(state, tuple)
        return int(state[1])

    @override
    def summing_to(self, total: int) -> Hashable | None:
        return (_UNREAD, total) if total >= 0 else None

    @override
    def update_order(
        self, calls: Sequence[Hashable], events: Sequence[Events]
    ) -> Sequence[OrderHint | None] | None:
        return order_of_versions(calls, events)

    @override
    def describe_call(self, call: Hashable) -> str | None:
        if isinstance(call, Tally):
            asked = {0: "get", 1: "set"}.get(call.amount, f"{call.amount} sets")
            return " -> version ".join([asked, *call.bounds()])
        assert isinstance(call, VersionedCall)
        if call.is_get:
            return f"get -> [{call.value},{call.version}]"
        compared = "" if call.expected == UNTOLD else f" at version {call.expected}"
        made = "" if call.version == UNTOLD else f" -> {call.version}"
        return f"set {call.value}{compared}{made}"

    def starting_with(self, value: object) -> Sequence[Step]:
        """Return the sets that lead to the initial value at its version."""
        is_pair = isinstance(value, list) and len(value) == 2 and type(value[1]) is int
        held, version = value if is_pair and isinstance(value, list) else (None, -1)
        if not 0 <= version <= _LATEST_START:
            wanted = f"[value, version], with a version up to {_LATEST_START:,}"
            raise ValueError(f"a versioned-register starts with {wanted}, not {as_json(value)}")
        if version == 0 and held is not None:
            raise ValueError(
                f"a versioned-register is null at version 0, not {as_json(held)}: give"
                " [value, version] with the version that the first get answers"
            )
        earlier: list[Step] = [("set", None, number) for number in range(1, version)]
        return [*earlier, ("set", held, version)] if version else []

    def reason(self, operations: Sequence[Operation], wrong: Operation) -> str | None:
        """Return why the register can't have held the value that a get found."""
        if wrong.f != "get" or not isinstance(wrong.output, list):
            return None
        values = Values(sets=_value_set, initial="null", can_start=False)
        return values.reason(operations, wrong, canonical(wrong.output[0]))

    @override
    def describe(self, state: Hashable) -> str:
        assert isinstance(state, tuple)
        value = OTHER_VALUE if state[0] == _UNREAD else f"value {state[0]}"
        return f"{value} at version {state[1]}"

    def _needed(self, calls: Sequence[Hashable]) -> set[int]:
        """Return the versions that calls require as an exact, minimum or maximum version."""
        tallies = [self.tally(call) for call in calls]
        return {
            bound - tally.amount for tally in tallies for bound in tally[1:] if bound is not None
        }


def _left(starts: Collection[Hashable], calls: Collection[Hashable]) -> set[Hashable]:
    """Return the states that calls can leave; of values at any version, with none."""
    about = (call for call in calls if isinstance(call, VersionedCall) and not call.is_get)
    return {*starts, *((call.value, call.about) for call in about)}


def _is_in(left: Container[Hashable], state: tuple[str, int]) -> bool:
    """Return whether a state is among the reachable states."""
    return state in left or (state[0], UNTOLD) in left


def _seen(calls: Collection[Hashable]) -> frozenset[tuple[str, int]]:
    """Return each value that a get returned, with its version."""
    about = (call for call in calls if isinstance(call, VersionedCall))
    return frozenset((call.value, call.version) for call in about if call.is_get)


def _call(operation: Operation) -> VersionedCall | None:
    is_answered = operation.status == "ok"
    return versioned_call(operation.f, operation.input, operation.output, is_answered=is_answered)


def _value_set(operation: Operation) -> str | None:
    """Return the value that an operation sets if the operation takes effect."""
    if operation.f == "set-if":
        assert isinstance(operation.input, list)
        return canonical(operation.input[1])
    return canonical(operation.input) if operation.f == "set" else None
