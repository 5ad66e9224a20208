"""Configurations of the search for a legal order of one register's calls, as rows of integers.

A legal order falls into *blocks*: a plain write, and the reads and compare-and-sets that follow it
up to the next plain write; the first block has no write. `checkers.engines.register.search.steps`
says how they are searched for. A row is int64[.]:

- VALUE: the value at the end of the current block.
- SCOPE: how many of the calls open now were open when the current block began. Those are the ranks
  below it: an earlier block can still be put there, just before the current one.
- DONE on: a bit a rank, in words of 64: a read that has been answered, an update that was placed.
- then the pool: for each distinct indeterminate call how many are left, some fields to a word, with
  a spare bit on top of each.
- then the open blocks, descending, 0 for none: a block before the current one that ended with a
  value, and which compare-and-sets may still extend: (value + 1) << SCOPE_BITS | scope.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.calls.register import READ
from kraftproof.checkers.engines.kernels.arrays import Integer
from kraftproof.checkers.engines.register.search.layout import (
    DISTINCT,
    EQUAL,
    EXPECTED,
    KEPT,
    KIND,
    OLD,
    RANKS,
    RETURNS,
    UPDATES,
    WRITES,
    Layout,
    Numbers,
)
from kraftproof.checkers.kernels import bare_kernel

VALUE: Final = 0
SCOPE: Final = 1
DONE: Final = 2
SCOPE_BITS: Final = 24
SCOPE_MASK: Final = (1 << SCOPE_BITS) - 1
_MAX: Final = np.iinfo(np.int64).max
_POOL_BITS: Final = 62

Rows = NDArray[np.int64]


class Key(NamedTuple):
    """One key of a `Layout`, and the shape of its rows."""

    calls: Numbers
    returning: Numbers
    settling: Numbers
    pool: Numbers
    wanted: Numbers
    returns: Integer
    pool_writes: Integer
    words: Integer
    pool_words: Integer
    field_bits: Integer
    ends: Integer
    is_relaxed: bool


@bare_kernel
def key_of(layout: Layout, k: Integer, ends: Integer, is_relaxed: bool) -> Key:  # noqa: FBT001
    """Return one key, with rows that have capacity for some open blocks, if it can have any.

    Relaxed, the search starts with any value, as if a block had just begun, and what is in the pool
    is never used up.
    """
    counts = layout.counts[k]
    first, begin, end = layout.starts[k], layout.value_starts[k], layout.value_starts[k + 1]
    last, returns = first + counts[KEPT], first + counts[RETURNS]
    pool = first + counts[DISTINCT]
    bits = 1
    while counts[EQUAL] >> bits - 1:
        bits += 1
    a_word = _POOL_BITS // bits
    return Key(
        layout.calls[first:last],
        layout.returning[first:returns],
        layout.settling[first:last],
        layout.pool[first:pool],
        layout.wanted[begin:end],
        counts[RETURNS],
        counts[WRITES],
        (counts[RANKS] + 63) // 64,
        (counts[DISTINCT] + a_word - 1) // a_word,
        bits,
        np.int64(ends) if counts[UPDATES] else np.int64(0),
        is_relaxed,
    )


def columns_of(counts: NDArray[np.int64], ends: int) -> int:
    """Return how many integers the widest row has, of keys with such `Layout.counts`."""
    bits = np.frexp(counts[:, EQUAL])[1] + 1
    pools = -(-counts[:, DISTINCT] // (_POOL_BITS // bits))
    return int((DONE + -(-counts[:, RANKS] // 64) + pools).max()) + ends


@bare_kernel
def width(key: Key) -> Integer:
    """Return how many integers a row has."""
    return DONE + key.words + key.pool_words + key.ends


class Window(NamedTuple):
    """The calls open at a position.

    Attributes:
        opened: int32[ranks], the call at each rank.
        at: int64[2], the position, and how many are open.
        masks: int64[4, words], the ranks that are reads, writes, compare-and-sets, indeterminate.
    """

    opened: Numbers
    at: NDArray[np.int64]
    masks: NDArray[np.int64]


@bare_kernel
def copy_row(key: Key, source: Rows, i: Integer, target: Rows, j: Integer) -> None:
    """Copy a row."""
    for column in range(width(key)):
        target[j, column] = source[i, column]


@bare_kernel
def is_done(rows: Rows, i: Integer, rank: Integer) -> bool:
    """Return whether the call at a rank has been answered or placed."""
    bit: bool = (rows[i, DONE + (rank >> 6)] >> (rank & 63)) & 1 != 0
    return bit


@bare_kernel
def mark_done(rows: Rows, i: Integer, rank: Integer) -> None:
    """Mark the call at a rank as answered or placed."""
    rows[i, DONE + (rank >> 6)] |= np.int64(1) << (rank & 63)


@bare_kernel
def remove_rank(key: Key, rows: Rows, i: Integer, rank: Integer) -> None:
    """Take a rank out: those above move down by one, and scopes with them."""
    w = rank >> 6
    low = (np.int64(1) << (rank & 63)) - 1
    for word in range(w, key.words):
        bits = rows[i, DONE + word]
        carry = rows[i, DONE + word + 1] & 1 if word + 1 < key.words else np.int64(0)
        moved = ((bits >> 1) & _MAX) | (carry << 63)
        rows[i, DONE + word] = (bits & low) | (moved & ~low)
        low = np.int64(0)
    if rows[i, SCOPE] > rank:
        rows[i, SCOPE] -= 1
    for e in range(first_end(key), width(key)):
        if rows[i, e] & SCOPE_MASK > rank:
            rows[i, e] -= 1


@bare_kernel
def answer_reads(
    key: Key, window: Window, rows: Rows, i: Integer, value: Integer, scope: Integer
) -> None:
    """Mark the reads of a value among the ranks below a scope as answered."""
    for rank in range(scope):
        call = window.opened[rank]
        if key.calls[call, KIND] == READ and key.calls[call, EXPECTED] == value:
            mark_done(rows, i, rank)


@bare_kernel
def pool_place(key: Key, field: Integer) -> tuple[Integer, Integer]:
    """Return the column and the shift of a field of the pool."""
    a_word = _POOL_BITS // key.field_bits
    return DONE + key.words + field // a_word, (field % a_word) * key.field_bits


@bare_kernel
def pool_left(key: Key, rows: Rows, i: Integer, field: Integer) -> Integer:
    """Return how many calls of the pool are left."""
    column, shift = pool_place(key, field)
    left: Integer = (rows[i, column] >> shift) & ((np.int64(1) << key.field_bits) - 1)
    return left


@bare_kernel
def pool_add(key: Key, rows: Rows, i: Integer, field: Integer) -> None:
    """Add a call to the pool."""
    column, shift = pool_place(key, field)
    rows[i, column] += np.int64(1) << shift


@bare_kernel
def pool_take(key: Key, rows: Rows, i: Integer, field: Integer) -> None:
    """Take a call out of the pool."""
    if not key.is_relaxed:
        column, shift = pool_place(key, field)
        rows[i, column] -= np.int64(1) << shift


@bare_kernel
def first_cas(key: Key, value: Integer) -> Integer:
    """Return the first field of the pool that compares with a value, or one larger."""
    low: Integer = key.pool_writes
    high: Integer = len(key.pool)
    while low < high:
        middle = (low + high) // 2
        if key.pool[middle, OLD] < value:
            low = middle + 1
        else:
            high = middle
    return low


@bare_kernel
def first_end(key: Key) -> Integer:
    """Return the column of the first loose end."""
    return DONE + key.words + key.pool_words


@bare_kernel
def asked_value(key: Key, window: Window, value: Integer) -> Integer:
    """Return a value, or -1 for one that nothing asks for from here on."""
    return value if value >= 0 and key.wanted[value] >= window.at[0] else -1
