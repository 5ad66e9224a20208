"""The precedence among transactions on registers: a closure by vector clocks.

Kernels for `checkers.engines.transactions.transactions`, which states the rules. The *clock* of a
transaction counts, for each lane (`checkers.engines.kernels.chains`), the lane's transactions that
precede it, itself included. Real time is a chain of the completions. A clock is the maximum of the
clocks of all predecessors by an edge, the clock of the last completion before the invocation, and
the transaction itself.
"""

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.engines.kernels.adjacency import successors
from kraftproof.checkers.engines.kernels.chains import NONE, History, Ints
from kraftproof.checkers.kernels import kernel

Clocks = NDArray[np.int32]


@kernel
def close(history: History, edges: Ints, rounds: int) -> tuple[Ints, Ints, bool]:
    """Add the edges that the rules imply, until no rule adds any.

    Args:
        history: The transactions.
        edges: int64[3, k], the first edges: before, after, and the transaction that shows the edge.
        rounds: The maximum number of applications of the rules to all transactions; fewer only cost
            time later.

    Returns:
        int64[3, k], all edges; int64[n], the transactions in an order of the edges, up to a cycle;
        and whether the order is complete, so that a legal order may exist.
    """
    order = np.empty(0, dtype=np.int64)
    for turn in range(rounds + 1):
        clocks, order = _clocks(history, edges)
        if turn == rounds or len(order) < len(history.invoke):
            break
        more = _implied(history, clocks)
        if more.shape[1] == 0:
            break
        edges = np.concatenate((edges, more), axis=1)
    return edges, order, len(order) == len(history.invoke)


@kernel
def _clocks(history: History, edges: Ints) -> tuple[Clocks, Ints]:
    """Return the clock of each transaction, and an order of all transactions outside cycles."""
    count, passed = len(history.invoke), 0
    starts, targets = successors(edges, count)
    before = np.zeros(count, dtype=np.int64)
    for target in edges[1]:
        before[target] += 1
    clocks = np.zeros((count, history.lanes), dtype=np.int32)
    times = np.zeros((len(history.done) + 1, history.lanes), dtype=np.int32)
    is_done = np.zeros(count, dtype=np.bool_)
    order = np.empty(count, dtype=np.int64)
    ordered, invoked = 0, 0
    waiting = [0 for _ in range(0)]
    while True:
        while invoked < count and history.passed[invoked] <= passed:
            if before[invoked] == 0:
                waiting.append(invoked)
            invoked += 1
        if len(waiting) == 0:
            break
        one = waiting.pop()
        order[ordered] = one
        ordered += 1
        is_done[one] = True
        _tick(clocks[one], times[history.passed[one]], history.lane[one], history.place[one])
        for edge in range(starts[one], starts[one + 1]):
            target = targets[edge]
            _raise(clocks[target], clocks[one])
            before[target] -= 1
            if before[target] == 0 and target < invoked:
                waiting.append(target)
        while passed < len(history.done) and is_done[history.done[passed]]:
            _raise(times[passed + 1], times[passed])
            _raise(times[passed + 1], clocks[history.done[passed]])
            passed += 1
    return clocks, order[:ordered]


@kernel
def _tick(clock: Clocks, time: Clocks, lane: int, place: int) -> None:
    _raise(clock, time)
    clock[lane] = max(clock[lane], place + 1)


@kernel
def _raise(clock: Clocks, other: Clocks) -> None:
    for lane in range(len(clock)):
        clock[lane] = max(clock[lane], other[lane])


@kernel
def _implied(history: History, clocks: Clocks) -> Ints:
    """Return the edges that the rules add, and the transaction that shows each: int64[3, k].

    A write that precedes a reader of the initial value must precede itself.
    """
    edges = [(0, 0, 0) for _ in range(0)]
    writes = len(history.writer)
    for section in range(writes + history.registers):
        if history.readers_of[section] == history.readers_of[section + 1]:
            continue
        register = history.left_in[section] if section < writes else section - writes
        for lane in range(history.lanes):
            write, reader = _last_before(history, clocks, section, register, lane)
            if write == NONE:
                continue
            one = history.writer[write]
            other = history.writer[section] if section < writes else one
            if section >= writes or (one != other and not _is_before(history, clocks, one, other)):
                edges.append((one, other, reader))
        _add_overwriting(history, clocks, section, register, edges)
    found = np.empty((3, len(edges)), dtype=np.int64)
    for place in range(len(edges)):
        found[0, place], found[1, place], found[2, place] = edges[place]
    return found


