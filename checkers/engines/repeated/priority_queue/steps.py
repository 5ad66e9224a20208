"""One step of the sweep for an order of a priority queue's calls.

Kernels for `checkers.engines.repeated.priority_queue.sweep`. A state is int32[k]:

    indeterminate takes used; values inside; a mark for each lane; indeterminate puts used, for each
    slot; then of each value inside, the greatest first, which and how many times, and zeros

where a lane is marked if its open call has its place in the order already.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.calls.containers import FOUND_NONE, PUT, TAKE
from kraftproof.checkers.engines.repeated.priority_queue.layout import NOBODY, Ints, Layout
from kraftproof.checkers.kernels import bare_kernel, kernel

State = NDArray[np.int32]

INDETERMINATE: Final = 0
INSIDE: Final = 1
MARKS: Final = 2


class Now(NamedTuple):
    """What is open at a moment.

    Attributes:
        open: int64[lanes], the open call of each lane, NOBODY otherwise.
        moment: int64[1], the event.
        path: int64[p], the calls of the last step, their count first.
    """

    open: Ints
    moment: Ints
    path: Ints


@bare_kernel
def take(layout: Layout, now: Now, state: State, call: int) -> bool:
    """Have a take its place in the order now, after what must be before; return whether it can."""
    rank = layout.rank[call]
    if not clear(layout, now, state, rank):
        return False
    if layout.action[call] == TAKE and not _take_one(layout, now, state, rank):
        return False
    _mark(layout, now, state, call)
    if state[INSIDE] == 0:
        find_none(layout, now, state)
    return True


@bare_kernel
def clear(layout: Layout, now: Now, state: State, rank: int) -> bool:
    """Take all elements below a value, by indeterminate takes if necessary; return the success."""
    while state[INSIDE] > 0:
        least = _least(layout, state)
        if state[least] >= rank:
            break
        call = first_open(layout, now, state, TAKE, state[least])
        if call != NOBODY:
            _mark(layout, now, state, call)
        elif _is_begun(layout, now, layout.takes, state[INDETERMINATE], len(layout.takes)):
            _tell(now, layout.takes[state[INDETERMINATE]])
            state[INDETERMINATE] += 1
        else:
            return False
        _remove_least(layout, state)
    return True


@bare_kernel
def put(layout: Layout, now: Now, state: State, call: int) -> None:
    """Have a put its place in the order now."""
    rank, first = layout.rank[call], pairs(layout)
    place = _least(layout, state)
    while place >= first and state[place] < rank:
        place -= 2
    if place >= first and state[place] == rank:
        state[place + 1] += 1
    else:
        for moved in range(_least(layout, state) + 1, place + 1, -1):
            state[moved + 2] = state[moved]
        state[place + 2], state[place + 3] = rank, 1
        state[INSIDE] += 1
    _mark(layout, now, state, call)


@bare_kernel
def find_none(layout: Layout, now: Now, state: State) -> None:
    """Have all open empty takes their place now."""
    for lane in range(layout.lanes):
        call = now.open[lane]
        if call != NOBODY and layout.action[call] == FOUND_NONE and state[MARKS + lane] == 0:
            _mark(layout, now, state, call)


@bare_kernel
def first_open(layout: Layout, now: Now, state: State, action: int, rank: int) -> int:
    """Return of the open calls of a kind and value that have no place the first to complete."""
    found = NOBODY
    for lane in range(layout.lanes):
        call = now.open[lane]
        if call == NOBODY or layout.action[call] != action or layout.rank[call] != rank:
            continue
        is_sooner = found == NOBODY or layout.complete[call] < layout.complete[found]
        if state[MARKS + lane] == 0 and is_sooner:
            found = call
    return found


@kernel
def open_takes(layout: Layout, now: Now) -> Ints:
    """Return the open takes, equal ones as they complete, by value; last empty takes."""
    found, count = np.empty(layout.lanes, dtype=np.int64), 0
    for call in now.open:
        if call == NOBODY or layout.action[call] == PUT:
            continue
        place = count
        while place > 0 and _is_before(layout, call, found[place - 1]):
            found[place] = found[place - 1]
            place -= 1
        found[place] = call
        count += 1
    return found[:count]


@bare_kernel
def _is_before(layout: Layout, one: int, other: int) -> bool:
    if layout.rank[one] != layout.rank[other]:
        return bool(layout.rank[one] < layout.rank[other])
    return bool(layout.complete[one] < layout.complete[other])


@bare_kernel
def _take_one(layout: Layout, now: Now, state: State, rank: int) -> bool:
    """Take a value, which is put right before if it is not inside; return whether it can."""
    if state[INSIDE] > 0 and state[_least(layout, state)] == rank:
        _remove_least(layout, state)
        return True
    call = first_open(layout, now, state, PUT, rank)
    if call != NOBODY:
        _mark(layout, now, state, call)
        return True
    return _put_indeterminate(layout, now, state, rank)


@bare_kernel
def _put_indeterminate(layout: Layout, now: Now, state: State, rank: int) -> bool:
    first, end = layout.first[rank], layout.first[rank + 1]
    if first == end:
        return False
    used = MARKS + layout.lanes + layout.slot[layout.puts[first]]
    if not _is_begun(layout, now, layout.puts, first + state[used], end):
        return False
    _tell(now, layout.puts[first + state[used]])
    state[used] += 1
    return True


@bare_kernel
def _is_begun(layout: Layout, now: Now, indeterminate: Ints, place: int, end: int) -> bool:
    """Return whether there is an indeterminate call at a place that began before the moment.

    Before the first indeterminate put of a value its slot tells of another value; but then none has
    begun.
    """
    return bool(place < end and layout.invoke[indeterminate[place]] < now.moment[0])


@bare_kernel
def _mark(layout: Layout, now: Now, state: State, call: int) -> None:
    state[MARKS + layout.lane[call]] = 1
    _tell(now, call)


@bare_kernel
def _tell(now: Now, call: int) -> None:
    now.path[0] += 1
    now.path[now.path[0]] = call


@bare_kernel
def pairs(layout: Layout) -> int:
    """Return where in a state the values inside begin."""
    return int(MARKS + layout.lanes + layout.slots)


@bare_kernel
def _least(layout: Layout, state: State) -> int:
    """Return where the least value inside is told; there is one."""
    return int(pairs(layout) + 2 * (state[INSIDE] - 1))


@bare_kernel
def _remove_least(layout: Layout, state: State) -> None:
    least = _least(layout, state)
    state[least + 1] -= 1
    if state[least + 1] == 0:
        state[least] = 0
        state[INSIDE] -= 1
