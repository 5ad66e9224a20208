"""A store of strings: get, put, append; each key initially the empty string.

Each key holds one string; null, the answer of a get without a string, equals the empty string. Not
here: lists with unique elements, whose order a single read gives away.
"""

import json
from bisect import bisect_left
from collections.abc import Callable, Collection, Container, Hashable, Iterable, Sequence
from itertools import pairwise
from typing import Final

from typing_extensions import override

from kraftproof.checkers.calls.strings import StringCalls, string_calls, string_of
from kraftproof.checkers.history.columns import Columns
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.models import unknown_function
from kraftproof.checkers.models.reducible import ReducibleModel
from kraftproof.checkers.models.starting import Step
from kraftproof.checkers.models.string_reasons import string_reason
from kraftproof.checkers.text import as_json

_UNREAD: Final = ("a value that no get begins with",)
"""Stands for every string that no get of the history begins with: an append leads to another such
string, and only a put leads away from them. A state that equals no string.
"""

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
        """Return the calls on the strings of all keys."""
        return string_calls(columns, self.name, self.functions)

    def starting_with(self, value: object) -> Sequence[Step]:
        """Return the put of the string that the key holds at first."""
        if value is not None and not isinstance(value, str):
            raise ValueError(f"a key of kv-append starts with a string, not {as_json(value)}")
        return [("put", value, value)] if value else []

    def reason(self, operations: Sequence[Operation], wrong: Operation) -> str | None:
        """Return why the key can't have held the string that a get answered."""
        return string_reason(operations, wrong)

    @override
    def init(self) -> Hashable:
        return ""

    @override
    def calls(self, operations: Sequence[Operation]) -> list[Hashable | None]:
        about = [(operation, _answer_or_input(operation)) for operation in operations]
        cut = _cutter({text for one, text in about if one.f != "get" and text})
        return [None if text is None else (one.f, text, cut(text)) for one, text in about]

    @override
    def step(self, state: Hashable, call: Hashable) -> Hashable | None:
        assert isinstance(call, tuple)
        f, value, _ = call
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
    def candidate_causes(
        self, calls: Collection[Hashable], others: Collection[Hashable]
    ) -> Collection[Hashable]:
        """A piece that no other get contains makes every get illegal until the next put."""
        observed = (call for call in others if isinstance(call, tuple))
        read = sorted({str(value) for f, value, _ in observed if f == "get"})
        longest = [one for one, after in pairwise([*read, ""]) if not after.startswith(one)]
        texts = "\n".join(longest)
        return [call for call in calls if isinstance(call, tuple) and str(call[1]) in texts]

    @override
    def any_state(
        self, starts: Sequence[Hashable], history: Sequence[Hashable], window: Sequence[Hashable]
    ) -> Sequence[Hashable] | None:
        read = {str(call[1]) for call in window if isinstance(call, tuple) and call[0] == "get"}
        if sum(map(len, read)) > _MOST_BEGINNINGS:
            return None
        written = {str(call[1]) for call in history if isinstance(call, tuple) and call[0] != "get"}
        begun = {text[:end] for text in read for end in range(len(text) + 1)}
        known = begun.intersection([*starts, *written])
        pieces = tuple(written - {""})
        return [*sorted(known | {one for one in begun if one.endswith(pieces)}), _UNREAD]

    @override
    def values(self, call: Hashable) -> frozenset[Hashable]:
        """Return the pieces; a put concerns every piece, as it removes all pieces."""
        assert isinstance(call, tuple)
        f, _, pieces = call
        return frozenset(() if f == "put" else pieces or ())

    @override
    def without(self, call: Hashable, values: Container[Hashable]) -> Hashable | None:
        """Take pieces out of what is written and read alike.

        A string is cut into pieces in only one way, so equal strings stay equal.
        """
        assert isinstance(call, tuple)
        f, _, pieces = call
        if pieces is None:
            return call
        left = tuple(piece for piece in pieces if piece not in values)
        return None if f == "append" and not left else (f, "".join(left), left)

    @override
    def describe_call(self, call: Hashable) -> str | None:
        assert isinstance(call, tuple)
        f, value, _ = call
        observed = json.dumps(value, ensure_ascii=False)
        return f"get -> {observed} without other pieces" if f == "get" else f"{f} {observed}"

    @override
    def describe(self, state: Hashable) -> str:
        return f"value {state!r}" if isinstance(state, str) else _UNREAD[0]


def _answer_or_input(operation: Operation) -> str | None:
    """Return the answer of an operation, or the value written; None for a get without an answer."""
    if operation.f != "get":
        return str(operation.input)
    return str(operation.output or "") if operation.status == "ok" else None


def _cutter(pieces: Iterable[str]) -> Callable[[str], tuple[str, ...] | None]:
    """Return a function that cuts a string into pieces; no piece may be a prefix of another.

    The function returns None for a string that the pieces do not form, and for every string if a
    piece is a prefix of another piece.
    """
    known = {piece: piece for piece in sorted(pieces)}
    lengths = sorted({len(piece) for piece in known})
    if any(longer.startswith(piece) for piece, longer in pairwise(known)):
        lengths = []

    def cut(text: str) -> tuple[str, ...] | None:
        found, end = [], 0
        while end < len(text):
            ends = (end + n for n in lengths if text[end : end + n] in known)
            after = next(ends, None)
            if after is None:
                return None
            found.append(known[text[end:after]])
            end = after
        return tuple(found)

    return cut