@kernel
def _is_before(history: History, clocks: Clocks, one: int, other: int) -> bool:
    return bool(clocks[other, history.lane[one]] > history.place[one])


@kernel
def _last_before(
    history: History, clocks: Clocks, section: int, register: int, lane: int
) -> tuple[int, int]:
    """Return a lane's last write of a register that goes before a reader of a section, and it."""
    first = history.in_lane[register * history.lanes + lane]
    end = history.in_lane[register * history.lanes + lane + 1]
    latest, shown_by = first - 1, NONE
    for place in range(history.readers_of[section], history.readers_of[section + 1]):
        reader = history.readers[place]
        at_most = clocks[reader, lane]
        if history.lane[reader] == lane:
            at_most = min(at_most, history.place[reader])  # what it writes itself comes later
        found = _count_below(history, first, end, at_most) - 1
        if found > latest:
            latest, shown_by = found, reader
    return (history.by_lane[latest], shown_by) if latest >= first else (NONE, NONE)


@kernel
def _count_below(history: History, first: int, end: int, place: int) -> int:
    """Return where in `by_lane`, from `first` to `end`, the writes from a place on begin."""
    while first < end:
        middle = (first + end) // 2
        if history.place[history.writer[history.by_lane[middle]]] < place:
            first = middle + 1
        else:
            end = middle
    return first


@kernel
def _add_overwriting(
    history: History,
    clocks: Clocks,
    section: int,
    register: int,
    edges: list[tuple[int, int, int]],
) -> None:
    """Add edges from a section's readers to the writers that its own write precedes."""
    writer = history.writer[section] if section < len(history.writer) else NONE
    for lane in range(history.lanes):
        first = history.in_lane[register * history.lanes + lane]
        end = history.in_lane[register * history.lanes + lane + 1]
        if writer != NONE:
            first = _first_after(history, clocks, writer, first, end)
        if first == end:
            continue
        overwriting = history.writer[history.by_lane[first]]
        for place in range(history.readers_of[section], history.readers_of[section + 1]):
            reader = history.readers[place]
            if overwriting != reader and not _is_before(history, clocks, reader, overwriting):
                edges.append((reader, overwriting, reader))


@kernel
def _first_after(history: History, clocks: Clocks, writer: int, first: int, end: int) -> int:
    """Return where in `by_lane`, from `first` to `end`, is the first that another goes before."""
    while first < end:
        middle = (first + end) // 2
        other = history.writer[history.by_lane[middle]]
        if other == writer or not _is_before(history, clocks, writer, other):
            first = middle + 1
        else:
            end = middle
    return first


@kernel
def shown_at(history: History, edges: Ints, order: Ints) -> int:
    """Return an event by which a cycle is probably visible.

    By that event, all transactions of the cycle, and all that show its edges, have completed. The
    transactions behind these edges are ignored, so the cycle may become visible only later.

    Args:
        history: The transactions.
        edges: int64[3, k], as `close` returned them.
        order: int64[o], the transactions outside and before cycles.
    """
    is_ordered = np.zeros(len(history.invoke), dtype=np.bool_)
    is_ordered[order] = True
    before = np.full((2, len(history.invoke)), NONE)
    for edge in range(edges.shape[1]):
        if not is_ordered[edges[0, edge]] and before[0, edges[1, edge]] == NONE:
            before[0, edges[1, edge]], before[1, edges[1, edge]] = edges[0, edge], edges[2, edge]
    for first in history.done:
        if not is_ordered[first]:
            break
    is_met = np.zeros(len(history.invoke), dtype=np.bool_)
    one, latest = first, 0
    while not is_met[one]:
        is_met[one] = True
        one = before[0, one] if before[0, one] != NONE else first
    start = one
    while latest == 0 or one != start:
        latest = max(latest, history.over[one])
        if before[0, one] == NONE:
            one = first
        else:
            latest = max(latest, history.over[before[1, one]])
            one = before[0, one]
    return int(latest)
