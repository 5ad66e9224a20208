"""A store of strings: get, put, append; each key initially the empty string.

One string a key; a get that answers null found nothing, as good as the empty string. Not here:
lists with unique elements, whose order a single read gives away.
"""

from bisect import bisect_left
from collections.abc import Callable, Hashable, Sequence
from typing import Final

from typing_extensions import override

from checkers.calls.strings import StringCalls, string_calls, string_of
from checkers.columns import Columns
from checkers.history import Operation
from checkers.models import unknown_function
from checkers.models.reducible import ReducibleModel

_UNREAD: Final = ("a value that no get begins with",)
"""Stands for every string that no get of the history begins with: an append leads to another such
string, and only a put leads away from them. No string, so that it equals none."""

_MOST_BEGINNINGS: Final = 2_000
"""Beyond these, the states that a window of a history may begin in are too many."""


class KvAppend(ReducibleModel):
    """A string that is replaced, appended to and read."""

    name = "kv-append"
    functions = frozenset({"get", "put", "append"})

    @override
    def validate(self, operation: Operation) -> None:
        if operation.f not in self.functions:
            raise unknown_function(self, operation)
        if operation.f != "get":
            string_of(operation.f, operation.input)
        elif operation.status == "ok":
            string_of(operation.f, operation.output)

    def calls_of(self, columns: Columns) -> StringCalls:
        """Returns the calls on the strings of all keys."""
        return string_calls(columns, self.name, self.functions)

    @override
    def init(self) -> Hashable:
        return ""

    @override
    def calls(self, operations: Sequence[Operation]) -> list[Hashable | None]:
        return [_call(operation) for operation in operations]

    @override
    def step(self, state: Hashable, call: Hashable) -> Hashable | None:
        assert isinstance(call, tuple)
        f, value = call
        if f == "get":
            return state if state == value else None
        if f == "put":
            return str(value)
        return state + str(value) if isinstance(state, str) else state

    @override
    def is_pure(self, call: Hashable) -> bool:
        assert isinstance(call, tuple)
        return bool(call[0] == "get")

    @override
    def normal_form(self, calls: Sequence[Hashable]) -> Callable[[Hashable], Hashable]:
        read = sorted(
            {str(call[1]) for call in calls if isinstance(call, tuple) and call[0] == "get"}
        )

        def normal(state: Hashable) -> Hashable:
            if not isinstance(state, str):
                return state
            place = bisect_left(read, state)
            is_begun = place < len(read) and read[place].startswith(state)
            return state if is_begun else _UNREAD

        return normal

    @override
    def any_state(
        self, starts: Sequence[Hashable], history: Sequence[Hashable], window: Sequence[Hashable]
    ) -> Sequence[Hashable] | None:
        read = {str(call[1]) for call in window if isinstance(call, tuple) and call[0] == "get"}
        if sum(map(len, read)) > _MOST_BEGINNINGS:
            return None
        pieces = tuple(
            str(call[1]) for call in history if isinstance(call, tuple) and call[0] != "get"
        )
        begun = {text[:end] for text in read for end in range(len(text) + 1)}
        known = begun.intersection(starts)
        return [*sorted(known | {one for one in begun if one.endswith(pieces)}), _UNREAD]

    @override
    def describe(self, state: Hashable) -> str:
        return f"value {state!r}" if isinstance(state, str) else _UNREAD[0]


def _call(operation: Operation) -> Hashable | None:
    if operation.f == "get":
        return ("get", operation.output or "") if operation.status == "ok" else None
    return (operation.f, operation.input)
