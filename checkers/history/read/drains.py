"""Replaces each `drain` by its takes: [1, 2] becomes two takes, of 1 and then of 2.

As in Jepsen, a drain does not show what remained: a drain without elements becomes no take. A drain
without an answer may have taken all elements that were put and that no answer contains. If no other
operation overlapped the drain, its takes follow one another; otherwise each take may lie anywhere
within the drain, so that no legal history is called illegal. Later events get greater numbers, to
make capacity.
"""

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import accumulate, chain
from typing import Final

import msgspec

from kraftproof.checkers.history.operations import Operation

DRAIN: Final = "drain"
_TAKES: Final = {"enqueue": "dequeue", "push": "pop", "insert": "delete-min"}
"""The take function of each put function."""


def take_of(functions: Iterable[str]) -> str | None:
    """Return the take function of a drain; None without a drain function."""
    used = set(functions)
    if DRAIN not in used:
        return None
    return next((take for put, take in _TAKES.items() if put in used), "dequeue")


def takes_of(operation: Operation, take: str) -> list[Operation]:
    """Return the takes of a drain, all with the drain's events.

    Other operations are returned unchanged.

    Raises:
        ValueError: the drain answered no list.
    """
    if operation.f != DRAIN:
        return [operation]
    as_take = msgspec.structs.replace(operation, f=take, input=None)
    if operation.status != "ok":
        return [as_take]
    if isinstance(operation.output, list):
        return [msgspec.structs.replace(as_take, output=element) for element in operation.output]
    shown = msgspec.json.encode(operation.output).decode()
    raise ValueError(f"field value: drain answers a list of elements, not {shown}")


def drained(operations: Sequence[Operation], take: str) -> list[Operation]:
    """Return the operations of a history with the takes of its drains, by invocation.

    Raises:
        ValueError: a drain answered no list.
    """
    puts = {put for put, one in _TAKES.items() if one == take}
    lost = _lost(operations, take, puts)
    parts = [_with_lost(one, takes_of(one, take), lost[one.key]) for one in operations]
    capacity = _Capacity(operations, [len(part) for part in parts])
    placed = chain.from_iterable(
        capacity.placed(one, part) for one, part in zip(operations, parts, strict=True)
    )
    ordered = sorted(placed, key=lambda one: one.invoke_index)
    return [msgspec.structs.replace(one, index=place) for place, one in enumerate(ordered)]


def _lost(operations: Iterable[Operation], take: str, puts: set[str]) -> Counter[str]:
    """Return, by key, how many elements were put that no take answered."""
    left: Counter[str] = Counter()
    for one in operations:
        if one.f in puts and one.status != "fail":
            left[one.key] += 1
        elif one.f in {take, DRAIN} and one.status == "ok":
            left[one.key] -= sum(each.output is not None for each in takes_of(one, take))
    return left


def _with_lost(operation: Operation, takes: list[Operation], lost: int) -> list[Operation]:
    if operation.f == DRAIN and operation.status == "info":
        return takes * max(lost, 0)
    return takes


class _Capacity:
    """Maps each event to its place after the events of the takes are inserted."""

    def __init__(self, operations: Sequence[Operation], counts: Sequence[int]) -> None:
        self._events = sorted(chain.from_iterable(map(_events_of, operations)))
        added = [
            (event, count - 1)
            for operation, count in zip(operations, counts, strict=True)
            for event in _events_of(operation)
            if count > 1
        ]
        added.sort()
        self._at = [event for event, _ in added]
        self._before = [0, *accumulate(count for _, count in added)]

    def placed(self, operation: Operation, takes: Sequence[Operation]) -> Iterator[Operation]:
        """Yield the takes of an operation, each with events of its own."""
        begin, end = operation.invoke_index, operation.complete_index
        first = self._moved(begin)
        last = None if end is None else self._moved(end)
        is_alone = end is not None and self._is_alone(begin, end)
        for place, take in enumerate(takes):
            step = 2 * place if is_alone else place
            begun = first + step
            over = None if last is None else last + place
            if is_alone and place < len(takes) - 1:
                over = begun + 1
            yield msgspec.structs.replace(take, invoke_index=begun, complete_index=over)

    def _moved(self, event: int) -> int:
        return event + self._before[bisect_left(self._at, event)]

    def _is_alone(self, begin: int, end: int) -> bool:
        return bisect_left(self._events, end) == bisect_right(self._events, begin)


def _events_of(operation: Operation) -> list[int]:
    ends = [] if operation.complete_index is None else [operation.complete_index]
    return [operation.invoke_index, *ends]
