"""What is known of the states of a sweep over a priority queue by looking ahead.

Kernels for `checkers.engines.repeated.priority_queue.heuristic`. An open take needs that all that
is less is taken before it completes: by open takes, by takes that begin until then, or by lost
ones. And each take that is yet to complete needs an element: if some took theirs early that could
have waited, or lost takes did, one that completes sooner may find none.
"""

from typing import Final, NamedTuple

import numpy as np

from kraftproof.checkers.calls.containers import PUT
from kraftproof.checkers.engines.repeated.priority_queue.layout import NOBODY, Ints, Layout
from kraftproof.checkers.engines.repeated.priority_queue.steps import (
    INSIDE,
    LOST,
    MARKS,
    Now,
    State,
    pairs,
)
from kraftproof.checkers.kernels import bare_kernel, kernel

MOST: Final = 16
"""More than so many in the way of one take are no worse."""


class Ahead(NamedTuple):
    """What is alike for all states at a completion, of each take that is open, r of them.

    Attributes:
        ready: int64[r], the open takes, as `open_takes` returns them.
        spare: int64[r], the least spare of its value from the end of the open take of it before, or
            from now, until its own.
        later: int64[r], the least spare from its own end on.
        begun: int64[r], so many more puts of its value than takes of it began, of those not lost.
    """

    ready: Ints
    spare: Ints
    later: Ints
    begun: Ints


@kernel
def look_ahead(layout: Layout, now: Now, ready: Ints) -> Ahead:
    """Returns what is to come for the takes that are open."""
    supply, moment = layout.supply, now.moment[0]
    ahead = Ahead(
        ready,
        np.full(len(ready), len(layout.action)),
        np.full(len(ready), len(layout.action)),
        np.zeros(len(ready), dtype=np.int64),
    )
    place = 0
    for it in range(len(ready)):
        rank = layout.rank[ready[it]]
        first, end = supply.ends_of[rank], supply.ends_of[rank + 1]
        if it == 0 or layout.rank[ready[it - 1]] != rank:
            place = first + np.searchsorted(supply.ends[first:end], moment)
        while place < end and supply.ends[place] < layout.complete[ready[it]]:
            ahead.spare[it] = min(ahead.spare[it], supply.spare[place])
            place += 1
        if place < end:
            ahead.later[it] = supply.later[place]
        puts = supply.puts[supply.puts_of[rank] : supply.puts_of[rank + 1]]
        takes = supply.takes[supply.takes_of[rank] : supply.takes_of[rank + 1]]
        ahead.begun[it] = np.searchsorted(puts, moment) - np.searchsorted(takes, moment)
    return ahead


@bare_kernel
def lacking_takes(layout: Layout, now: Now, ahead: Ahead, state: State) -> tuple[int, int]:
    """Returns how many lost takes some open take needs, and how many of these are not there.

    Of equal takes the first to complete needs the most.
    """
    needed, lacking, last, supply = 0, 0, NOBODY, layout.supply
    for it in range(len(ahead.ready)):
        call = ahead.ready[it]
        rank, due = layout.rank[call], layout.complete[call]
        if rank == last or state[MARKS + layout.lane[call]] != 0:
            continue
        last = rank
        if due <= supply.cut:
            in_way = _in_way(layout, now, ahead, state, it)
            there = np.searchsorted(supply.lost, due) - state[LOST]
            needed, lacking = max(needed, in_way), max(lacking, in_way - there)
    return needed, lacking


@bare_kernel
def _in_way(layout: Layout, now: Now, ahead: Ahead, state: State, it: int) -> int:
    """Returns how many that are less no take takes before an open take completes; up to MOST."""
    call, first, supply = ahead.ready[it], pairs(layout), layout.supply
    in_way, other, place = 0, 0, first + 2 * (state[INSIDE] - 1)
    while place >= first and state[place] < layout.rank[call] and in_way < MOST:
        value, left = state[place], state[place + 1]
        while other < it and layout.rank[ahead.ready[other]] <= value:
            taker = ahead.ready[other]
            left -= int(layout.rank[taker] == value and state[MARKS + layout.lane[taker]] == 0)
            other += 1
        if left > 0:
            takes = supply.takes[supply.takes_of[value] : supply.takes_of[value + 1]]
            until = np.searchsorted(takes, layout.complete[call])
            left -= until - np.searchsorted(takes, now.moment[0])
        in_way += max(0, left)
        place -= 2
    return in_way


@bare_kernel
def lacking_puts(layout: Layout, now: Now, ahead: Ahead, state: State) -> int:
    """Returns how many times a take is known to find none of what it took."""
    lacking, first, start = 0, pairs(layout), 0
    place = first + 2 * (state[INSIDE] - 1)
    while start < len(ahead.ready):
        rank, end, early = layout.rank[ahead.ready[start]], start, 0
        while end < len(ahead.ready) and layout.rank[ahead.ready[end]] == rank:
            early += int(state[MARKS + layout.lane[ahead.ready[end]]] != 0)
            end += 1
        while place >= first and state[place] < rank:
            place -= 2
        inside = state[place + 1] if place >= first and state[place] == rank else 0
        # so many were taken by lost takes; and then by those that could have waited, too
        gone = ahead.begun[start] + (end - start - early) - inside
        gone += _lost_puts_used(layout, now, state, rank) - _waiting_puts(layout, now, state, rank)
        lacking += max(0, gone - ahead.later[end - 1])
        for it in range(end - 1, start - 1, -1):
            gone += int(state[MARKS + layout.lane[ahead.ready[it]]] != 0)
            lacking += max(0, gone - ahead.spare[it])
        start = end
    return lacking


@bare_kernel
def _waiting_puts(layout: Layout, now: Now, state: State, rank: int) -> int:
    """Returns how many open puts of a value have no place yet."""
    count = 0
    for lane in range(layout.lanes):
        call = now.open[lane]
        if call != NOBODY and layout.action[call] == PUT and layout.rank[call] == rank:
            count += int(state[MARKS + lane] == 0)
    return count


@bare_kernel
def _lost_puts_used(layout: Layout, now: Now, state: State, rank: int) -> int:
    """Returns how many lost puts of a value were used; before the first its slot is another's."""
    at = layout.first[rank]
    if at == layout.first[rank + 1] or layout.invoke[layout.puts[at]] >= now.moment[0]:
        return 0
    return int(state[MARKS + layout.lanes + layout.slot[layout.puts[at]]])
