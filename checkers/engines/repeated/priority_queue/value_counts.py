"""What is put and taken of each value of a priority queue, and when: to look ahead in its sweep.

For `checkers.engines.repeated.priority_queue.lookahead`.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.calls.containers import PUT, TAKE
from kraftproof.checkers.history.columns import NEVER

Ints = NDArray[np.int64]


class Supply(NamedTuple):
    """The calls of each value, v of them; all by value, and those of one value in time.

    Attributes:
        puts: int64[p], when each put that completed was invoked.
        puts_of: int64[v + 2], where those of each value begin; and so for the others.
        takes: int64[t], when each take was invoked that is known to have taken the value.
        takes_of: int64[v + 2].
        ends: int64[e], when each of these completed, up to the cut.
        ends_of: int64[v + 2].
        spare: int64[e], how many puts of the value had begun by each end, lost ones too, more than
            takes of it were over.
        later: int64[e], the least spare of the value from there on.
        lost: int64[l], when each lost take was invoked.
        cut: the last event that counts.
    """

    puts: Ints
    puts_of: Ints
    takes: Ints
    takes_of: Ints
    ends: Ints
    ends_of: Ints
    spare: Ints
    later: Ints
    lost: Ints
    cut: int


def supply_of(
    action: NDArray[np.int8], rank: Ints, invoke: Ints, complete: Ints, *, values: int, cut: int
) -> Supply:
    """Returns the supply of the calls of one key, given as in `priority_layout.Layout`."""
    is_lost, is_put = complete == NEVER, action == PUT
    told = np.flatnonzero(~is_lost & (action == TAKE))
    puts, puts_of = _by_value(np.flatnonzero(~is_lost & is_put), rank, invoke, values)
    takes, takes_of = _by_value(told, rank, invoke, values)
    ended = told[complete[told] <= cut]
    ends, ends_of = _by_value(ended, rank, complete, values)
    every, every_of = _by_value(np.flatnonzero(is_put), rank, invoke, values)
    value, span = np.sort(rank[ended]), max(invoke.max(initial=0), ends.max(initial=0)) + 1
    begun = np.searchsorted(
        np.repeat(np.arange(values + 1), np.diff(every_of)) * span + every, value * span + ends
    )
    spare = begun - every_of[value] - (np.arange(len(ends)) - ends_of[value] + 1)
    # going backwards the values get less: so the least of each begins anew
    apart = value * (2 * len(action) + 1)
    later = np.minimum.accumulate((spare + apart)[::-1])[::-1] - apart
    lost = invoke[is_lost & (action == TAKE)]
    return Supply(puts, puts_of, takes, takes_of, ends, ends_of, spare, later, lost, cut)


def _by_value(calls: Ints, rank: Ints, time: Ints, values: int) -> tuple[Ints, Ints]:
    """Returns the times of some calls by value, and where those of each value begin."""
    ordered = calls[np.lexsort((time[calls], rank[calls]))]
    return time[ordered], np.searchsorted(rank[ordered], np.arange(values + 2)).astype(np.int64)
