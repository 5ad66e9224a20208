"""The calls of a priority queue laid out for the sweep over its completions."""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.calls.containers import FOUND_NONE, PUT, TAKE, ContainerCalls
from kraftproof.checkers.calls.values import NO_VALUE
from kraftproof.checkers.engines.kernels.chains import chains_of
from kraftproof.checkers.history.columns import NEVER
from kraftproof.checkers.kernels import kernel

Ints = NDArray[np.int64]

NOBODY: Final = -1


class Layout(NamedTuple):
    """The calls of a key, n of them, and their events.

    A call that completed has a lane, which no other has while it is open. A indeterminate put is of
    use only to a take that is known to have taken its value; such values have a slot, which no
    other has between their first indeterminate put and their last take.

    Attributes:
        events: int64[m], ascending in time: 2 * call, and 1 more where it completes.
        action: int8[n], as in `ContainerCalls`.
        rank: int64[n], the value that was put or taken; more than any value for an empty
            take; NO_VALUE for an indeterminate take.
        invoke: int64[n], ascending.
        complete: int64[n].
        lane: int64[n], NOBODY for an indeterminate call.
        slot: int64[n], that of the value, NOBODY where it has none.
        takes: int64[l], the indeterminate takes, by invocation.
        puts: int64[p], the indeterminate puts of use, by value, and those of one by invocation.
        first: int64[v + 2], where those of each value begin.
        lanes: the number of lanes.
        slots: how many slots.
        capacity: so many values are inside at a time at most.
    """

    events: Ints
    action: NDArray[np.int8]
    rank: Ints
    invoke: Ints
    complete: Ints
    lane: Ints
    slot: Ints
    takes: Ints
    puts: Ints
    first: Ints
    lanes: int
    slots: int
    capacity: int


def lay_out(calls: ContainerCalls, start: int, end: int, cut: int) -> Layout:
    """Lay out the calls of a key, with its events up to one."""
    span = slice(start, end)
    action, complete = calls.action[span], calls.complete[span]
    invoke, element = calls.invoke[span], calls.element[span]
    values = int(element.max(initial=NO_VALUE)) + 1
    rank = np.where(action == FOUND_NONE, values, element)
    is_indeterminate = complete == NEVER
    puts, slot, slots = _indeterminate_puts(action, rank, invoke, complete, values)
    lane, sure = np.full(len(action), NOBODY), np.flatnonzero(~is_indeterminate)
    lane[sure], _, lanes = chains_of(invoke[sure], complete[sure], len(sure) + 1)
    takes = np.flatnonzero(is_indeterminate & (action == TAKE))
    begun = np.concatenate((sure, takes, puts))
    moments = np.concatenate((invoke[begun], complete[sure]))
    order = np.argsort(moments)
    events = np.concatenate((2 * begun, 2 * sure + 1))[order[moments[order] <= cut]]
    return Layout(
        events=events,
        action=action,
        rank=rank,
        invoke=invoke,
        complete=complete,
        lane=lane,
        slot=slot,
        takes=takes,
        puts=puts,
        first=np.searchsorted(rank[puts], np.arange(values + 2)).astype(np.int64),
        lanes=lanes,
        slots=slots,
        capacity=_capacity(events, action, rank, values),
    )


def _indeterminate_puts(
    action: NDArray[np.int8], rank: Ints, invoke: Ints, complete: Ints, values: int
) -> tuple[Ints, Ints, int]:
    """Return the useful indeterminate puts, the slot of each call's value, and the slots."""
    observed = np.flatnonzero((action == TAKE) & (complete != NEVER))
    last = np.full(values + 1, -1)
    np.maximum.at(last, rank[observed], complete[observed])
    indeterminate = np.flatnonzero((action == PUT) & (complete == NEVER))
    indeterminate = indeterminate[invoke[indeterminate] < last[rank[indeterminate]]]
    _, firsts = np.unique(rank[indeterminate], return_index=True)
    by_time = indeterminate[np.sort(firsts)]
    taken = rank[by_time]
    slot_of = np.full(values + 2, NOBODY)  # and for NO_VALUE, at the end
    slot_of[taken], _, slots = chains_of(invoke[by_time], last[taken], len(taken) + 1)
    return indeterminate[np.argsort(rank[indeterminate], kind="stable")], slot_of[rank], slots


@kernel
def _capacity(events: Ints, action: NDArray[np.int8], rank: Ints, values: int) -> int:
    """Return how many values can be inside at a time at most."""
    left = np.zeros(values + 1, dtype=np.int64)
    inside, most = 0, 0
    for event in events:
        call = event // 2
        if action[call] == PUT and event % 2 == 0:
            left[rank[call]] += 1
            inside += int(left[rank[call]] == 1)
            most = max(most, inside)
        elif action[call] == TAKE and event % 2 == 1:
            left[rank[call]] -= 1
            inside -= int(left[rank[call]] == 0)
    return most
