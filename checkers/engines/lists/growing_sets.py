"""Sets that only grow, under whole reads: the reads form a chain that keeps real time.

Of two reads of a growing set, one contains the other, so the reads are ordered by size, and reads
of equal size are equal. An element was added after the last read without it and before the first
read with it; unread elements were added after all reads. This orders all calls except adds between
two reads, and equal reads, which commute. So a legal order exists if and only if the reads form a
chain and no call completed before the invocation of an earlier call in that order; one pass that
keeps the latest invocation so far decides it.

Each element is added once; a set with repeated adds goes to the general engine. An add that is open
at the end of a prefix counts if a read saw it. A decision takes O(elements read); bisection finds
the first illegal completion; memory is O(elements read).
"""

import numpy as np

from kraftproof.checkers.calls.sets import GrowingSetCalls
from kraftproof.checkers.engines.kernels.bisection import find_first_illegal, outcome_of, spans
from kraftproof.checkers.engines.lists.order import Ints
from kraftproof.checkers.engines.types import Outcome
from kraftproof.checkers.history.columns import NEVER
from kraftproof.checkers.kernels import kernel
from kraftproof.checkers.options import Limits


def decide(calls: GrowingSetCalls, limits: Limits) -> list[Outcome | None]:
    """Return the outcome of each set, None for one left to the general engine."""
    del limits  # linear: nothing to bound
    return [_decide_key(calls, key, *span) for key, span in enumerate(spans(calls))]


def _decide_key(calls: GrowingSetCalls, key: int, start: int, end: int) -> Outcome | None:
    if calls.is_repeated[key]:
        return None
    invoke, complete = calls.invoke[start:end], calls.complete[start:end]
    is_read = calls.is_read[start:end]  # one action a call
    seen = calls.seen[start : end + 1] - calls.seen[start]
    elements = calls.elements[calls.seen[start] : calls.seen[end]]
    elements = np.where(elements < 0, elements, elements - start)

    def is_legal(_start: int, _end: int, cut: int) -> bool:
        required = complete <= min(cut, NEVER - 1)
        reads = np.flatnonzero(required & is_read)
        reads = reads[np.argsort(np.diff(seen)[reads], kind="stable")]
        level = levels(reads, seen, elements, len(is_read))
        if level is None:
            return False
        sizes = np.diff(seen)[reads]
        group = np.searchsorted(sizes, np.append(sizes, NEVER))  # equal reads are one block
        adds = np.flatnonzero(~is_read & (required | (level < len(reads))))
        calls = np.append(adds, reads)
        block = np.append(2 * group[level[adds]], 2 * group[:-1] + 1)
        return bool(keeps_time(block, invoke[calls], complete[calls]))

    first_illegal = find_first_illegal(calls, start, end, is_legal)
    return outcome_of(calls, start, end, first_illegal, "growing-set")


@kernel
def levels(reads: Ints, seen: Ints, elements: Ints, calls: int) -> Ints | None:
    """Return the place of the first read that saw each add, None if the reads form no chain.

    Args:
        reads: int64[r], calls, by the number of elements read.
        seen: int64[n + 1], the start of each call's elements in `elements`.
        elements: int64[e], adds; negative for elements without an add.
        calls: n.

    Returns:
        int64[n]; r for an add that no read saw.
    """
    level = np.full(calls, len(reads))
    latest, times = np.full(calls, -1), np.zeros(calls, dtype=np.int64)
    for place in range(len(reads)):
        for add in elements[seen[reads[place]] : seen[reads[place] + 1]]:
            if add < 0 or latest[add] == place:
                return None
            latest[add] = place
            times[add] += 1
            level[add] = min(level[add], place)
    for add in range(calls):
        if times[add] != len(reads) - level[add]:
            return None
    return level


@kernel
def keeps_time(block: Ints, invoke: Ints, complete: Ints) -> bool:
    """Return whether nothing completed before something of a lesser block was invoked."""
    latest, latest_here, here = -1, -1, -1
    for call in np.argsort(block):
        if block[call] > here:
            latest, here = latest_here, block[call]
        if complete[call] < latest:
            return False
        latest_here = max(latest_here, invoke[call])
    return True
