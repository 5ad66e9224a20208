"""Lay out the operations of a key for a search: the returns, and the operations open at each.

The plan holds no search state and takes no decision; see `checkers.engines.wgl.search`. Required
operations get a bit each, reused after their return; indeterminate operations are numbered by
invocation and grouped by call.
"""

from bisect import insort
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush

from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.models import SequentialModel


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The operations of a key in the order in which a search meets them.

    Attributes:
        operations: those that may have happened, by invocation.
        calls: each operation's call.
        bits: each required operation's bit.
        returns: the required operations in the order of their completions.
        open_pure: for each completion, the required operations open at it whose calls are pure.
        open_updates: the same for the others; the first to return comes last.
        indeterminate: the distinct indeterminate calls, by first invocation, with their numbers.
        indeterminate_before: for each completion, how many indeterminate calls were invoked before
        it.
    """

    operations: list[Operation]
    calls: list[Hashable]
    bits: list[int]
    returns: list[int]
    open_pure: list[tuple[int, ...]]
    open_updates: list[tuple[int, ...]]
    indeterminate: list[tuple[Hashable, list[int]]]
    indeterminate_before: list[int]


def make_plan(model: SequentialModel, operations: Sequence[Operation]) -> Plan:
    """Return the plan of a search, without what failed or constrains nothing."""
    happened = sorted(
        (operation for operation in operations if operation.status != "fail"),
        key=lambda operation: operation.invoke_index,
    )
    called = zip(happened, model.calls(happened), strict=True)
    return plan_of(model, [(operation, call) for operation, call in called if call is not None])


def plan_of(model: SequentialModel, kept: list[tuple[Operation, Hashable]]) -> Plan:
    """Return the plan of a search over calls, by invocation; those that are not ok may not be."""
    plan = Plan(
        operations=[operation for operation, _ in kept],
        calls=[call for _, call in kept],
        bits=[0] * len(kept),
        returns=[],
        open_pure=[],
        open_updates=[],
        indeterminate=_indeterminate(kept),
        indeterminate_before=[],
    )
    _sweep(model, plan)
    return plan


def _indeterminate(kept: list[tuple[Operation, Hashable]]) -> list[tuple[Hashable, list[int]]]:
    grouped: dict[Hashable, list[int]] = {}
    calls = [call for operation, call in kept if operation.status != "ok"]
    for place, call in enumerate(calls):
        grouped.setdefault(call, []).append(place)
    return list(grouped.items())


def _sweep(model: SequentialModel, plan: Plan) -> None:
    """Pass the events in real time, and writes down at each completion what is open."""
    events: list[tuple[int, int]] = []
    for number, operation in enumerate(plan.operations):
        events.append((operation.invoke_index, number))
        if operation.status == "ok":
            events.append((_over(operation), number))
    events.sort()
    pure = [model.is_pure(call) for call in plan.calls]
    bits = _FreeBits()
    opened: dict[bool, list[int]] = {True: [], False: []}
    indeterminate = 0
    for event, number in events:
        operation = plan.operations[number]
        if operation.status != "ok":
            indeterminate += 1
        elif event == operation.invoke_index:
            insort(opened[pure[number]], number, key=lambda n: -_over(plan.operations[n]))
            plan.bits[number] = bits.take()
        else:
            plan.returns.append(number)
            plan.open_pure.append(tuple(opened[True]))
            plan.open_updates.append(tuple(opened[False]))
            plan.indeterminate_before.append(indeterminate)
            opened[pure[number]].remove(number)
            bits.give_back(plan.bits[number])


def _over(operation: Operation) -> int:
    assert operation.complete_index is not None
    return operation.complete_index


class _FreeBits:
    """Bits for masks; the lowest free one first."""

    def __init__(self) -> None:
        self._free: list[int] = []
        self._made = 0

    def take(self) -> int:
        if self._free:
            return heappop(self._free)
        self._made += 1
        return 1 << (self._made - 1)

    def give_back(self, bit: int) -> None:
        heappush(self._free, bit)
