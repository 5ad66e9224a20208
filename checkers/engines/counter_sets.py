"""Sets of adds that can have been applied at an answer of a counter that only grows.

Kernels for `checkers.engines.counter_growing`, which says what a window, a pool and the two bounds
are. A window is int64[4, w], by completion; of each add the rows COMPLETE, DELTA, BIT and INVOKE.
`preds` is int64[SLOTS]: by bit, the bits of what goes before it. Sets are int64[k, USED + s].
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from checkers.kernels import kernel

SLOTS: Final = 62
_MOST_SETS: Final = 8_192
_MOST_SAMPLED: Final = 64
"""So many sets are kept for the strict bound."""
_MOST_TRIED: Final = 1_024
"""So many choices are made there, from each set to the next answer."""
_MOST_COMPARED: Final = 2_048
"""More sets than these are not compared with one another."""

COMPLETE: Final = 0
DELTA: Final = 1
BIT: Final = 2
INVOKE: Final = 3

MASK: Final = 0
SUM: Final = 1
LATEST: Final = 2
TAKEN: Final = 3
USED: Final = 4
"""Columns of a set: its bits, the sum, the latest invocation since the answer before, what came out
of the pool in all, and from USED on how many of each size."""

Ints = NDArray[np.int64]


@kernel
def open_pool(pool: Ints, sizes: Ints, late: int) -> None:
    """Counts what was invoked before an answer must be."""
    count = sizes.shape[1]
    for kind in range(count):
        end = sizes[1, kind + 1] if kind + 1 < count else len(pool)
        place = sizes[1, kind] + sizes[2, kind]
        while place < end and pool[place] < late:
            place += 1
        sizes[2, kind] = place - sizes[1, kind]


@kernel
def admit(window: Ints, size: int, preds: Ints, end: int, delta: int, invoked: int) -> None:
    """Puts an add into the window, which is in the order of completion, and says what precedes."""
    taken, before, place = 0, 0, size
    for it in range(size):
        taken |= 1 << window[BIT, it]
        is_alike = window[DELTA, it] == delta and window[COMPLETE, it] <= end
        if is_alike or window[COMPLETE, it] < invoked:
            before |= 1 << window[BIT, it]
    while place > 0 and window[COMPLETE, place - 1] > end:
        window[:, place] = window[:, place - 1]
        place -= 1
    bit = 0
    while taken >> bit & 1:
        bit += 1
    window[COMPLETE, place], window[DELTA, place] = end, delta
    window[BIT, place], window[INVOKE, place] = bit, invoked
    preds[bit] = before


@kernel
def retire(window: Ints, size: int, preds: Ints, sets: Ints, early: int) -> int:
    """Takes out of the window what all sets hold for good; returns how many remain."""
    gone = int(np.searchsorted(window[COMPLETE, :size], early))
    if gone == 0:
        return size
    bits = 0
    for it in range(gone):
        bits |= 1 << window[BIT, it]
    sets[:, MASK] &= ~bits
    preds &= ~bits
    for it in range(gone, size):
        window[:, it - gone] = window[:, it]
    return size - gone


@kernel
def is_in_time(one: Ints, window: Ints) -> bool:
    """Says whether what is not in a set completes after the latest invocation in it."""
    for it in range(window.shape[1]):
        if window[COMPLETE, it] > one[LATEST]:
            return True
        if not one[MASK] >> window[BIT, it] & 1:
            return False
    return True


@kernel
def following_sets(
    sets: Ints, window: Ints, preds: Ints, wanted: int, early: int, pool: Ints, sizes: Ints,
    is_lenient: bool, most: int,  # noqa: FBT001 a kernel takes no keywords
) -> tuple[Ints, int]:  # fmt: skip
    """Returns the sets of a sum that the present ones lead to, and how many choices that took."""
    found = np.empty((max(16, 2 * len(sets)), sets.shape[1]), dtype=np.int64)
    seen = {-1}
    count, cost = 0, 0
    is_sampled = sizes.shape[1] > 0 and not is_lenient
    for one in sets:
        if one[SUM] > wanted:
            continue
        limit = _MOST_TRIED if is_sampled else most - cost
        ways, more = _ways(one, window, preds, wanted, early, sizes, limit)
        cost += more
        if cost > most or count > _MOST_SETS:
            return found[:0], most + 1
        for way in range(ways.shape[1]):
            if count == len(found):
                found = np.concatenate((found, np.empty_like(found)))
            told = found[count]
            told[:] = one
            told[MASK], told[SUM], told[LATEST] = ways[0, way], wanted, -1
            if not _is_taken(told, one[MASK], ways[1, way], window, pool, sizes, is_lenient):
                continue
            if told[MASK] not in seen:
                seen.add(told[MASK])
                count += 1
    if sizes.shape[1] == 0:
        return found[:count], cost
    kept = found[np.argsort(found[:count, TAKEN])]
    return (kept[:_MOST_SAMPLED] if is_sampled else _greatest(kept)), cost


@kernel
def _greatest(sets: Ints) -> Ints:
    """Returns the sets of one sum that are part of no other, given those first that took least.

    Where the pool gives any amount, a set does all that a part of it does.
    """
    if len(sets) > _MOST_COMPARED:
        return sets
    is_kept = np.ones(len(sets), dtype=np.bool_)
    for one in range(len(sets)):
        for other in range(one):
            if is_kept[other] and not sets[one, MASK] & ~sets[other, MASK]:
                is_kept[one] = False
    return sets[is_kept]


@kernel
def _ways(
    one: Ints, window: Ints, preds: Ints, wanted: int, early: int, sizes: Ints, most: int
) -> tuple[Ints, int]:
    """Returns what a set may grow to, by adds of the window, depth first.

    Returns:
        int64[2, k], the bits of each, and what has to come out of the pool; and how many choices
        that took.
    """
    size = window.shape[1]
    rest = np.zeros(size + 1, dtype=np.int64)
    rest[size] = np.sum(sizes[0] * sizes[2]) - one[TAKEN]
    for it in range(size - 1, -1, -1):
        rest[it] = rest[it + 1] + (0 if one[MASK] >> window[BIT, it] & 1 else window[DELTA, it])
    forced = np.searchsorted(window[COMPLETE], early)
    found, count, cost = np.empty((2, 16), dtype=np.int64), 0, 0
    waiting = [(0, one[MASK], wanted - one[SUM])]
    while len(waiting) > 0 and cost <= most:
        cost += 1
        it, mask, left = waiting.pop()
        if left > rest[it]:
            continue
        if it == size or (left == 0 and it >= forced):
            if count == found.shape[1]:
                found = np.concatenate((found, np.empty_like(found)), axis=1)
            found[0, count], found[1, count] = mask, left
            count += 1
            continue
        bit = 1 << window[BIT, it]
        if it >= forced or mask & bit:
            waiting.append((it + 1, mask, left))
        is_next = not mask & bit and not preds[window[BIT, it]] & ~mask
        if is_next and window[DELTA, it] <= left:
            waiting.append((it + 1, mask | bit, left - window[DELTA, it]))
    return found[:, :count], cost


@kernel
def _is_taken(
    told: Ints, before: int, left: int, window: Ints, pool: Ints, sizes: Ints,
    is_lenient: bool,  # noqa: FBT001 a kernel takes no keywords
) -> bool:  # fmt: skip
    """Takes what is left of a sum out of the pool, and says whether the set is right then."""
    added = told[MASK] & ~before
    for it in range(window.shape[1]):
        if added >> window[BIT, it] & 1:
            told[LATEST] = max(told[LATEST], window[INVOKE, it])
    told[TAKEN] += left
    if is_lenient or left == 0:
        return is_in_time(told, window)
    for greatest in range(sizes.shape[1] - 1, -1, -1):
        if _is_paid(told, left, greatest, pool, sizes):
            return is_in_time(told, window)
    return False


@kernel
def _is_paid(told: Ints, left: int, greatest: int, pool: Ints, sizes: Ints) -> bool:
    """Takes a sum out of the pool, greatest first but for those above one, if that succeeds."""
    taken = np.zeros(greatest + 1, dtype=np.int64)
    for kind in range(greatest, -1, -1):
        taken[kind] = min(sizes[2, kind] - told[USED + kind], left // sizes[0, kind])
        left -= taken[kind] * sizes[0, kind]
    if left > 0:
        return False
    for kind in range(greatest + 1):
        if taken[kind] > 0:
            told[USED + kind] += taken[kind]
            last = sizes[1, kind] + told[USED + kind] - 1
            told[LATEST] = max(told[LATEST], pool[last])
    return True
