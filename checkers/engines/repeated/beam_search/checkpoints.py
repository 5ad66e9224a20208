"""Places where the search by returns may start again, and how it came there.

For `checkers.engines.repeated.beam_search.beam_search`.
"""

from dataclasses import dataclass

import numpy as np

from kraftproof.checkers.engines.repeated.beam_search.configurations import DROPPED, LOOSE, SIZE
from kraftproof.checkers.engines.repeated.beam_search.sweep import BEFORE, NODES, POSITION, Search
from kraftproof.checkers.engines.repeated.beam_search.window import Window
from kraftproof.checkers.engines.repeated.layout import Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a search may start again.

    Attributes:
        position: among the returns.
        rows: int64[k, .], the configurations there.
        window: what is open.
        is_exact: whether they stand for all.
        nodes: int64[k], the last update that each used, by its place in the log.
        log: int64[., 6], the updates that were used since the place before by any of these, as
            `Search` has them; of no length where no order is asked for.
    """

    position: int
    rows: Ints
    window: Window
    is_exact: bool
    nodes: Ints
    log: Ints


def saved(search: Search, *, is_exact: bool) -> Place:
    """Return where a search stands."""
    there = search.there
    kept = np.flatnonzero(there.is_kept[: there.at[SIZE]])
    nodes, log = _led_there(there.nodes[kept], search.log[: search.at[NODES]])
    return Place(
        position=int(search.at[POSITION]),
        rows=there.rows[kept],
        window=Window(*(part.copy() for part in search.window)),
        is_exact=is_exact,
        nodes=nodes,
        log=log,
    )


def _led_there(nodes: Ints, log: Ints) -> tuple[Ints, Ints]:
    """Return a log with those updates only that led to some configurations, and their last."""
    if not len(log):
        return nodes, log
    is_on_the_way = np.zeros(len(log), dtype=np.bool_)
    ends = np.unique(nodes[nodes >= 0])
    while len(ends):
        is_on_the_way[ends] = True
        before = np.unique(log[ends, BEFORE])
        ends = before[before >= 0]
        ends = ends[~is_on_the_way[ends]]
    number = np.cumsum(is_on_the_way) - 1
    led = log[is_on_the_way]
    led[:, BEFORE] = _renumbered(led[:, BEFORE], number)
    return _renumbered(nodes, number), led


def _renumbered(nodes: Ints, number: Ints) -> Ints:
    """Return the new numbers of updates; those of the rows that a search began with stay."""
    renumbered: Ints = nodes.copy()
    renumbered[nodes >= 0] = number[nodes[nodes >= 0]]
    return renumbered


def restore(search: Search, place: Place) -> None:
    """Have a search stand at a place, with nothing in its log."""
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
