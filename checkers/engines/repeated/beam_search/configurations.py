"""The configurations that a search by returns keeps: those that no other covers, and the best.

Kernels for `checkers.engines.repeated.beam_search.beam_search`.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.engines.repeated.beam_search.heuristic import DOOMED, covers, promise
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
    """Configurations that were met at one return.

    Attributes:
        rows: int64[p, 2 + r + l], as `checkers.engines.repeated.beam_search.steps` has them.
        nodes: int64[p], the last update that each used, by its place in the search's log.
        scores: int64[p], how good each looks.
        is_kept: bool[p]; false if another one covers it, or it was not among the best.
        heads: int32[.], the newest row of each bucket, NONE otherwise.
        links: int32[p], the one before it.
        tally: int64[.], to count scores in.
        taste: int64[r + 1], what a call costs that is not done, by how many registers it finds.
        at: int64[4], the SIZE, how many were DROPPED for want of room, and COMPARED with others,
            and 1 if some may be covered in a LOOSE sense only.
    """

    rows: Ints
    nodes: Ints
    scores: Ints
    is_kept: NDArray[np.bool_]
    heads: Narrow
    links: Narrow
    tally: Ints
    taste: Ints
    at: Ints


def new_pool(room: int, columns: int, registers: int) -> Pool:
    """Return an empty pool."""
    return Pool(
        rows=np.zeros((room, columns), dtype=np.int64),
        nodes=np.zeros(room, dtype=np.int64),
        scores=np.zeros(room, dtype=np.int64),
        is_kept=np.zeros(room, dtype=np.bool_),
        heads=np.full(_BUCKETS, NONE, dtype=np.int32),
        links=np.full(room, NONE, dtype=np.int32),
        tally=np.zeros(_SCORES, dtype=np.int64),
        taste=np.zeros(registers + 1, dtype=np.int64),
        at=np.zeros(4, dtype=np.int64),
    )


@bare_kernel
def clear(pool: Pool) -> None:
    """Empty a pool."""
    pool.heads[:] = NONE
    pool.at[SIZE] = 0


@bare_kernel
def draft(pool: Pool, row: Ints, node: int) -> None:
    """Copy a row to behind the last one of a pool, where it may be changed before it is added."""
    pool.nodes[pool.at[SIZE]] = node
    for column in range(len(row)):
        pool.rows[pool.at[SIZE], column] = row[column]


@bare_kernel
def is_full(pool: Pool) -> bool:
    """Return whether there is no room for another row; then one is dropped."""
    if pool.at[SIZE] + 1 < len(pool.rows):
        return False
    pool.at[DROPPED] += 1
    return True


@bare_kernel
def judge_and_add(layout: Layout, pool: Pool, window: Window, horizon: int) -> None:
    """Add what was drafted, if anything may come of it."""
    worth = promise(layout, window, pool.rows[pool.at[SIZE]], pool.taste, horizon)
    if worth != DOOMED:
        add(pool, window, worth)


@bare_kernel
def add(pool: Pool, window: Window, score: int) -> None:
    """Add what was drafted, unless a row covers it; drops those that it covers."""
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
    """Keep the best rows from one on, so many at most; of equally good ones the older."""
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
