"""The set: add, remove, contains, and read of the whole; initially empty.

`contains` answers true or false, `read` a list; what add and remove answer does not count. Elements
are compared as JSON. Compiled engines decide histories that ask after single elements, and those
that add each element once and read the whole; what does both, or removes and reads the whole, is
searched.
"""

from bisect import bisect_left
from collections.abc import Container, Hashable, Sequence

from typing_extensions import override

from kraftproof.checkers.calls import Calls
from kraftproof.checkers.calls.lists.lists import element_texts, elements_read, list_calls
from kraftproof.checkers.calls.sets import GrowingSetCalls, set_calls
from kraftproof.checkers.calls.values import canonical, require_boolean, require_functions
from kraftproof.checkers.history.columns import Columns
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.models import unknown_function
from kraftproof.checkers.models.listing import listed
from kraftproof.checkers.models.reasons import Membership
from kraftproof.checkers.models.reducible import Events, OrderHint, ReducibleModel
from kraftproof.checkers.models.starting import Step


class Set(ReducibleModel):
    """A set; its state is the elements, sorted."""

    name = "set"
    functions = frozenset({"add", "remove", "contains", "read"})

    @override
    def validate(self, operation: Operation) -> None:
        if operation.f not in self.functions:
            raise unknown_function(self, operation)
        if operation.f != "read":
            _call(operation)
        elif operation.status == "ok":
            elements_read(operation.output)  # and no more: there may be many

    def calls_of(self, columns: Columns) -> Calls | None:
        """Return the calls on all sets.

        None if the history mixes whole reads and element queries.
        """
        require_functions(columns, self.name, self.functions)
        if "read" not in columns.functions:
            return set_calls(columns)
        if {"remove", "contains"}.isdisjoint(columns.functions):
            return list_calls(GrowingSetCalls, columns, self.name, self.functions)
        return None

    def starting_with(self, value: object) -> Sequence[Step]:
        """Return the adds of what the set holds at first."""
        return [("add", element, None) for element in elements_read(value)]

    def reason(self, operations: Sequence[Operation], wrong: Operation) -> str | None:
        """Return an element that cannot have been present, or cannot have been missing."""
        held = Membership(
            adds=[one for one in operations if one.f == "add"],
            removes=[one for one in operations if one.f == "remove"],
        )
        if wrong.f == "contains":
            element = canonical(wrong.input)
            return held.reason(wrong, {element} if wrong.output else set(), {element})
        if wrong.f != "read":
            return None
        assert isinstance(wrong.output, list)
        return held.reason(wrong, set(map(canonical, wrong.output)), None)

    @override
    def init(self) -> Hashable:
        return ()

    @override
    def calls(self, operations: Sequence[Operation]) -> list[Hashable | None]:
        return [_call(operation) for operation in operations]

    @override
    def step(self, state: Hashable, call: Hashable) -> Hashable | None:
        assert isinstance(state, tuple)
        assert isinstance(call, tuple)
        f, value, answer = call
        if f == "read":
            return state if state == answer else None
        place = bisect_left(state, value)
        is_inside = state[place : place + 1] == (value,)
        if f == "contains":
            return state if is_inside == answer else None
        if is_inside == (f == "add"):
            return state
        rest = state[place + 1 :] if is_inside else (value, *state[place:])
        return (*state[:place], *rest)

    @override
    def is_pure(self, call: Hashable) -> bool:
        assert isinstance(call, tuple)
        return call[0] in {"contains", "read"}

    @override
    def values(self, call: Hashable) -> frozenset[Hashable]:
        assert isinstance(call, tuple)
        f, value, answer = call
        return frozenset(answer if f == "read" else (value,))

    @override
    def without(self, call: Hashable, values: Container[Hashable]) -> Hashable | None:
        assert isinstance(call, tuple)
        f, value, answer = call
        if f == "read":
            return (f, value, tuple(one for one in answer if one not in values))
        return None if value in values else call

    @override
    def part(self, call: Hashable) -> Hashable | None:
        assert isinstance(call, tuple)
        return None if call[0] == "read" else str(call[1])

    @override
    def update_order(
        self, calls: Sequence[Hashable], events: Sequence[Events]
    ) -> Sequence[OrderHint | None] | None:
        """Order reads by size, without removals, and each addition before its first read.

        Additions that no read shows come as late as possible.
        """
        about = [call for call in calls if isinstance(call, tuple)]
        reads = sorted({answer for f, _, answer in about if f == "read"}, key=len)
        if not reads or any(f in {"remove", "contains"} for f, _, _ in about):
            return None
        first = {one: place for place, read in reversed([*enumerate(reads)]) for one in read}
        place_of = {read: place for place, read in enumerate(reads)}
        return [
            OrderHint("elements", 2 * place_of[answer] + 1)
            if f == "read"
            else (OrderHint("elements", 2 * first[value]) if value in first else None)
            for f, value, answer in about
        ]

    @override
    def describe_call(self, call: Hashable) -> str | None:
        assert isinstance(call, tuple)
        f, value, answer = call
        return f"read -> [{','.join(answer)}]" if f == "read" else f"{f} {value}"

    @override
    def describe(self, state: Hashable) -> str:
        assert isinstance(state, tuple)
        return f"set {{{listed(state)}}}"


def _call(operation: Operation) -> Hashable | None:
    """A call is (the action, its element, its answer); None for a query without an answer."""
    f, is_answered, answer = operation.f, operation.status == "ok", operation.output
    if f in {"add", "remove"}:
        return (f, canonical(operation.input), None)
    if not is_answered:
        return None
    if f == "contains":
        require_boolean(answer, f)
        return (f, canonical(operation.input), answer)
    return (f, None, tuple(sorted(element_texts(elements_read(answer)))))
