"""The frontier: all configurations of a register that are possible after the returns so far.

The sweep passes the returns in order, breadth first. If a configuration can do whatever another can
(`checkers.engines.register.search.dominance`), the other is dropped. If none is left, no legal
order reaches the return: invalid. The sweep is exact: for lack of capacity it stops, and drops
nothing. See `checkers.engines.register.search.steps` for the successors of a configuration.

Memory is bounded by the open calls at a time and the distinct indeterminate calls, not by the
length. The worst case is exponential in both; the problem is NP-complete (Gibbons and Korach,
"Testing shared memories", 1997).
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.engines.kernels.arrays import Integer
from kraftproof.checkers.engines.register.search.cas_paths import (
    CAPACITY,
    COUNT,
    LACKING,
    NOTHING,
    STANDS_FOR,
    TRIED,
    Workspace,
)
from kraftproof.checkers.engines.register.search.configurations import (
    VALUE,
    Key,
    Rows,
    Window,
    copy_row,
    key_of,
)
from kraftproof.checkers.engines.register.search.dominance import covers, kinship
from kraftproof.checkers.engines.register.search.layout import Layout, Numbers
from kraftproof.checkers.engines.register.search.steps import successors
from kraftproof.checkers.engines.register.search.window import begin, new_window, step_forward
from kraftproof.checkers.kernels import bare_kernel

RUNNING: Final = 0
VALID: Final = 1
ILLEGAL: Final = 2
FULL: Final = 3
LACKS_CAPACITY: Final = 4
LACKS_ENDS: Final = 5

POSITION: Final = 0
NEXT: Final = 1
SIZE: Final = 2
FOLLOWING: Final = 3
WORK: Final = 4

_DEAD: Final = -2
_NONE: Final = -1


class Frontier(NamedTuple):
    """A search that can be left and taken up again.

    Attributes:
        even: int64[., .], the configurations at even positions; SIZE or FOLLOWING of them.
        odd: the same at odd ones.
        heads: int32[.], the first of the following configurations of each bucket.
        links: int32[.], the next one in the bucket.
        even_window: the calls open at even positions.
        odd_window: the same at odd ones.
        at: int64[5], POSITION, NEXT configuration to look at, their number (SIZE), the number of
            those FOLLOWING, and how much WORK was done.
    """

    even: Rows
    odd: Rows
    heads: Numbers
    links: Numbers
    even_window: Window
    odd_window: Window
    at: Rows


def new_frontier(columns: int, ranks: int, capacity: int) -> Frontier:
    """Return an empty frontier.

    Args:
        columns: of its rows.
        ranks: how many calls are open at a time, at most.
        capacity: for how many configurations.
    """
    return Frontier(
        even=np.zeros((capacity, columns), np.int64),
        odd=np.zeros((capacity, columns), np.int64),
        heads=np.empty(capacity // 4 + 64, np.int32),
        links=np.empty(capacity, np.int32),
        even_window=new_window(ranks),
        odd_window=new_window(ranks),
        at=np.zeros(5, np.int64),
    )


def enlarged(frontier: Frontier, columns: int, capacity: int) -> Frontier:
    """Return the same frontier with more columns or more capacity; it repeats its last step."""
    larger = new_frontier(columns, len(frontier.even_window.opened), capacity)
    size, narrow = frontier.at[SIZE], frontier.even.shape[1]
    for rows, source in ((larger.even, frontier.even), (larger.odd, frontier.odd)):
        rows[:size, :narrow] = source[:size]
    larger.heads[:] = _NONE
    frontier.at[NEXT] = frontier.at[FOLLOWING] = 0
    return larger._replace(
        even_window=frontier.even_window, odd_window=frontier.odd_window, at=frontier.at
    )


@bare_kernel
def sweep(
    layout: Layout,
    keys: NDArray[np.int64],
    ends: Integer,
    frontier: Frontier,
    workspace: Workspace,
    work: Integer,
    is_resumed: bool,  # noqa: FBT001 a kernel takes no keywords
    is_relaxed: bool,  # noqa: FBT001
    found: NDArray[np.int64],
) -> None:
    """Sweep the keys in turn, with the same frontier.

    Args:
        layout: The calls.
        keys: int64[m], the numbers of the keys.
        ends: The number of open blocks for which a row has capacity.
        frontier: The workspace; rows at least as wide as those of any key.
        workspace: Likewise.
        work: The approximate work for a key.
        is_resumed: Whether to continue the frontier; then m is 1.
        is_relaxed: Whether to start with any value, and never to use up settled indeterminate
            calls. Then VALID proves nothing, and STUCK proves that no order passes this or an
            earlier return. The frontier must have capacity for as many rows as a key has values.
        found: int64[m, 6], set to the status of each key, the position, and if STUCK up to four
            values with which legal orders get there, -1 for none.
    """
    for j in range(len(keys)):
        key = key_of(layout, keys[j], ends, is_relaxed)
        found[j] = -1
        if key.returns == 0:
            found[j, 0] = VALID
            continue
        if not is_resumed:
            start(key, frontier)
        found[j, 0] = run(key, frontier, workspace, work)
        found[j, 1] = frontier.at[POSITION]
        if found[j, 0] == ILLEGAL:
            _tell_values(frontier, found[j, 2:])


@bare_kernel
def _tell_values(frontier: Frontier, values: NDArray[np.int64]) -> None:
    """Write down some distinct values of the configurations."""
    rows = frontier.even if frontier.at[POSITION] % 2 == 0 else frontier.odd
    count = 0
    for place in range(frontier.at[SIZE]):
        is_observed = False
        for other in range(count):
            is_observed |= values[other] == rows[place, VALUE]
        if not is_observed and count < len(values):
            values[count] = rows[place, VALUE]
            count += 1


@bare_kernel
def start(key: Key, frontier: Frontier) -> None:
    """Set a frontier to the first configuration, or if relaxed, to one for each value."""
    even, odd = frontier.even_window, frontier.odd_window
    odd.at[0], odd.at[1] = -1, 0
    step_forward(key, odd, even)
    frontier.at[:] = 0
    frontier.at[SIZE] = len(key.wanted) if key.is_relaxed else 1
    for value in range(frontier.at[SIZE]):
        begin(key, even, frontier.even, value, value)
    _enter(key, frontier)


@bare_kernel
def _enter(key: Key, frontier: Frontier) -> None:
    """Make ready for the successors at the next position."""
    is_even = frontier.at[POSITION] % 2 == 0
    here = frontier.even_window if is_even else frontier.odd_window
    there = frontier.odd_window if is_even else frontier.even_window
    frontier.heads[:] = _NONE
    frontier.at[NEXT], frontier.at[FOLLOWING] = 0, 0
    if frontier.at[POSITION] + 1 < key.returns:
        step_forward(key, here, there)


@bare_kernel
def run(key: Key, frontier: Frontier, workspace: Workspace, work: Integer) -> Integer:
    """Continue until a decision, a lack of capacity, or about the given work.

    Returns:
        RUNNING; VALID; ILLEGAL at POSITION; FULL, if the frontier has no capacity; LACKS_CAPACITY,
        if the successors have none; LACKS_ENDS, if a row has no capacity for an open block. After
        RUNNING the sweep can continue; after the last three, with larger arrays.
    """
    at = frontier.at
    end = at[WORK] + work
    workspace.at[STANDS_FOR] = -1
    while True:
        is_even = at[POSITION] % 2 == 0
        here = frontier.even_window if is_even else frontier.odd_window
        there = frontier.odd_window if is_even else frontier.even_window
        rows = frontier.even if is_even else frontier.odd
        following = frontier.odd if is_even else frontier.even
        while at[NEXT] < at[SIZE]:
            if at[WORK] >= end:
                return RUNNING
            successors(key, here, there, rows, at[NEXT], workspace)
            at[WORK] += 1 + workspace.at[COUNT] + workspace.at[TRIED]
            if workspace.at[LACKING] != NOTHING:
                return LACKS_CAPACITY if workspace.at[LACKING] == CAPACITY else LACKS_ENDS
            if at[POSITION] + 1 == key.returns:
                if workspace.at[COUNT] > 0:
                    return VALID
            elif not _insert_all(key, there, following, frontier, workspace):
                return FULL
            at[NEXT] += 1
        if at[FOLLOWING] == 0:
            return ILLEGAL
        at[SIZE] = _drop_dead(key, following, frontier)
        at[POSITION] += 1
        _enter(key, frontier)


@bare_kernel
def _insert_all(
    key: Key, there: Window, following: Rows, frontier: Frontier, workspace: Workspace
) -> bool:
    """Add the successors; return False if there is no capacity."""
    for place in range(workspace.at[COUNT]):
        if frontier.at[FOLLOWING] == len(following):
            return False
        _insert(key, there, following, frontier, workspace.rows, place)
    return True


@bare_kernel
def _insert(
    key: Key, there: Window, following: Rows, frontier: Frontier, rows: Rows, i: Integer
) -> None:
    """Add a row unless another covers it, and drop the rows that it covers."""
    heads, links, at = frontier.heads, frontier.links, frontier.at
    bucket = kinship(key, there, rows, i) % len(heads)
    free, previous, place = np.int64(_NONE), np.int64(_NONE), np.int64(heads[bucket])
    while place != _NONE:
        after = np.int64(links[place])
        at[WORK] += 1
        if covers(key, there, following, place, rows, i):
            return
        if covers(key, there, rows, i, following, place):
            links[place] = _DEAD
            free = place
            if previous == _NONE:
                heads[bucket] = after
            else:
                links[previous] = after
        else:
            previous = place
        place = after
    if free == _NONE:
        free = at[FOLLOWING]
        at[FOLLOWING] += 1
    copy_row(key, rows, i, following, free)
    links[free] = heads[bucket]
    heads[bucket] = free


@bare_kernel
def _drop_dead(key: Key, following: Rows, frontier: Frontier) -> Integer:
    """Move the rows that were not dropped together, and returns their count."""
    count = 0
    for place in range(frontier.at[FOLLOWING]):
        if frontier.links[place] != _DEAD:
            if count != place:
                copy_row(key, following, place, following, count)
            count += 1
    return count
