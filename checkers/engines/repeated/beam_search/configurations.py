"""The configurations that a search by returns keeps: the best, and no covered ones.

Kernels for `checkers.engines.repeated.beam_search.beam_search`.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.engines.repeated.beam_search.heuristic import DOOMED, covers, heuristic
from kraftproof.checkers.engines.repeated.beam_search.steps import STATE
from kraftproof.checkers.engines.repeated.beam_search.window import Window
from kraftproof.checkers.engines.repeated.layout import NONE, Ints, Layout, Narrow
from kraftproof.checkers.kernels import bare_kernel

SIZE: Final = 0
DROPPED: Final = 1
COMPARED: Final = 2
LOOSE: Final = 3

_BUCKETS: Final = 1 << 10
_SCORES: Final = 1 << 10


class Pool(NamedTuple):
    """The configurations met at a return.

    Attributes:
        rows: int64[p, 2 + r + l], as in `checkers.engines.repeated.beam_search.steps`.
        nodes: int64[p], the last update of each, by its place in the log of the search.
        scores: int64[p], the rating of each.
        is_kept: bool[p]; false if another row covers it, or it was not among the best.
        heads: int32[.], the newest row of each bucket, NONE otherwise.
        links: int32[p], the row before it in the bucket.
        tally: int64[.], counts of scores.
        waiting_costs: int64[r + 1], the cost of an unfinished call, by the number of registers that
            it finds.
        at: int64[4], the SIZE, the rows DROPPED for lack of capacity, the rows COMPARED, and 1 if
            rows may cover others in the LOOSE sense.
    """

    rows: Ints
    nodes: Ints
    scores: Ints
    is_kept: NDArray[np.bool_]
    heads: Narrow
    links: Narrow
    tally: Ints
    waiting_costs: Ints
    at: Ints


def new_pool(capacity: int, columns: int, registers: int) -> Pool:
    """Return an empty pool."""
    return Pool(
        rows=np.zeros((capacity, columns), dtype=np.int64),
        nodes=np.zeros(capacity, dtype=np.int64),
        scores=np.zeros(capacity, dtype=np.int64),
        is_kept=np.zeros(capacity, dtype=np.bool_),
        heads=np.full(_BUCKETS, NONE, dtype=np.int32),
        links=np.full(capacity, NONE, dtype=np.int32),
        tally=np.zeros(_SCORES, dtype=np.int64),
        waiting_costs=np.zeros(registers + 1, dtype=np.int64),
        at=np.zeros(4, dtype=np.int64),
    )


@bare_kernel
def clear(pool: Pool) -> None:
    """Empty a pool."""
    pool.heads[:] = NONE
    pool.at[SIZE] = 0


@bare_kernel
def draft(pool: Pool, row: Ints, node: int) -> None:
    """Copy a row behind the last row of a pool, where it may be changed before it is added."""
    pool.nodes[pool.at[SIZE]] = node
    for column in range(len(row)):
        pool.rows[pool.at[SIZE], column] = row[column]


@bare_kernel
def is_full(pool: Pool) -> bool:
    """Return whether no row fits; if so, count a dropped row."""
    if pool.at[SIZE] + 1 < len(pool.rows):
        return False
    pool.at[DROPPED] += 1
    return True


@bare_kernel
def judge_and_add(layout: Layout, pool: Pool, window: Window, horizon: int) -> None:
    """Rate the draft, and add it unless it is doomed."""
    worth = heuristic(layout, window, pool.rows[pool.at[SIZE]], pool.waiting_costs, horizon)
    if worth != DOOMED:
        add(pool, window, worth)


@bare_kernel
def add(pool: Pool, window: Window, score: int) -> None:
    """Add the draft unless a row covers it; drop the rows that it covers."""
    size = pool.at[SIZE]
    row = pool.rows[size]
    bucket, loose = _bucket(window, row), pool.at[LOOSE]
    other, newer = pool.heads[bucket], NONE
    while other != NONE:
        older = pool.links[other]
        pool.at[COMPARED] += 1
        if pool.is_kept[other] and covers(window, pool.rows[other], row, loose):
            return
        if pool.is_kept[other] and covers(window, row, pool.rows[other], loose):
            pool.is_kept[other] = False
        if pool.is_kept[other]:
            newer = other
        elif newer == NONE:
            pool.heads[bucket] = older
        else:
            pool.links[newer] = older
        other = older
    pool.scores[size], pool.is_kept[size] = score, True
    pool.links[size] = pool.heads[bucket]
    pool.heads[bucket] = size
    pool.at[SIZE] = size + 1


@bare_kernel
def _bucket(window: Window, row: Ints) -> int:
    mixed = 0
    for register in range(len(window.first)):
        mixed = (mixed * 1_000_003 + row[STATE + register] + 7) & 0xFFFFFFFF
    return int((mixed ^ mixed >> 15) & (_BUCKETS - 1))


@bare_kernel
def thin_out(pool: Pool, first: int, most: int) -> None:
    """Keep the best rows, up to a number; of equally good rows the older."""
    count, highest = 0, DOOMED
    for place in range(first, pool.at[SIZE]):
        if pool.is_kept[place]:
            highest = max(highest, pool.scores[place])
            count += 1
    if count <= most:
        return
    pool.at[DROPPED] += count - most
    pool.tally[:] = 0
    for place in range(first, pool.at[SIZE]):
        if pool.is_kept[place]:
            pool.tally[_rank(pool, place, highest)] += 1
    last, left = 0, most
    while pool.tally[last] <= left:
        left -= pool.tally[last]
        last += 1
    for place in range(first, pool.at[SIZE]):
        if pool.is_kept[place]:
            rank = _rank(pool, place, highest)
            pool.is_kept[place] = rank < last or (rank == last and left > 0)
            left -= int(rank == last)


@bare_kernel
def _rank(pool: Pool, place: int, highest: int) -> int:
    """Return how far a row is from the best."""
    return int(min(highest - pool.scores[place], _SCORES - 1))
