"""Segment trees in arrays, for compiled engines: where the largest is, and where a cover has gaps.

A tree over n places is an array of 2 * size, with the smallest power of two `size` >= n; the places
are the nodes from `size` on. All operations take O(log n).
"""

import numpy as np

from kraftproof.checkers.engines.kernels.element_intervals import Times
from kraftproof.checkers.history.columns import NEVER
from kraftproof.checkers.kernels import kernel


@kernel
def make_largest(count: int) -> Times:
    """Return a tree of `count` numbers that knows the largest of any range, all -NEVER yet."""
    size = 1
    while size < count:
        size *= 2
    return np.full(2 * size, -NEVER)


@kernel
def replace(tree: Times, place: int, number: int) -> None:
    """Replace one number."""
    node = len(tree) // 2 + place
    tree[node] = number
    while node > 1:
        node //= 2
        tree[node] = max(tree[2 * node], tree[2 * node + 1])


@kernel
def largest(tree: Times, start: int, end: int) -> int:
    """Return a place in start..end with the largest number; -1 if that is -NEVER."""
    size = len(tree) // 2
    low, high, best = start + size, end + size, 0
    while low < high:
        if low % 2 == 1:
            if best == 0 or tree[low] > tree[best]:
                best = low
            low += 1
        if high % 2 == 1:
            high -= 1
            if best == 0 or tree[high] > tree[best]:
                best = high
        low //= 2
        high //= 2
    if best == 0 or tree[best] == -NEVER:
        return -1
    while best < size:
        best = 2 * best if tree[2 * best] == tree[best] else 2 * best + 1
    return best - size


@kernel
def make_cover(count: int) -> Times:
    """Return a tree of the covers of `count` places: int64[2, 2 * size], all 0.

    Row 0 of a node counts the covers of its whole range, row 1 the least covers of a place within
    it.
    """
    size = 1
    while size < count:
        size *= 2
    return np.zeros((2, 2 * size), dtype=np.int64)


@kernel
def cover(tree: Times, start: int, end: int, times: int) -> None:
    """Cover the places start..end so many times more."""
    size = tree.shape[1] // 2
    low, high = start + size, end + size
    while low < high:
        if low % 2 == 1:
            tree[:, low] += times
            low += 1
        if high % 2 == 1:
            high -= 1
            tree[:, high] += times
        low //= 2
        high //= 2
    _refresh(tree, start + size)
    _refresh(tree, end - 1 + size)


@kernel
def _refresh(tree: Times, node: int) -> None:
    while node > 1:
        node //= 2
        tree[1, node] = tree[0, node] + min(tree[1, 2 * node], tree[1, 2 * node + 1])


@kernel
def first_gap(tree: Times, start: int) -> int:
    """Return the first place from `start` on that nothing covers; past all places if none."""
    size = tree.shape[1] // 2
    node, above = start + size, 0
    up = node
    while up > 1:
        up //= 2
        above += tree[0, up]
    while tree[1, node] + above > 0:  # climb to the next subtree on the right that has a gap
        while node % 2 == 1 and node > 1:
            node //= 2
            above -= tree[0, node]
        if node <= 1:
            return int(size)
        node += 1
    while node < size:
        above += tree[0, node]
        node = 2 * node if tree[1, 2 * node] + above == 0 else 2 * node + 1
    return int(node - size)
