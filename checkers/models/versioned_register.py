"""The register that numbers its values: get, set, set-if; null at version 0, one more each set.

`get` answers [value, version]; `set` takes a value and `set-if` takes [version, value], which fails
unless the register is at that version; both answer the version that they made. Partition epochs,
config versions and the like behave so.
"""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import Final

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
from checkers.models import ColumnarModel, unknown_function
from checkers.models.reducible import ReducibleModel

_UNREAD: Final = ""
"""Stands for every value that no get asks for; no JSON text."""
_MOST_STATES: Final = 2_000
"""Beyond these, the states that a window of a history may begin in are too many."""


class VersionedRegister(ReducibleModel, ColumnarModel):
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
    def normal_form(self, calls: Sequence[Hashable]) -> Callable[[Hashable], Hashable]:
        """Versions only grow: a value counts only at a version that a get saw it at."""
        seen = _seen(calls)
        return lambda state: state if state in seen else _with_value(state, _UNREAD)

    @override
    def weaker(self, call: Hashable) -> Sequence[Hashable]:
        """A set that compares no version, and one that tells none."""
        assert isinstance(call, VersionedCall)
        if call.is_get:
            return ()
        fewer = (replace(call, expected=UNTOLD), replace(call, version=UNTOLD))
        return tuple(one for one in fewer if one != call)

    @override
    def any_state(
        self, starts: Sequence[Hashable], history: Sequence[Hashable], window: Sequence[Hashable]
    ) -> Sequence[Hashable] | None:
        """Versions from which the window's sets lead to one that it is about, and one beyond.

        All others allow what that one allows: the calls that are about no version.
        """
        about = [call for call in window if isinstance(call, VersionedCall)]
        needed = {call.version - (not call.is_get) for call in about if call.version != UNTOLD}
        needed |= {call.expected for call in about if call.expected != UNTOLD}
        sets = sum(not call.is_get for call in about)
        if len(needed) * (sets + 1) > _MOST_STATES:
            return None
        versions = {max(0, version - back) for version in needed for back in range(sets + 1)}
        versions.add(max(needed, default=-1) + 1)
        seen = sorted(one for one in _seen(window) if one[1] in versions)
        return [*((_UNREAD, version) for version in sorted(versions)), *seen]

    @override
    def describe_call(self, call: Hashable) -> str | None:
        assert isinstance(call, VersionedCall)
        if call.is_get:
            return f"get -> [{call.value},{call.version}]"
        compared = "" if call.expected == UNTOLD else f" at version {call.expected}"
        made = "" if call.version == UNTOLD else f" -> {call.version}"
        return f"set {call.value}{compared}{made}"

    @override
    def describe(self, state: Hashable) -> str:
        assert isinstance(state, tuple)
        value = "a value that nothing asks for" if state[0] == _UNREAD else f"value {state[0]}"
        return f"{value} at version {state[1]}"


def _seen(calls: Sequence[Hashable]) -> frozenset[tuple[str, int]]:
    """Returns each value that a get saw, with its version."""
    about = (call for call in calls if isinstance(call, VersionedCall))
    return frozenset((call.value, call.version) for call in about if call.is_get)


def _with_value(state: Hashable, value: str) -> Hashable:
    assert isinstance(state, tuple)
    return (value, state[1])


def _call(operation: Operation) -> VersionedCall | None:
    is_answered = operation.status == "ok"
    return versioned_call(operation.f, operation.input, operation.output, is_answered=is_answered)
