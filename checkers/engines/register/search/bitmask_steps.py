"""The successors of a register's configuration in machine words, at a return.

A configuration is a value, a mask of the open calls that are done, a mask of those that were open
when the current block began, and a few open blocks. It follows
`checkers.engines.register.search.steps`: each way is legal, but not every way is tried. Only some
open blocks are kept, and the first beginnings of a block.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.calls.register import CAS, READ, WRITE
from kraftproof.checkers.engines.kernels.arrays import Integer
from kraftproof.checkers.engines.register.search.bitmasks import (
    INDETERMINATE,
    OPEN,
    OPEN_UPDATES,
    OPEN_WRITES,
    POSITION,
    READS,
    UPDATES,
    WRITES,
    Masks,
    lowest,
    new_masks,
    soonest_of,
)
from kraftproof.checkers.engines.register.search.configurations import Key
from kraftproof.checkers.engines.register.search.layout import CALL, EXPECTED, KIND, NEW
from kraftproof.checkers.kernels import bare_kernel

VALUE: Final = 0
DONE: Final = 1
SCOPE: Final = 2
PLACE: Final = 3
ENDS: Final = 4
COLUMNS: Final = ENDS + 2 * 12

COUNT: Final = 0
LEADS: Final = 1

_SUCCESSORS: Final = 512
_PATHS: Final = 512

_CURRENT: Final = 0
_EARLIER: Final = 1
_NEW: Final = 2
_NO_END: Final = 0


class Steps(NamedTuple):
    """A configuration, and its successors.

    Attributes:
        masks: The calls open at its position.
        row: int64[.], the configuration: VALUE, DONE, SCOPE, PLACE (the position), and from ENDS on
            the open blocks, each its value and the mask of the calls that may continue it; 0 after
            the last.
        rows: int64[., .], the successors.
        paths: int64[., 2], VALUE and DONE of the beginnings of a block.
        at: int64[2], the COUNT of successors, and the LEADS: bits of the values from which updates
            may lead to the value of the returning call.
    """

    masks: Masks
    row: NDArray[np.int64]
    rows: NDArray[np.int64]
    paths: NDArray[np.int64]
    at: NDArray[np.int64]


def new_steps(calls: int, values: int) -> Steps:
    """Return capacity for keys of so many calls and values at most."""
    return Steps(
        masks=new_masks(calls, values),
        row=np.zeros(COLUMNS, np.int64),
        rows=np.zeros((_SUCCESSORS, COLUMNS), np.int64),
        paths=np.zeros((_PATHS, 2), np.int64),
        at=np.zeros(2, np.int64),
    )


@bare_kernel
def follow(key: Key, steps: Steps) -> None:
    """Works out what the configuration may become, with what returns done."""
    masks, row = steps.masks, steps.row
    steps.at[COUNT] = 0
    returning = key.returning[masks.at[POSITION], CALL]
    if key.calls[returning, KIND] == WRITE:
        _write_returns(key, steps, returning)
        return
    _find_leads(key, steps, returning)
    slot, opened = masks.slots[returning], masks.at[OPEN]
    if steps.at[LEADS] >> (row[VALUE] & 63) & 1:
        _explore(key, steps, row[VALUE], row[DONE], opened, _CURRENT, _NO_END)
    for end in range(ENDS, COLUMNS, 2):
        within = row[end + 1]
        if within == 0:
            break
        if within >> slot & 1 and steps.at[LEADS] >> (row[end] & 63) & 1:
            _explore(key, steps, row[end], row[DONE], within, _EARLIER, end)
    if row[SCOPE] >> slot & 1:
        _start_blocks(key, steps, row[SCOPE], _EARLIER)
    _start_blocks(key, steps, opened, _NEW)


@bare_kernel
def advance(key: Key, steps: Steps, invoked: Integer) -> None:
    """Take the configuration to the position to which the masks have gone.

    Args:
        key: the key.
        steps: the configuration.
        invoked: the bits of the calls that were invoked since.
    """
    masks, row = steps.masks, steps.row
    lasting = masks.at[OPEN] & ~invoked
    row[DONE] = (row[DONE] & lasting) | masks.sets[READS, row[VALUE]]
    row[SCOPE] &= lasting
    row[PLACE] = masks.at[POSITION]
    if row[ENDS + 1] != 0:
        kept: Integer = ENDS
        for end in range(ENDS, COLUMNS, 2):
            value, within = row[end], row[end + 1] & lasting
            row[end] = row[end + 1] = 0
            kept = _leave(masks, row, kept, value, within)


@bare_kernel
def _leave(
    masks: Masks, row: NDArray[np.int64], place: Integer, value: Integer, within: Integer
) -> Integer:
    """Put a loose end at a place if it is of use and there is capacity; return the next place."""
    left = within & masks.at[OPEN] & ~row[DONE] & ~masks.at[OPEN_WRITES]
    required = left & ~masks.at[INDETERMINATE]
    if not left & masks.sets[UPDATES, value] or not required or place == COLUMNS:
        return place
    row[place], row[place + 1] = value, left
    return place + 2


@bare_kernel
def _add(
    steps: Steps,
    value: Integer,
    done: Integer,
    scope: Integer,
    used: Integer,
    end: Integer,
    within: Integer,
) -> None:
    """Add a configuration to the successors, if there is capacity.

    It has the present open blocks, without that in column `used`, and a new one: the block that
    ended with a value, which the calls `within` may continue.
    """
    place, source = steps.at[COUNT], steps.row
    if place == _SUCCESSORS:
        return
    steps.at[COUNT] = place + 1
    row = steps.rows[place]
    row[VALUE], row[DONE], row[SCOPE], row[PLACE] = value, done, scope, source[PLACE]
    kept = _leave(steps.masks, row, ENDS, end, within)
    for column in range(ENDS, COLUMNS, 2):
        if source[column + 1] == 0:
            break
        if column != used:
            kept = _leave(steps.masks, row, kept, source[column], source[column + 1])
    for column in range(kept, COLUMNS):
        row[column] = 0


@bare_kernel
def _write_returns(key: Key, steps: Steps, returning: Integer) -> None:
    """Let an unplaced write return: it stays before the current block, or starts one."""
    masks, value, scope = steps.masks, steps.row[VALUE], steps.row[SCOPE]
    position, opened = masks.at[POSITION], masks.at[OPEN]
    new, slot = key.calls[returning, NEW], masks.slots[returning]
    done = steps.row[DONE] | np.int64(1) << slot
    reads = masks.sets[READS, new]
    if scope >> slot & 1 and value != new and key.wanted[value] > position:
        _add(steps, value, done | (reads & scope), scope, _NO_END, new, scope)
        if key.wanted[new] <= position:
            return
    _add(steps, new, done | reads, opened, _NO_END, value, opened)


@bare_kernel
def _find_leads(key: Key, steps: Steps, returning: Integer) -> None:
    """Set the bits of the values from which unfinished updates may lead to the returning call.

    Values that are equal modulo 64 share a bit, which costs only time.
    """
    masks = steps.masks
    left = masks.at[OPEN_UPDATES] & ~steps.row[DONE] & ~(np.int64(1) << masks.slots[returning])
    leads = np.int64(1) << (key.calls[returning, EXPECTED] & 63)
    is_changed = left != 0
    while is_changed:
        is_changed = False
        lookahead = left
        while lookahead:
            call = masks.calls[lowest(lookahead)]
            if leads >> (key.calls[call, NEW] & 63) & 1:
                leads |= np.int64(1) << (key.calls[call, EXPECTED] & 63)
                left &= ~(lookahead & -lookahead)
                is_changed = True
            lookahead &= lookahead - 1
    steps.at[LEADS] = leads


@bare_kernel
def _start_blocks(key: Key, steps: Steps, within: Integer, way: Integer) -> None:
    """Let each write in some mask start a block that leads to what returns."""
    masks, done = steps.masks, steps.row[DONE]
    left = masks.at[OPEN_WRITES] & within & ~done
    while left:
        bit = left & -left
        new = key.calls[masks.calls[lowest(left)], NEW]
        left ^= bit
        if not steps.at[LEADS] >> (new & 63) & 1:
            continue
        rivals = masks.sets[WRITES, new] & within & ~done
        if rivals == bit or soonest_of(key, masks, rivals) == bit:
            placed = done | bit | (masks.sets[READS, new] & within)
            _explore(key, steps, new, placed, within, way, _NO_END)


@bare_kernel
def _explore(
    key: Key,
    steps: Steps,
    start: Integer,
    done: Integer,
    within: Integer,
    way: Integer,
    used: Integer,
) -> None:
    """Follows updates in some mask from a value to what returns."""
    masks, paths = steps.masks, steps.paths
    returning = key.returning[masks.at[POSITION], CALL]
    wanted, bit = key.calls[returning, EXPECTED], np.int64(1) << masks.slots[returning]
    is_update = key.calls[returning, KIND] == CAS
    paths[0, VALUE], paths[0, DONE] = start, done
    head, tail = np.int64(0), np.int64(1)
    while head < tail:
        if paths[head, VALUE] == wanted:
            _arrive(key, steps, paths[head, DONE] | bit, within, way, used)
        if paths[head, VALUE] != wanted or is_update:
            tail = np.int64(_go_on(key, steps, head, tail, within & ~bit))
        head += 1


@bare_kernel
def _go_on(key: Key, steps: Steps, head: Integer, tail: Integer, within: Integer) -> Integer:
    """Add the paths that go one update further, and returns the count then."""
    masks, paths = steps.masks, steps.paths
    value, done = paths[head, VALUE], paths[head, DONE]
    left = masks.sets[UPDATES, value] & within & ~done
    while left:
        bit = left & -left
        new = key.calls[masks.calls[lowest(left)], NEW]
        left ^= bit
        if steps.at[LEADS] >> (new & 63) & 1 and tail < _PATHS:
            paths[tail, VALUE] = new
            paths[tail, DONE] = done | bit | (masks.sets[READS, new] & within)
            tail += 0 if _is_covered(masks, paths, tail) else 1
    return tail


@bare_kernel
def _is_covered(masks: Masks, paths: NDArray[np.int64], tail: Integer) -> bool:
    """Return whether an earlier path can do all that the last one can."""
    idle, reads = masks.at[INDETERMINATE], ~(masks.at[OPEN_WRITES] | masks.at[OPEN_UPDATES])
    value, done = paths[tail, VALUE], paths[tail, DONE]
    for other in range(tail):
        ours = paths[other, DONE]
        if paths[other, VALUE] == value and not ours & ~done & ~reads and not done & ~ours & ~idle:
            return True
    return False


@bare_kernel
def _arrive(
    key: Key, steps: Steps, done: Integer, within: Integer, way: Integer, used: Integer
) -> None:
    """Add what the configuration becomes when a block has reached what returns."""
    masks, row = steps.masks, steps.row
    returning, opened = key.returning[masks.at[POSITION], CALL], masks.at[OPEN]
    value = key.calls[returning, EXPECTED]
    if key.calls[returning, KIND] != READ:
        value = key.calls[returning, NEW]
        done |= masks.sets[READS, value] & within
    if way == _CURRENT:
        _add(steps, value, done, row[SCOPE], used, 0, 0)
    elif way == _EARLIER:
        _add(steps, row[VALUE], done, row[SCOPE], used, value, within)
    else:
        _add(steps, value, done, opened, used, row[VALUE], opened)
