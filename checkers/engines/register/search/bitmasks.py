"""The calls of a register open at a return, as bits of machine words.

Each open call has a *slot*, 64 at most; sets of open calls are masks, by the value that calls ask
for or set. Indeterminate calls, which never return, share the remaining slots in turn: without
capacity, the oldest is forgotten.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.calls.register import READ, WRITE
from kraftproof.checkers.engines.kernels.arrays import Integer
from kraftproof.checkers.engines.register.search.configurations import Key
from kraftproof.checkers.engines.register.search.layout import (
    CALL,
    EXPECTED,
    INDETERMINATE_CAS,
    INDETERMINATE_WRITE,
    INVOKED,
    KIND,
    NEW,
    RANKS,
    Layout,
    Numbers,
)
from kraftproof.checkers.engines.register.search.layout import POSITION as RETURNS_AT
from kraftproof.checkers.kernels import bare_kernel

SLOTS: Final = 64

READS: Final = 0
WRITES: Final = 1
UPDATES: Final = 2

POSITION: Final = 0
OPEN: Final = 1
OPEN_WRITES: Final = 2
OPEN_UPDATES: Final = 3
INDETERMINATE: Final = 4

_DE_BRUIJN: Final = 0x03F79D71B4CB0A89
"""Each six bits of it in a row are different: B(2, 6), Leiserson, Prokop and Randall 1998."""
_PLACES: Final = np.zeros(SLOTS, np.int64)
_PLACES[[(_DE_BRUIJN << place & (1 << 64) - 1) >> 58 for place in range(SLOTS)]] = range(SLOTS)


class Masks(NamedTuple):
    """The calls open at a position.

    Attributes:
        slots: int8[n], the slot of each call, -1 for an indeterminate call without a slot.
        calls: int32[64], the call in each slot in use.
        sets: int64[3, values], the open READS and UPDATES (compare-and-sets) that ask for a value,
            and the WRITES that set it.
        at: int64[5], the POSITION; and the masks of OPEN calls, of writes, of updates, and of
            INDETERMINATE calls.
    """

    slots: NDArray[np.int8]
    calls: Numbers
    sets: NDArray[np.int64]
    at: NDArray[np.int64]


def new_masks(calls: int, values: int) -> Masks:
    """Return masks for keys of so many calls and values at most."""
    return Masks(
        slots=np.empty(calls, np.int8),
        calls=np.zeros(SLOTS, np.int32),
        sets=np.zeros((3, values), np.int64),
        at=np.zeros(5, np.int64),
    )


def that_fit(layout: Layout) -> NDArray[np.bool_]:
    """Return the keys whose calls have enough slots: bool[m]."""
    fits: NDArray[np.bool_] = layout.counts[:, RANKS] <= SLOTS
    return fits


@bare_kernel
def lowest(mask: Integer) -> Integer:
    """Return the number of the lowest bit of a mask that is not 0."""
    found: Integer = _PLACES[((mask & -mask) * _DE_BRUIJN) >> 58 & 63]
    return found


@bare_kernel
def soonest_of(key: Key, masks: Masks, rivals: Integer) -> Integer:
    """Return the bit of the call in a mask, which is not 0, that returns soonest."""
    best = rivals & -rivals
    soonest = key.calls[masks.calls[lowest(rivals)], RETURNS_AT]
    rivals &= rivals - 1
    while rivals:
        returns_at = key.calls[masks.calls[lowest(rivals)], RETURNS_AT]
        if returns_at < soonest:
            best, soonest = rivals & -rivals, returns_at
        rivals &= rivals - 1
    return best


@bare_kernel
def enter(key: Key, ranks: Integer, masks: Masks) -> None:
    """Give the calls of a key their slots, and sets the masks to the first position.

    Args:
        key: whose calls.
        ranks: how many are open at a time, at most; not more than there are slots.
        masks: to be set.
    """
    _assign(key, ranks, masks.slots)
    masks.sets[:, : len(key.wanted)] = 0
    masks.at[:] = 0
    for call in range(key.returning[0, INVOKED]):
        _open(key, masks, call)


@bare_kernel
def _assign(key: Key, ranks: Integer, slots: NDArray[np.int8]) -> None:
    """Give the calls slots: the first slots to calls that return."""
    free = np.int64(-1) if ranks == SLOTS else (np.int64(1) << ranks) - 1
    left = SLOTS - ranks
    call, indeterminate = 0, 0
    for position in range(key.returns):
        while call < key.returning[position, INVOKED]:
            if key.calls[call, KIND] >= INDETERMINATE_WRITE:
                slots[call] = ranks + indeterminate % left if left else -1
                indeterminate += 1
            else:
                slots[call] = lowest(free)
                free &= free - 1
            call += 1
        free |= np.int64(1) << slots[key.returning[position, CALL]]


@bare_kernel
def _open(key: Key, masks: Masks, call: Integer) -> Integer:
    """Add a call, and returns its bit, 0 if it has no slot."""
    slot, kind = masks.slots[call], key.calls[call, KIND]
    if slot < 0:
        return np.int64(0)
    bit: Integer = np.int64(1) << slot
    if masks.at[OPEN] & bit:
        close(key, masks, masks.calls[slot])
    masks.calls[slot] = call
    masks.at[OPEN] |= bit
    if kind == READ:
        masks.sets[READS, key.calls[call, EXPECTED]] |= bit
    elif kind in (WRITE, INDETERMINATE_WRITE):
        masks.sets[WRITES, key.calls[call, NEW]] |= bit
        masks.at[OPEN_WRITES] |= bit
    else:
        masks.sets[UPDATES, key.calls[call, EXPECTED]] |= bit
        masks.at[OPEN_UPDATES] |= bit
    if kind in (INDETERMINATE_WRITE, INDETERMINATE_CAS):
        masks.at[INDETERMINATE] |= bit
    return bit


@bare_kernel
def close(key: Key, masks: Masks, call: Integer) -> None:
    """Take a call out, if it is in its slot."""
    slot, kind = masks.slots[call], key.calls[call, KIND]
    if slot < 0 or masks.calls[slot] != call:
        return
    rest = ~(np.int64(1) << slot)
    masks.at[OPEN] &= rest
    if kind == READ:
        masks.sets[READS, key.calls[call, EXPECTED]] &= rest
    elif kind in (WRITE, INDETERMINATE_WRITE):
        masks.sets[WRITES, key.calls[call, NEW]] &= rest
        masks.at[OPEN_WRITES] &= rest
    else:
        masks.sets[UPDATES, key.calls[call, EXPECTED]] &= rest
        masks.at[OPEN_UPDATES] &= rest
    masks.at[INDETERMINATE] &= rest


@bare_kernel
def forward(key: Key, masks: Masks) -> Integer:
    """Go one position on; return the bits of the calls that were invoked since."""
    position = masks.at[POSITION]
    close(key, masks, key.returning[position, CALL])
    opened = np.int64(0)
    for call in range(key.returning[position, INVOKED], key.returning[position + 1, INVOKED]):
        opened |= _open(key, masks, call)
    masks.at[POSITION] = position + 1
    return opened


@bare_kernel
def back(key: Key, masks: Masks) -> None:
    """Go one position back; forgotten indeterminate calls stay forgotten."""
    position = masks.at[POSITION] - 1
    for call in range(key.returning[position, INVOKED], key.returning[position + 1, INVOKED]):
        close(key, masks, call)
    _open(key, masks, key.returning[position, CALL])
    masks.at[POSITION] = position
