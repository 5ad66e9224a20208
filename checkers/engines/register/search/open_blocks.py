"""Open write blocks before the current block: which are useful, and how many.

An open block ends with a value from which only a compare-and-set can continue, which uses the block
up: it then ends with another value. Of the open blocks with equal values, at most as many are
useful as there are compare-and-sets from that value, and each block needs a compare-and-set of its
own: in its scope, or in the pool. The blocks with the widest scopes are kept, as many as can each
have one: a wider scope allows whatever a narrower scope does. Later calls are in no scope, and a
call that settles into the pool was in all scopes: a useless block stays useless.
"""

import numpy as np

from kraftproof.checkers.calls.register import CAS, READ, WRITE
from kraftproof.checkers.engines.kernels.arrays import Integer
from kraftproof.checkers.engines.register.search.configurations import (
    SCOPE_BITS,
    SCOPE_MASK,
    Key,
    Rows,
    Window,
    first_cas,
    first_end,
    is_done,
    pool_left,
    width,
)
from kraftproof.checkers.engines.register.search.layout import (
    EXPECTED,
    INDETERMINATE_CAS,
    INDETERMINATE_WRITE,
    KIND,
    OLD,
)
from kraftproof.checkers.kernels import bare_kernel


@bare_kernel
def add_end(
    key: Key, window: Window, rows: Rows, i: Integer, value: Integer, scope: Integer
) -> bool:
    """Add a loose end unless it is of no use; returns False if there is no capacity for it."""
    scope = useful_scope(key, window, rows, i, value, scope)
    if scope == 0:
        return True
    end = (np.int64(value + 1) << SCOPE_BITS) | scope
    for e in range(first_end(key), width(key)):
        if rows[i, e] < end:
            rows[i, e], end = end, rows[i, e]
        if end == 0:
            return True
    return False


@bare_kernel
def remove_end(key: Key, rows: Rows, i: Integer, column: Integer) -> None:
    """Take out the loose end in a column."""
    for e in range(column, width(key) - 1):
        rows[i, e] = rows[i, e + 1]
    rows[i, width(key) - 1] = 0


@bare_kernel
def useful_scope(
    key: Key, window: Window, rows: Rows, i: Integer, value: Integer, scope: Integer
) -> Integer:
    """Return the smallest scope that serves a loose end as well, 0 if it is of no use.

    It is of use if a compare-and-set in scope starts from its value, and leads to something due.
    """
    smallest, has_due, has_start = 0, False, False
    if value < 0:
        return 0
    for rank in range(scope):
        call = window.opened[rank]
        kind = key.calls[call, KIND]
        if kind in (WRITE, INDETERMINATE_WRITE) or is_done(rows, i, rank):
            continue
        smallest = rank + 1
        has_due |= kind != INDETERMINATE_CAS
        has_start |= kind != READ and key.calls[call, EXPECTED] == value
    if not has_due:
        return 0
    if not has_start:
        field = first_cas(key, value)
        while field < len(key.pool) and key.pool[field, OLD] == value:
            if pool_left(key, rows, i, field) > 0:
                return smallest
            field += 1
        return 0
    return smallest


@bare_kernel
def trim_ends(key: Key, window: Window, rows: Rows, i: Integer) -> None:
    """Drop the open blocks that have become of no use, so that equal configurations are equal."""
    kept = first_end(key)
    value, limit, spare = np.int64(-1), np.int64(0), np.int64(0)
    for column in range(first_end(key), width(key)):
        end = rows[i, column]
        if end == 0:
            return
        rows[i, column] = 0
        scope = useful_scope(key, window, rows, i, (end >> SCOPE_BITS) - 1, end & SCOPE_MASK)
        if scope == 0:
            continue
        if (end >> SCOPE_BITS) - 1 != value:
            value, limit = (end >> SCOPE_BITS) - 1, np.int64(scope)
            spare = np.int64(_pool_starts(key, rows, i, value))
        start = _last_start(key, window, rows, i, value, min(limit, scope))
        if start >= 0:
            limit = np.int64(start)
        elif spare > 0:
            spare -= 0 if key.is_relaxed else 1
        else:
            continue
        rows[i, kept] = (np.int64(value + 1) << SCOPE_BITS) | scope
        kept += 1


@bare_kernel
def _last_start(
    key: Key, window: Window, rows: Rows, i: Integer, value: Integer, limit: Integer
) -> Integer:
    """Return the last rank below a limit that has a compare-and-set from a value, -1 if none."""
    for rank in range(limit - 1, -1, -1):
        call = window.opened[rank]
        kind = key.calls[call, KIND]
        if (
            kind in (CAS, INDETERMINATE_CAS)
            and key.calls[call, EXPECTED] == value
            and not is_done(rows, i, rank)
        ):
            return rank
    return -1


@bare_kernel
def _pool_starts(key: Key, rows: Rows, i: Integer, value: Integer) -> Integer:
    """Return how many compare-and-sets from a value are left in the pool."""
    left: Integer = 0
    field = first_cas(key, value)
    while field < len(key.pool) and key.pool[field, OLD] == value:
        left += pool_left(key, rows, i, field)
        field += 1
    return left
