"""Lists that are appended to and read whole: append, read, and txn of both; initially empty.

A `txn` takes [["append", list, value] | ["r", list, null], ...] and answers the same actions with
the values read, as Jepsen's list-append does; all actions are atomic. `append` and `read` are about
one list a key. Elements are compared as JSON. The check is strict serializability, which for single
operations is linearizability.
"""

from collections.abc import Container, Hashable, Iterable, Mapping, Sequence
from itertools import chain, repeat

import msgspec
from typing_extensions import override

from kraftproof.checkers.calls.lists.lists import (
    OWN_LIST,
    ListCalls,
    actions_of,
    list_calls,
    values_of,
)
from kraftproof.checkers.calls.values import canonical
from kraftproof.checkers.history.columns import Columns
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.models import unknown_function
from kraftproof.checkers.models.list_order_hints import order_of_appends
from kraftproof.checkers.models.list_reasons import list_reason
from kraftproof.checkers.models.listing import listed
from kraftproof.checkers.models.reducible import AllBut, Events, OrderHint, ReducibleModel
from kraftproof.checkers.models.starting import Step, plain_name, require_list


class ListAppend(ReducibleModel):
    """Lists; the state is (name, elements) of the non-empty lists, by name."""

    name = "list-append"
    functions = frozenset({"append", "read", "txn"})
    names_anomalies = True

    @override
    def validate(self, operation: Operation) -> None:
        if operation.f not in self.functions:
            raise unknown_function(self, operation)
        is_answered = operation.status == "ok"
        values_of(operation.f, operation.input, operation.output, is_answered=is_answered)

    def calls_of(self, columns: Columns) -> ListCalls:
        """Return the calls on the lists of all keys."""
        return list_calls(ListCalls, columns, self.name, self.functions)

    def places(self, key: str, operations: Iterable[Operation]) -> Mapping[str, str]:
        """Return the lists that operations name; `append` and `read` are about the key's own."""
        names = {name for one in operations for name in _lists_named(one)}
        return {name: key if name == OWN_LIST else plain_name(name) for name in names}

    def starting_with(self, value: object) -> Sequence[Step]:
        """Return the appends of what the lists hold at first."""
        assert isinstance(value, dict)
        steps: list[Step] = []
        for name, held in value.items():
            elements = require_list(held, "a list of list-append starts with a list of elements")
            if name == OWN_LIST:
                steps += [("append", element, None) for element in elements]
            elif elements:
                actions = [["append", msgspec.json.decode(name), one] for one in elements]
                steps.append(("txn", actions, actions))
        return steps

    def reason(self, operations: Sequence[Operation], wrong: Operation) -> str | None:
        """Return why an answer is impossible, with the other operations of a cycle."""
        return list_reason(operations, wrong)

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
        lists: dict[str, tuple[str, ...]] = dict(state)
        for is_read, name, value in call:
            held = lists.get(name, ())
            if not is_read:
                lists[name] = (*held, value)
            elif held != value:
                return None
        return tuple(sorted(lists.items()))

    @override
    def is_pure(self, call: Hashable) -> bool:
        assert isinstance(call, tuple)
        return all(is_read for is_read, *_ in call)

    @override
    def weaker(self, call: Hashable) -> Sequence[Hashable]:
        assert isinstance(call, tuple)
        reads = [place for place, action in enumerate(call) if action[0]]
        return [call[:place] + call[place + 1 :] for place in reads if len(call) > 1]

    @override
    def values(self, call: Hashable) -> frozenset[Hashable]:
        assert isinstance(call, tuple)
        observed = (
            zip(repeat(name), value if is_read else (value,)) for is_read, name, value in call
        )
        return frozenset(chain.from_iterable(observed))

    @override
    def without(self, call: Hashable, values: Container[Hashable]) -> Hashable | None:
        assert isinstance(call, tuple)
        remains = [
            (is_read, name, _without(name, value, values)) if is_read else (is_read, name, value)
            for is_read, name, value in call
            if is_read or (name, value) not in values
        ]
        return tuple(remains) or None

    @override
    def update_order(
        self, calls: Sequence[Hashable], events: Sequence[Events]
    ) -> Sequence[OrderHint | None] | None:
        """Appends of one list each, in the order of the list's longest read."""
        actions = [call[0] for call in calls if isinstance(call, tuple) and len(call) == 1]
        return order_of_appends(actions, events) if len(actions) == len(calls) else None

    @override
    def describe_call(self, call: Hashable) -> str | None:
        assert isinstance(call, tuple)
        return "; ".join(
            f"read {_named(name)}[{','.join(value)}]"
            if is_read
            else f"append {_named(name)}{value}"
            for is_read, name, value in call
        )

    @override
    def describe(self, state: Hashable) -> str:
        assert isinstance(state, tuple)
        observed = (f"{_named(name)}[{listed(elements)}]" for name, elements in state)
        return ", ".join(observed) or "nothing appended"


def _without(
    name: str, elements: Sequence[str], values: Container[Hashable]
) -> tuple[Hashable, ...]:
    """Return elements of a list without those left out; quick where few of many are kept."""
    if isinstance(values, AllBut):
        kept = {one[1] for one in values.kept if isinstance(one, tuple) and one[0] == name}
        return tuple(filter(kept.__contains__, elements))
    return tuple(one for one in elements if (name, one) not in values)


def _lists_named(operation: Operation) -> Iterable[str]:
    """Return the lists that an operation reads, answered or not."""
    if operation.f != "txn":
        return (OWN_LIST,)
    assert isinstance(operation.input, list)
    return (canonical(action[1]) for action in operation.input)


def _named(name: str) -> str:
    return "" if name == OWN_LIST else f"{name}: "


def _call(operation: Operation) -> Hashable | None:
    """A call is a tuple of its actions; None without actions, as for a read without an answer."""
    is_answered = operation.status == "ok"
    actions = actions_of(operation.f, operation.input, operation.output, is_answered=is_answered)
    return tuple(actions) or None
