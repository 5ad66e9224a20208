"""Moves a search along the returns of one register: the calls open at each, and the rows there."""

import numpy as np

from kraftproof.checkers.calls.register import CAS, READ, WRITE
from kraftproof.checkers.engines.kernels.arrays import Integer
from kraftproof.checkers.engines.register.search.configurations import (
    SCOPE,
    VALUE,
    Key,
    Rows,
    Window,
    answer_reads,
    is_done,
    mark_done,
    pool_add,
    remove_rank,
    width,
)
from kraftproof.checkers.engines.register.search.layout import (
    CALL,
    EXPECTED,
    FIELD,
    INDETERMINATE_WRITE,
    INVOKED,
    KIND,
    RANK,
    SETTLED,
)
from kraftproof.checkers.engines.register.search.open_blocks import trim_ends
from kraftproof.checkers.kernels import bare_kernel


def new_window(ranks: int) -> Window:
    """Return a window that has capacity for so many calls."""
    return Window(
        opened=np.empty(ranks, np.int32),
        at=np.array([-1, 0], np.int64),
        masks=np.zeros((4, (ranks + 63) // 64), np.int64),
    )


@bare_kernel
def step_forward(key: Key, here: Window, there: Window) -> None:
    """Set `there` to the position after that of `here`."""
    position = here.at[0]
    returning, invoked, settled = np.int64(-1), np.int64(0), np.int64(0)
    if position >= 0:
        returning, invoked = (
            np.int64(key.returning[position, RANK]),
            np.int64(key.returning[position, INVOKED]),
        )
        settled = np.int64(key.returning[position, SETTLED])
    settling = key.returning[position + 1, SETTLED] - settled
    count = 0
    for rank in range(here.at[1]):
        if rank == returning:
            continue
        if settling > 0:
            settling -= 1
            continue
        there.opened[count] = here.opened[rank]
        count += 1
    for call in range(invoked + settling, key.returning[position + 1, INVOKED]):
        there.opened[count] = call
        count += 1
    there.at[0], there.at[1] = position + 1, count
    _fill_masks(key, there)


@bare_kernel
def step_back(key: Key, here: Window, there: Window) -> None:
    """Set `there` to the position before that of `here`."""
    position = here.at[0] - 1
    returning, rank = key.returning[position, CALL], key.returning[position, RANK]
    settled = key.returning[position, SETTLED]
    again = key.returning[position + 1, SETTLED] - settled
    count = 0
    for place in range(again + here.at[1]):
        call = key.settling[settled + place] if place < again else here.opened[place - again]
        if call >= key.returning[position, INVOKED]:
            break
        if count == rank:
            there.opened[count] = returning
            count += 1
        there.opened[count] = call
        count += 1
    if count == rank:
        there.opened[count] = returning
        count += 1
    there.at[0], there.at[1] = position, count
    _fill_masks(key, there)


@bare_kernel
def _fill_masks(key: Key, window: Window) -> None:
    """Set the masks of a window."""
    window.masks[:, : key.words] = 0
    for rank in range(window.at[1]):
        kind = key.calls[window.opened[rank], KIND]
        which = (
            3 if kind >= INDETERMINATE_WRITE else 2 if kind == CAS else 1 if kind == WRITE else 0
        )
        window.masks[which, rank >> 6] |= np.int64(1) << (rank & 63)


@bare_kernel
def begin(key: Key, there: Window, rows: Rows, i: Integer, value: Integer) -> None:
    """Set a row to a first configuration; `there` is the window of the first position."""
    for column in range(width(key)):
        rows[i, column] = 0
    rows[i, VALUE] = value
    if key.is_relaxed:
        rows[i, SCOPE] = there.at[1]
    for place in range(key.returning[0, SETTLED]):
        pool_add(key, rows, i, key.calls[key.settling[place], FIELD])
    answer_reads(key, there, rows, i, value, there.at[1])


@bare_kernel
def advance(key: Key, here: Window, there: Window, rows: Rows, i: Integer) -> None:
    """Take a row, in which what returns is done, to the next position."""
    position = here.at[0]
    if position + 1 == key.returns:
        return
    remove_rank(key, rows, i, key.returning[position, RANK])
    invoked = key.returning[position, INVOKED]
    for place in range(key.returning[position, SETTLED], key.returning[position + 1, SETTLED]):
        call = key.settling[place]
        is_used = call < invoked and is_done(rows, i, 0)
        if call < invoked:
            remove_rank(key, rows, i, 0)
        if key.is_relaxed or not is_used:
            pool_add(key, rows, i, key.calls[call, FIELD])
    rank = there.at[1] - 1
    while rank >= 0 and there.opened[rank] >= invoked:
        call = there.opened[rank]
        if key.calls[call, KIND] == READ and key.calls[call, EXPECTED] == rows[i, VALUE]:
            mark_done(rows, i, rank)
        rank -= 1
    _trim(key, there, rows, i)


@bare_kernel
def _trim(key: Key, window: Window, rows: Rows, i: Integer) -> None:
    """Drop what has become of no use, so that equal configurations are equal rows."""
    while rows[i, SCOPE] > 0 and is_done(rows, i, rows[i, SCOPE] - 1):
        rows[i, SCOPE] -= 1
    trim_ends(key, window, rows, i)
