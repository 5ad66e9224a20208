"""Registers that number their values: the versions give the order, which is only checked.

Every set makes the version after the version that it found. So version k is made by exactly one
set, after the set of k - 1 and all gets of k - 1, and before all gets of k. Completed calls
therefore have one possible order. The order is legal if and only if no version is made twice, a
set-if makes the version after the one that it compares with, gets see the value that was set, and
no call was invoked after the completion of a later call of the order.

Up to the greatest version of a completed answer, a version without a completed set must come from
an open set: one that later returned its version (or names it, as a set-if does), if it set the
observed value, or else a set with an unknown version. Any such set will do that was invoked before
the completion of every call at that version or later; these *deadlines* never decrease from a
version to the next. So the gaps are filled from the least version on: gaps with an observed value
first, each with the latest set of that value that is early enough, which leaves the earliest sets
to other gaps; then the gaps for which any value will do.

Time is O(n log n), most of it for sorting gaps; memory is O(n). Bisection over the prefixes finds
the first illegal completion.
"""

from bisect import bisect_left
from typing import Final

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.calls.versioned import UNTOLD, VersionedCalls
from kraftproof.checkers.engines.kernels.bisection import decide_keys
from kraftproof.checkers.engines.types import Outcome
from kraftproof.checkers.history.columns import NEVER
from kraftproof.checkers.options import Limits

NONE: Final = -1
Times = NDArray[np.int64]
Numbers = NDArray[np.int32]
Flags = NDArray[np.bool_]


def decide(calls: VersionedCalls, _limits: Limits) -> list[Outcome]:
    """Return the outcome of each key."""

    def is_legal(start: int, end: int, cut: int) -> bool:
        end = start + int(np.searchsorted(calls.invoke[start:end], cut))
        of = slice(start, end)
        columns = (calls.is_get[of], calls.value[of], calls.version[of], calls.expected[of])
        times = (calls.invoke[of], np.where(calls.complete[of] <= cut, calls.complete[of], NEVER))
        laid_out = _laid_out(*columns, *times, calls.initial)
        return laid_out is not None and _are_filled(*laid_out, columns, times)

    return decide_keys(calls, "versioned-cas", is_legal)


def _laid_out(
    is_get: Flags,
    value: Numbers,
    version: Times,
    expected: Times,
    invoke: Times,
    complete: Times,
    initial: int,
) -> tuple[Flags, Numbers, Times] | None:
    """Lay out the completed calls by version; None if they contradict each other.

    Returns:
        For each version: whether a completed call made it; the value set or observed, or NONE; and
        the deadline for the invocation of its set.
    """
    is_done = complete != NEVER
    gets, sets = is_get & is_done, ~is_get & is_done
    seen, made = version[gets], version[sets]
    top = int(version[is_done].max(initial=0))
    if top > np.count_nonzero(~is_get):
        return None
    is_made = np.bincount(made, minlength=top + 1) > 0
    is_made[0] = True
    known = np.full(top + 1, NONE, dtype=np.int32)
    known[seen] = value[gets]
    known[made], known[0] = value[sets], initial
    follows = (expected[sets] == UNTOLD) | (expected[sets] + 1 == made)
    is_once = np.count_nonzero(is_made) == len(made) + 1
    if not (is_once and follows.all() and (known[seen] == value[gets]).all()):
        return None
    soonest = _soonest(version[is_done], complete[is_done], top + 2)
    soonest = np.minimum.accumulate(soonest[::-1])[::-1]
    deadline = np.minimum(_soonest(seen, complete[gets], top + 1), soonest[1:])
    in_order = (invoke[sets] < deadline[made]).all() and (invoke[gets] < soonest[seen + 1]).all()
    return (is_made, known, deadline) if in_order else None


def _soonest(versions: Times, complete: Times, count: int) -> Times:
    found = np.full(count, NEVER, dtype=np.int64)
    np.minimum.at(found, versions, complete)
    return found


def _are_filled(
    is_made: Flags,
    known: Numbers,
    deadline: Times,
    columns: tuple[Flags, Numbers, Times, Times],
    times: tuple[Times, Times],
) -> bool:
    """Return whether open sets can have made the versions that no completed call made."""
    gaps = np.flatnonzero(~is_made).tolist()
    if not gaps:
        return True
    is_get, value, version, expected = columns
    invoke, complete = times
    free: dict[int, list[int]] = {}
    observed: dict[int, list[int]] = {}
    for call in np.flatnonzero(~is_get & (complete == NEVER)).tolist():
        made = int(version[call]) if version[call] != UNTOLD else int(expected[call]) + 1
        if expected[call] not in {UNTOLD, made - 1}:
            continue
        if expected[call] == UNTOLD and version[call] == UNTOLD:
            free.setdefault(int(value[call]), []).append(int(invoke[call]))
        else:
            observed.setdefault(made, []).append(call)
    left = []
    for gap in gaps:
        fitting = (
            call
            for call in observed.get(gap, ())
            if invoke[call] < deadline[gap] and known[gap] in {NONE, value[call]}
        )
        if next(fitting, None) is None:
            left.append(gap)
    for gap in left:
        if known[gap] != NONE and not _take_latest(free.get(int(known[gap]), []), deadline[gap]):
            return False
    remaining = sorted(begun for some in free.values() for begun in some)
    unseen = [int(deadline[gap]) for gap in left if known[gap] == NONE]
    return len(unseen) <= len(remaining) and all(
        begun < end for begun, end in zip(remaining, unseen, strict=False)
    )


def _take_latest(begun: list[int], deadline: int) -> bool:
    """Remove the latest time before a deadline, if any."""
    place = bisect_left(begun, deadline) - 1
    if place < 0:
        return False
    del begun[place]
    return True
