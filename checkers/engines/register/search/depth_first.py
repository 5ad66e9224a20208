"""Depth first through the configurations of a register: walks straight through most valid ones.

At each return it goes on with the configuration whose value is asked for soonest, and leaves the
others for later. It only ever says *valid*: the alternatives that it can come back to, and the
configurations that it knows it has left, are bounded in number, and the oldest are forgotten. So
its memory does not depend on the history. How configurations follow each other:
`checkers.engines.register.search.steps`. After Wing and Gong ("Testing and verifying concurrent
objects", 1993) and Lowe ("Testing for linearizability", 2017).
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.calls.register import CAS
from kraftproof.checkers.engines.kernels.arrays import Integer
from kraftproof.checkers.engines.register.search.cas_paths import (
    COUNT,
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
    is_done,
    key_of,
)
from kraftproof.checkers.engines.register.search.dominance import fingerprint
from kraftproof.checkers.engines.register.search.layout import (
    CALL,
    EXPECTED,
    INVOKED,
    KIND,
    POSITION,
    RANK,
    Layout,
)
from kraftproof.checkers.engines.register.search.steps import successors
from kraftproof.checkers.engines.register.search.window import (
    begin,
    new_window,
    step_back,
    step_forward,
)
from kraftproof.checkers.kernels import bare_kernel

RUNNING: Final = 0
VALID: Final = 1
EXHAUSTED: Final = 2

TOP: Final = 0
SIZE: Final = 1
WORK: Final = 2
KEY: Final = 3
FURTHEST: Final = 4
VALUE_THERE: Final = 5
CHANCE: Final = 6


class Descent(NamedTuple):
    """What a search works with.

    Attributes:
        rows: int64[., .], a ring of the alternatives that are left.
        positions: int32[.], the position of each.
        seen: int64[2^.], fingerprints of configurations that were looked at, by their last bits.
        row: int64[1, .], the configuration looked at.
        here: the calls open at a position.
        there: the calls open at the next one.
        at: int64[7], TOP of the ring, its SIZE, how much WORK was done, the KEY's number, and the
            FURTHEST position reached with the VALUE_THERE; and CHANCE, the state of a generator
            that now and then chooses another way than the best, 0 for never.
    """

    rows: Rows
    positions: NDArray[np.int32]
    seen: NDArray[np.int64]
    row: Rows
    here: Window
    there: Window
    at: Rows


def new_descent(columns: int, ranks: int, capacity: int) -> Descent:
    """Return an empty search.

    Args:
        columns: of its rows.
        ranks: how many calls are open at a time, at most.
        capacity: for how many alternatives; a power of two.
    """
    return Descent(
        rows=np.zeros((capacity, columns), np.int64),
        positions=np.zeros(capacity, np.int32),
        seen=np.zeros(16 * capacity, np.int64),
        row=np.zeros((1, columns), np.int64),
        here=new_window(ranks),
        there=new_window(ranks),
        at=np.zeros(7, np.int64),
    )


@bare_kernel
def descend(
    layout: Layout,
    keys: NDArray[np.int64],
    ends: Integer,
    descent: Descent,
    workspace: Workspace,
    work: Integer,
    is_resumed: bool,  # noqa: FBT001 a kernel takes no keywords
    found: NDArray[np.int64],
) -> None:
    """Search the keys in turn.

    Args:
        layout: the calls.
        keys: int64[m], the numbers of the keys.
        ends: how many open blocks a row has capacity for; others are forgotten.
        descent: what it works with; rows at least as wide as those of any of the keys.
        workspace: likewise.
        work: about how much work a key may cost, or if negative, how much per return.
        is_resumed: whether to go on with the descent as it is; then m is 1.
        found: int64[m, 3], set to VALID, EXHAUSTED or RUNNING, the furthest position reached, and
            a value there.
    """
    for j in range(len(keys)):
        key = key_of(layout, keys[j], ends, is_relaxed=False)
        if key.returns == 0:
            found[j, 0] = VALID
        else:
            descent.at[KEY] = keys[j]
            if not is_resumed:
                _start(key, descent)
            budget = work if work > 0 else -work * (key.returns + 64)
            found[j, 0] = _run(key, descent, workspace, budget)
            found[j, 1], found[j, 2] = descent.at[FURTHEST], descent.at[VALUE_THERE]


@bare_kernel
def _start(key: Key, descent: Descent) -> None:
    """Set a search to the first configuration."""
    descent.at[TOP] = descent.at[SIZE] = descent.at[WORK] = 0
    descent.at[FURTHEST] = -1
    descent.there.at[0], descent.there.at[1] = -1, 0
    step_forward(key, descent.there, descent.here)
    begin(key, descent.here, descent.row, 0, 0)
    _push(key, descent, descent.row, 0, 0)


@bare_kernel
def _run(key: Key, descent: Descent, workspace: Workspace, work: Integer) -> Integer:
    """Go on until it is decided or about so much work was done: RUNNING, VALID or EXHAUSTED."""
    at, row = descent.at, descent.row
    end = at[WORK] + work
    workspace.at[STANDS_FOR] = -1
    here, there = descent.here, descent.there
    while at[SIZE] > 0:
        copy_row(key, descent.rows, at[TOP], row, 0)
        position = np.int64(descent.positions[at[TOP]])
        at[SIZE] -= 1
        at[TOP] = (at[TOP] - 1) % len(descent.rows)
        while True:
            here, there = _moved(key, here, there, position)
            if position > at[FURTHEST]:
                at[FURTHEST], at[VALUE_THERE] = position, row[0, VALUE]
            if _is_seen(key, here, descent, position):
                break
            successors(key, here, there, row, 0, workspace)
            at[WORK] += 1 + workspace.at[COUNT] + workspace.at[TRIED]
            if workspace.at[COUNT] == 0:
                break
            position += 1
            if position == key.returns:
                return VALID
            _choose(key, there, descent, workspace, position)
            if at[WORK] >= end:
                _push(key, descent, row, 0, position)
                return RUNNING
    return EXHAUSTED


@bare_kernel
def _moved(key: Key, here: Window, there: Window, position: Integer) -> tuple[Window, Window]:
    """Return the windows of a position, no later than the next, and of the one after it."""
    if here.at[0] + 1 == position:
        here, there = there, here
    while here.at[0] > position:
        step_back(key, here, there)
        here, there = there, here
    if position + 1 < key.returns:
        step_forward(key, here, there)
    return here, there


@bare_kernel
def _push(key: Key, descent: Descent, rows: Rows, i: Integer, position: Integer) -> None:
    """Put a configuration on the ring; the oldest makes capacity if it is full."""
    at = descent.at
    at[TOP] = (at[TOP] + 1) % len(descent.rows)
    at[SIZE] = min(at[SIZE] + 1, len(descent.rows))
    copy_row(key, rows, i, descent.rows, at[TOP])
    descent.positions[at[TOP]] = position


@bare_kernel
def _is_seen(key: Key, here: Window, descent: Descent, position: Integer) -> bool:
    """Return whether the configuration is known to have been looked at, and remembers it."""
    if is_done(descent.row, 0, key.returning[position, RANK]):
        return False  # it has one successor: that one is remembered
    found = fingerprint(key, descent.row, 0, descent.at[KEY], position)
    slot = found & (len(descent.seen) - 1)
    if descent.seen[slot] == found:
        return True
    descent.seen[slot] = found
    return False


@bare_kernel
def _choose(
    key: Key, there: Window, descent: Descent, workspace: Workspace, position: Integer
) -> None:
    """Go on with the successor whose value is asked for soonest; the others wait, best on top."""
    count = workspace.at[COUNT]
    best = count - 1
    if count > 1:
        wants = workspace.reached
        for place in range(count):
            wants[place] = _next_want(key, there, workspace.rows, place, position)
        for place in range(count - 1, -1, -1):
            if wants[place] <= wants[best]:
                best = place
        if descent.at[CHANCE] > 0:
            drawn = (descent.at[CHANCE] * 1103515245 + 12345) & 0x7FFFFFFF
            descent.at[CHANCE] = drawn
            if (drawn >> 16) % 16 == 0:
                best = (drawn >> 20) % count
        for place in range(count - 1, -1, -1):
            if place != best:
                _push(key, descent, workspace.rows, place, position)
    copy_row(key, workspace.rows, best, descent.row, 0)


@bare_kernel
def _next_want(key: Key, there: Window, rows: Rows, i: Integer, position: Integer) -> Integer:
    """Return the position at which a call that needs a row's value returns, as far as one looks.

    That is a compare-and-set that is open and not placed, or a call that is yet to be invoked.
    """
    value = rows[i, VALUE]
    soonest: Integer = position + 2 * there.at[1] + 8
    for rank in range(there.at[1]):
        call = there.opened[rank]
        if (
            key.calls[call, KIND] == CAS
            and key.calls[call, EXPECTED] == value
            and not is_done(rows, i, rank)
        ):
            soonest = min(soonest, key.calls[call, POSITION])
    soonest = min(soonest, key.returns)
    invoked = key.returning[position, INVOKED]
    for later in range(position, soonest):
        call = key.returning[later, CALL]
        if call >= invoked and key.calls[call, EXPECTED] == value:
            return later
    return soonest
