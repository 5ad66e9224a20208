"""A legal order of a queue with repeated elements, for explanations.

The search is `checkers.engines.repeated.queue.search`, with the states of every level kept: from a
state that is through, the way back is found level by level, by making the successors again. The way
gives the pairs of put and take, and the order of the elements. Each element is then put as late and
taken as early as possible, so that empty takes fit in.
"""

from itertools import accumulate
from typing import Final

import numpy as np

from kraftproof.checkers.calls.containers import QueueCalls
from kraftproof.checkers.engines.kernels.visited_states import Rows
from kraftproof.checkers.engines.repeated.queue.heuristic import Heuristic, heuristic_of
from kraftproof.checkers.engines.repeated.queue.layout import Ints, Lines, lines_of, queue_of
from kraftproof.checkers.engines.repeated.queue.search import advance, best, first_row, follow
from kraftproof.checkers.engines.repeated.queue.steps import (
    capacity_for,
    following,
    is_through,
    next_of,
)
from kraftproof.checkers.history.columns import NEVER
from kraftproof.checkers.kernels import kernel
from kraftproof.checkers.options import Limits

_FIRST_KEPT: Final = 8
_MOST_KEPT: Final = 512
_WIDER: Final = 4
_STATES_A_SECOND: Final = 20_000

_Pair = tuple[int, int]
"""A put and a take, each by its place in the lines."""


def order_of(calls: QueueCalls, cut: int, limits: Limits) -> Ints | None:
    """Return puts and takes of the only key up to an event in a legal order; None if unknown."""
    queue = queue_of(calls, 0, len(calls))
    lines = lines_of(queue, cut)
    if len(lines.starts) < 2:
        return np.empty(0, dtype=np.int64)
    heuristic, kept = heuristic_of(lines), _FIRST_KEPT
    most = int(limits.seconds * _STATES_A_SECOND)
    while kept <= _MOST_KEPT and most > 0:
        levels, is_found = _levels(lines, heuristic, kept, most)
        if is_found:
            pairs = _way_back(lines, heuristic, levels)
            return np.searchsorted(calls.invoke, lines.invoke[_merged(lines, pairs)])
        most -= sum(map(len, levels))
        kept *= _WIDER
    return None


def _levels(lines: Lines, heuristic: Heuristic, kept: int, most: int) -> tuple[list[Rows], bool]:
    """Return the best states of each level, and whether one of the last level's is through."""
    now, soon = first_row(lines, heuristic), np.zeros((0, heuristic.width), np.int32)
    levels: list[Rows] = []
    while len(now) + len(soon) > 0 and most > 0:
        now, soon = best(lines, heuristic, now, kept), best(lines, heuristic, soon, kept)
        levels.append(now)
        most -= len(now)
        _, is_legal, now, soon = advance(lines, heuristic, now, soon)
        if is_legal:
            return levels, True
    return levels, False


def _way_back(lines: Lines, heuristic: Heuristic, levels: list[Rows]) -> list[_Pair]:
    """Return the pairs in order that lead from the first level to a state that is through."""
    lanes = len(lines.starts) - 1
    state = next(row for row in levels[-1] if is_through(lines, row[:lanes]))
    pairs: list[_Pair] = []
    level = len(levels) - 1
    while level > 0:
        for placed in (1, 2):
            before = levels[level - placed] if placed <= level else levels[0][:0]
            number, put, take = _came_from(lines, heuristic, before, state, placed)
            if number >= 0:
                pairs.append((put, take))
                state, level = before[number], level - placed
                break
        else:
            raise AssertionError("each state follows from one of a level before")
    return pairs[::-1]


@kernel
def _came_from(
    lines: Lines, heuristic: Heuristic, rows: Rows, state: Rows, placed: int
) -> tuple[int, int, int]:
    """Return the row that leads to a state, with its put and take; -1 otherwise."""
    lanes = len(lines.starts) - 1
    puts, child = np.empty(lines.takes, dtype=np.int64), np.empty(heuristic.width, dtype=np.int32)
    found = np.empty((capacity_for(lines), 2), dtype=np.int64)
    for number in range(len(rows)):
        row = rows[number]
        for choice in range(following(lines, row[:lanes], puts, found)):
            is_so = follow(lines, heuristic, row, found[choice], child) == placed
            if is_so and np.array_equal(child, state):
                put = next_of(lines, row, found[choice, 0])
                return number, put, next_of(lines, row, found[choice, 1])
    return -1, -1, -1


def _merged(lines: Lines, pairs: list[_Pair]) -> list[int]:
    """Return the puts and takes of pairs, and the puts left, one after the other."""
    firsts = [one for one, _ in pairs]
    left = sorted(set(range(int(lines.starts[lines.takes]))).difference(firsts))
    left = sorted((n for n in left if lines.complete[n] != NEVER), key=lines.complete.__getitem__)
    ends = [int(min(lines.complete[one], lines.complete[other])) for one, other in pairs]
    ends += [int(lines.complete[one]) for one in left]
    latest = [*accumulate(reversed(ends), min)][::-1]
    moments = [
        ((end, False, number), one)
        for number, (one, end) in enumerate(zip([*firsts, *left], latest, strict=True))
    ]
    soonest = (-1, False)
    for number, (one, other) in enumerate(pairs):
        begun = int(max(lines.invoke[one], lines.invoke[other]))
        soonest = max(soonest, (latest[number], False), (begun, True))
        moments.append(((*soonest, number), other))
    return [call for _, call in sorted(moments, key=lambda moment: moment[0])]
