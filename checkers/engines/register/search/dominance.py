"""When one configuration of a register's search can do whatever another can."""

from typing import Final

import numpy as np

from kraftproof.checkers.engines.kernels.arrays import Integer
from kraftproof.checkers.engines.register.search.configurations import (
    DONE,
    SCOPE,
    SCOPE_BITS,
    VALUE,
    Key,
    Rows,
    Window,
    asked_value,
    first_end,
    width,
)
from kraftproof.checkers.kernels import bare_kernel

_POSITIVE: Final = np.iinfo(np.int64).max


@bare_kernel
def covers(key: Key, window: Window, rows: Rows, i: Integer, others: Rows, j: Integer) -> bool:
    """Return whether row i can do whatever row j of `others` can.

    It holds the same value, has the same compare-and-sets behind it, has an equal or later start of
    its block, has answered as many reads, has as many calls and open blocks left. Of the writes
    that i has not placed and j has, each can be put before the current block in i.
    """
    value = asked_value(key, window, rows[i, VALUE])
    return (
        value == asked_value(key, window, others[j, VALUE])
        and rows[i, SCOPE] >= others[j, SCOPE]
        and _covers_open(key, window, rows, i, others, j)
        and _covers_pool(key, rows, i, others, j)
        and _covers_ends(key, rows, i, others, j)
    )


@bare_kernel
def _covers_open(
    key: Key, window: Window, rows: Rows, i: Integer, others: Rows, j: Integer
) -> bool:
    reads, writes, updates, indeterminate = window.masks
    for word in range(key.words):
        ours, theirs = rows[i, DONE + word], others[j, DONE + word]
        if ours & ~theirs & (writes[word] | updates[word] | indeterminate[word]):
            return False
        below = rows[i, SCOPE] - 64 * word
        scope = np.int64(-1) if below > 63 else (np.int64(1) << max(below, 0)) - 1
        if theirs & ~ours & (reads[word] | updates[word] | (writes[word] & ~scope)):
            return False
    return True


@bare_kernel
def _covers_pool(key: Key, rows: Rows, i: Integer, others: Rows, j: Integer) -> bool:
    guard = np.int64(0)
    for shift in range(key.field_bits - 1, 62, key.field_bits):
        guard |= np.int64(1) << shift
    first = DONE + key.words
    for column in range(first, first + key.pool_words):
        if ((rows[i, column] | guard) - others[j, column]) & guard != guard:
            return False
    return True


@bare_kernel
def _covers_ends(key: Key, rows: Rows, i: Integer, others: Rows, j: Integer) -> bool:
    ours, last = first_end(key), width(key)
    for column in range(ours, last):
        end = others[j, column]
        if end == 0:
            return True
        while ours < last and rows[i, ours] >> SCOPE_BITS > end >> SCOPE_BITS:
            ours += 1
        if ours == last or rows[i, ours] < end or (rows[i, ours] ^ end) >> SCOPE_BITS:
            return False
        ours += 1
    return True


@bare_kernel
def kinship(key: Key, window: Window, rows: Rows, i: Integer) -> Integer:
    """Return a hash that is equal for rows of which one may cover the other."""
    found: Integer = np.int64(asked_value(key, window, rows[i, VALUE]) + 1)
    for word in range(key.words):
        found = _mixed(found, rows[i, DONE + word] & window.masks[2, word])
    return found


@bare_kernel
def fingerprint(key: Key, rows: Rows, i: Integer, number: Integer, position: Integer) -> Integer:
    """Return a hash of a row, its position and its key's number; never 0."""
    found: Integer = _mixed(np.int64(number), np.int64(position))
    for column in range(width(key)):
        found = _mixed(found, rows[i, column])
    return _mixed(found, 0) | np.int64(1)


@bare_kernel
def _mixed(found: Integer, value: Integer) -> Integer:
    """Return a hash of two numbers: a multiplication, and its upper half folded onto the lower."""
    product = np.int64(found) * np.int64(-7046029254386353131) + np.int64(value)
    return (product ^ (product >> 29)) & _POSITIVE
