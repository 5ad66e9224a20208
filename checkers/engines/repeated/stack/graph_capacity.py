"""Room for a sweep over a stack: drops unreachable rows, and moves the sweep to larger tables."""

from typing import Final

from kraftproof.checkers.engines.kernels.arrays import Integer
from kraftproof.checkers.engines.repeated.stack.graph_configurations import (
    BEFORE,
    BELOW,
    BEST,
    BOTTOM,
    COUNT,
    EDGE,
    FRAME,
    INNER,
    NEXT,
    NONE,
    OUTER,
    WORD,
    Heap,
)
from kraftproof.checkers.engines.repeated.stack.graph_workspace import Sweep, new_sweep
from kraftproof.checkers.engines.repeated.stack.layout import Calls, Ints
from kraftproof.checkers.kernels import bare_kernel

_KEPT: Final = 0
"""Marks a kept row before it is numbered."""


def with_capacity(calls: Calls, sweep: Sweep, capacity: int) -> Sweep:
    """Return the same sweep with capacity for more states, a power of two."""
    larger = with_heaps(new_sweep(calls, capacity), sweep)
    count = int(sweep.frontier.at[COUNT])
    larger.frontier.rows[:count] = sweep.frontier.rows[:count]
    larger.frontier.at[COUNT] = count
    larger.at[:], larger.begun[:] = sweep.at, sweep.begun
    return larger


def with_heaps(larger: Sweep, sweep: Sweep) -> Sweep:
    """Fill the frames, edges and words of a sweep with those of another; returns it."""
    for before, after in (
        (sweep.frames, larger.frames),
        (sweep.edges, larger.edges),
        (sweep.words, larger.words),
    ):
        kept = int(before.at[COUNT])
        after.rows[:kept], after.at[COUNT] = before.rows[:kept], kept
    return larger


def is_half_full(sweep: Sweep) -> bool:
    """Return whether there is little capacity for frames, edges or words."""
    heaps = (sweep.frames, sweep.edges, sweep.words)
    return any(2 * int(heap.at[COUNT]) > len(heap.rows) for heap in heaps)


@bare_kernel
def collect(sweep: Sweep, states: Ints) -> None:
    """Drop the frames, edges and words that no state reaches.

    Args:
        sweep: The sweep.
        states: int64[., COLUMNS], all states, which are renumbered.
    """
    frames, edges, words = sweep.frames, sweep.edges, sweep.words
    _unmark(frames)
    _unmark(edges)
    _unmark(words)
    frames.number[BOTTOM] = _KEPT
    for place in range(len(states)):
        _keep(words, states[place, WORD])
        _keep(frames, states[place, FRAME])
    _mark(sweep)
    for word in range(words.at[COUNT] - 1, -1, -1):
        if words.number[word] != NONE:
            _keep(words, words.rows[word, OUTER])
            _keep(words, words.rows[word, INNER])
    _move(words)
    _move(frames)
    _move(edges)
    for word in range(words.at[COUNT]):
        _renumber(words.rows, word, OUTER, words)
        _renumber(words.rows, word, INNER, words)
    for edge in range(edges.at[COUNT]):
        _renumber(edges.rows, edge, BELOW, frames)
        _renumber(edges.rows, edge, BEFORE, words)
        _renumber(edges.rows, edge, NEXT, edges)
    for frame in range(frames.at[COUNT]):
        _renumber(frames.rows, frame, EDGE, edges)
        _renumber(frames.rows, frame, BEST, edges)
    for place in range(len(states)):
        _renumber(states, place, FRAME, frames)
        _renumber(states, place, WORD, words)


@bare_kernel
def _unmark(heap: Heap) -> None:
    for place in range(heap.at[COUNT]):
        heap.number[place] = NONE


@bare_kernel
def _keep(heap: Heap, place: Integer) -> None:
    if place != NONE:
        heap.number[place] = _KEPT


@bare_kernel
def _mark(sweep: Sweep) -> None:
    """Keep all rows that the kept frames reach; most frames below a frame are older."""
    frames, edges = sweep.frames, sweep.edges
    is_done = False
    while not is_done:
        is_done = True
        for frame in range(frames.at[COUNT] - 1, -1, -1):
            edge = frames.rows[frame, EDGE] if frames.number[frame] == _KEPT else NONE
            while edge != NONE:
                below = edges.rows[edge, BELOW]
                if below > frame and frames.number[below] == NONE:
                    is_done = False
                _keep(frames, below)
                _keep(edges, edge)
                _keep(sweep.words, edges.rows[edge, BEFORE])
                edge = edges.rows[edge, NEXT]


@bare_kernel
def _move(heap: Heap) -> None:
    """Move the rows that are kept together, and notes their numbers."""
    kept = 0
    for place in range(heap.at[COUNT]):
        if heap.number[place] != NONE:
            for column in range(heap.rows.shape[1]):
                heap.rows[kept, column] = heap.rows[place, column]
            heap.number[place] = kept
            kept += 1
    heap.at[COUNT] = kept


@bare_kernel
def _renumber(rows: Ints, place: Integer, column: Integer, heap: Heap) -> None:
    if rows[place, column] != NONE:
        rows[place, column] = heap.number[rows[place, column]]
