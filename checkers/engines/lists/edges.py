"""The graph of precedence among transactions on lists.

Kernels for `checkers.engines.lists.list_append`, which defines the kinds of edges; arrays are those
of `list_graph.Lists`. Nodes are the n calls of a key; n + l is between the last element of list l
and the unread appends to it; then comes a node for each completion, in a chain.
"""

from typing import Final

import numpy as np

from kraftproof.checkers.engines.kernels.adjacency import successors
from kraftproof.checkers.engines.lists.order import INCOMPATIBLE, LEGAL, Bools, Ints
from kraftproof.checkers.kernels import kernel

WW: Final = 0
WR: Final = 1
RW: Final = 2
RT: Final = 3


@kernel
def data_edges(
    calls: int,
    happened: Bools,
    call_of: Ints,
    is_read: Bools,
    list_number: Ints,
    seen: Ints,
    earlier: Ints,
    order: Ints,
    offsets: Ints,
) -> tuple[Ints, int, int]:
    """Return the edges that the order of the lists implies.

    Returns:
        int64[3, k], from, to and kind; the problem, and its call.
    """
    edges = np.empty((3, len(order) + 2 * len(is_read) + len(offsets)), dtype=np.int64)
    count, problem, call = _write_edges(edges, calls, call_of, order, offsets)
    is_known = np.zeros(len(is_read), dtype=np.bool_)
    is_known[order] = True
    for (action,) in np.argwhere(happened[call_of] & ~is_known):
        call_here, rest = call_of[action], calls + list_number[action]
        if not is_read[action]:
            count = _add(edges, count, rest, call_here, WW)
            continue
        length = _saw_of_others(action, is_read, seen, earlier)
        if length < 0:
            continue
        place = offsets[list_number[action]] + length
        if length > 0:
            count = _add(edges, count, call_of[order[place - 1]], call_here, WR)
        if place == offsets[list_number[action] + 1]:
            count = _add(edges, count, call_here, rest, RW)
        elif call_of[order[place]] != call_here:
            count = _add(edges, count, call_here, call_of[order[place]], RW)
    return edges[:, :count], problem, call


@kernel
def _write_edges(
    edges: Ints, calls: int, call_of: Ints, order: Ints, offsets: Ints
) -> tuple[int, int, int]:
    """Add the edges between successive appends.

    Returns:
        The number of edges; the problem, and its call.
    """
    count, problem, call = 0, LEGAL, -1
    for number in range(len(offsets) - 1):
        if offsets[number] == offsets[number + 1]:
            continue
        for place in range(offsets[number], offsets[number + 1] - 1):
            first, second = order[place], order[place + 1]
            if call_of[first] != call_of[second]:
                count = _add(edges, count, call_of[first], call_of[second], WW)
            elif second < first:
                problem, call = INCOMPATIBLE, int(call_of[first])
        last = order[offsets[number + 1] - 1]
        count = _add(edges, count, call_of[last], calls + number, WW)
    return count, problem, call


@kernel
def _add(edges: Ints, count: int, source: int, target: int, kind: int) -> int:
    edges[0, count], edges[1, count], edges[2, count] = source, target, kind
    return count + 1


@kernel
def _saw_of_others(action: int, is_read: Bools, seen: Ints, earlier: Ints) -> int:
    """Return the length of a read without the call's own appends; -1 for a call's later read."""
    length, before = seen[action + 1] - seen[action], earlier[action]
    while before >= 0:
        if is_read[before]:
            return -1
        length -= 1
        before = earlier[before]
    return int(length)


@kernel
def real_time_edges(
    happened: Bools, invoke: Ints, complete: Ints, cut: int, first: int
) -> tuple[Ints, int]:
    """Return the edges of real time, by a chain of the completions up to a cut.

    Args:
        happened: bool[n].
        invoke: int64[n], ascending.
        complete: int64[n].
        cut: the event.
        first: the number of the chain's first node.

    Returns:
        int64[3, k], and the number of nodes then in all.
    """
    (done,) = np.nonzero(happened & (complete <= cut))
    done = done[np.argsort(complete[done])]
    edges = np.empty((3, 2 * len(done) + len(invoke)), dtype=np.int64)
    count, passed = 0, 0
    for place in range(len(done)):
        count = _add(edges, count, done[place], first + place, RT)
        if place > 0:
            count = _add(edges, count, first + place - 1, first + place, RT)
    for call in range(len(invoke)):
        while passed < len(done) and complete[done[passed]] < invoke[call]:
            passed += 1
        if happened[call] and passed > 0:
            count = _add(edges, count, first + passed - 1, call, RT)
    return edges[:, :count], first + len(done)


@kernel
def is_acyclic(edges: Ints, nodes: int) -> bool:
    """Return whether edges make no cycle, by removing what nothing goes before (Kahn 1962)."""
    starts, targets = successors(edges, nodes)
    before = np.zeros(nodes, dtype=np.int64)
    for target in targets:
        before[target] += 1
    (free,) = np.nonzero(before == 0)
    waiting, removed = list(free), 0
    while len(waiting) > 0:
        node = waiting.pop()
        removed += 1
        for edge in range(starts[node], starts[node + 1]):
            before[targets[edge]] -= 1
            if before[targets[edge]] == 0:
                waiting.append(targets[edge])
    return removed == nodes


@kernel
def reaches(starts: Ints, targets: Ints, source: int, wanted: int) -> bool:
    """Return whether a path leads from a node to another, given `successors`."""
    is_seen = np.zeros(len(starts) - 1, dtype=np.bool_)
    waiting = [source]
    while len(waiting) > 0:
        node = waiting.pop()
        if node == wanted:
            return True
        for edge in range(starts[node], starts[node + 1]):
            if not is_seen[targets[edge]]:
                is_seen[targets[edge]] = True
                waiting.append(targets[edge])
    return False
