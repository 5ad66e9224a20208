"""Places where the search by returns may start again, and how it came there.

For `checkers.engines.beam`.
"""

from dataclasses import dataclass

import numpy as np

from checkers.engines.beam_layout import Ints
from checkers.engines.beam_rows import DROPPED, LOOSE, SIZE
from checkers.engines.beam_sweep import NODES, POSITION, Search
from checkers.engines.beam_window import Window


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a search may start again.

    Attributes:
        position: among the returns.
        rows: int64[k, .], the configurations there.
        window: what is open.
        is_exact: whether they stand for all.
        nodes: int64[k], the last update that each used, by its place in the log.
        log: int64[., 6], the updates that were used since the place before, as `Search` has them;
            of no length where no order is asked for.
    """

    position: int
    rows: Ints
    window: Window
    is_exact: bool
    nodes: Ints
    log: Ints


def saved(search: Search, *, is_exact: bool) -> Place:
    """Returns where a search stands."""
    there = search.there
    kept = np.flatnonzero(there.is_kept[: there.at[SIZE]])
    return Place(
        position=int(search.at[POSITION]),
        rows=there.rows[kept],
        window=Window(*(part.copy() for part in search.window)),
        is_exact=is_exact,
        nodes=there.nodes[kept],
        log=search.log[: search.at[NODES]].copy(),
    )


def restore(search: Search, place: Place) -> None:
    """Has a search stand at a place, with nothing in its log."""
    there, count = search.there, len(place.rows)
    there.rows[:count] = place.rows
    there.nodes[:count] = -1 - np.arange(count)
    there.is_kept[:count] = True
    there.at[:] = count, 0, 0, 0
    search.here.at[DROPPED] = 0
    there.at[LOOSE] = search.here.at[LOOSE] = not place.is_exact
    search.at[POSITION], search.at[NODES] = place.position, 0
    for part, saved_part in zip(search.window, place.window, strict=True):
        part[:] = saved_part
