"""The states that a sweep over a priority queue has at a moment, and the steps that led to each.

Kernels for `checkers.engines.repeated.priority_queue.sweep`.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.engines.kernels.hashing import mix
from kraftproof.checkers.engines.repeated.priority_queue.layout import NOBODY, Ints, Layout
from kraftproof.checkers.engines.repeated.priority_queue.steps import INSIDE, MARKS, State, pairs
from kraftproof.checkers.kernels import bare_kernel, kernel

States = NDArray[np.int32]


class Front(NamedTuple):
    """The k states of a moment, perhaps with capacity for more.

    Attributes:
        states: int32[k, w].
        nodes: int64[k], the last step to each.
        least: int64[k], the least value that the next take may have, while takes are chosen.
    """

    states: States
    nodes: Ints
    least: Ints


class Steps(NamedTuple):
    """What had its place in the order, step by step: a tree, from each state back to the beginning.

    Attributes:
        before: int64[s], the step before each; empty if steps are not kept.
        calls: int64[s].
        size: so many there are; step 0 is the beginning.
    """

    before: Ints
    calls: Ints
    size: int


def no_steps(*, is_observed: bool) -> Steps:
    """Return the beginning only, or nothing for steps that are not kept."""
    size = int(is_observed)
    return Steps(np.zeros(size, dtype=np.int64), np.full(size, NOBODY), size)


@kernel
def tell(steps: Steps, node: int, path: Ints) -> tuple[Steps, int]:
    """Return the steps with a path added after a step, and the last step."""
    before, calls, count = steps.before, steps.calls, steps.size
    if len(before) == 0:
        return steps, node
    while count + path[0] > len(before):
        before, calls = np.concatenate((before, before)), np.concatenate((calls, calls))
    for place in range(1, path[0] + 1):
        before[count], calls[count] = node, path[place]
        node = count
        count += 1
    return Steps(before, calls, count), node


@kernel
def new_front(size: int, width: int) -> Front:
    """Return capacity for so many states."""
    states = np.empty((size, width), dtype=np.int32)
    return Front(states, np.empty(size, dtype=np.int64), np.empty(size, dtype=np.int64))


@kernel
def with_one(front: Front, count: int, state: State, node: int, least: int) -> Front:
    """Return a front with a state added at a position, enlarged if necessary."""
    if count == len(front.states):
        larger = new_front(2 * count + 1, front.states.shape[1])
        larger.states[:count], larger.nodes[:count] = front.states, front.nodes
        larger.least[:count] = front.least
        front = larger
    front.states[count], front.nodes[count], front.least[count] = state, node, least
    return front


@kernel
def undominated(layout: Layout, front: Front, count: int) -> int:
    """Move the states to the front that no other is as good as; return their count."""
    size = 4
    while size < 2 * count:
        size *= 2
    states, nodes = front.states, front.nodes
    heads, following, kept = np.full(size, NOBODY), np.full(count, NOBODY), 0
    for it in range(count):
        place = _hashed(layout, states[it]) & (size - 1)
        while heads[place] != NOBODY and not _are_alike(layout, states[heads[place]], states[it]):
            place = (place + 1) & (size - 1)
        at = heads[place]
        while at != NOBODY and not _is_as_good(layout, states[at], states[it]):
            if _is_as_good(layout, states[it], states[at]):
                states[at], nodes[at] = states[it], nodes[it]
                break
            at = following[at]
        if at == NOBODY:
            following[kept], heads[place] = heads[place], kept
            states[kept], nodes[kept] = states[it], nodes[it]
            kept += 1
    return kept


@bare_kernel
def _hashed(layout: Layout, state: State) -> int:
    """Return a number that is the same for states with the same marks."""
    mixed = np.uint64(0)
    for place in range(MARKS, MARKS + layout.lanes):
        mixed = mix(mixed, state[place])
    return int(mixed >> np.uint64(16))


@bare_kernel
def _are_alike(layout: Layout, one: State, other: State) -> bool:
    """Return whether two states have the same marks."""
    lane = 0
    while lane < layout.lanes and one[MARKS + lane] == other[MARKS + lane]:
        lane += 1
    return lane == layout.lanes


@bare_kernel
def _is_as_good(layout: Layout, one: State, other: State) -> bool:
    """Return whether a state has all elements of another, with no more indeterminate puts."""
    first = pairs(layout)
    for slot in range(MARKS + layout.lanes, first):
        if one[slot] > other[slot]:
            return False
    place, end = first, first + 2 * one[INSIDE]
    for theirs in range(first, first + 2 * other[INSIDE], 2):
        while place < end and one[place] > other[theirs]:
            place += 2
        if place >= end or one[place] != other[theirs] or one[place + 1] < other[theirs + 1]:
            return False
    return True
