"""Registers that number their values: the versions give the order, and it is only checked.

Every set makes the version after the one that it found, so version k is made by exactly one set,
after that of k - 1 and all gets of k - 1, before all gets of k. What completed therefore has one
possible order. It is legal if and only if no version is made twice, a set-if makes the version
after the one that it compares with, gets see what was set, and no call was invoked after one that
the order puts behind it has completed.

Up to the greatest version that a completed call was told, one that no completed call made must have
been made by an open one: by one that tells its version (later, or as a set-if does), if that set
what was seen, or else by a set of which nobody knows the version. One that was invoked before
anything at that version or after it completed will do, and such *deadlines* never fall from one
version to the next. So the gaps are filled from the least on: those whose value was seen first,
each with the latest set of that value that is early enough, which leaves the earliest to the
others; then those of which any value will do.

Time O(n log n), most of it sorting gaps; memory O(n). An invalid key's first hopeless completion is
found by bisection over its prefixes.
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
    """Returns the outcome of each key."""

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
    """Lays out what completed by version; None if it can't be.

    Returns:
        of each version, whether a completed call made it, the value set or seen or NONE, and until
        when what makes it must have been invoked.
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
    """Says whether open sets can have made the versions that no completed call made."""
    gaps = np.flatnonzero(~is_made).tolist()
    if not gaps:
        return True
    is_get, value, version, expected = columns
    invoke, complete = times
    free: dict[int, list[int]] = {}
    told: dict[int, list[int]] = {}
    for call in np.flatnonzero(~is_get & (complete == NEVER)).tolist():
        made = int(version[call]) if version[call] != UNTOLD else int(expected[call]) + 1
        if expected[call] not in {UNTOLD, made - 1}:
            continue
        if expected[call] == UNTOLD and version[call] == UNTOLD:
            free.setdefault(int(value[call]), []).append(int(invoke[call]))
        else:
            told.setdefault(made, []).append(call)
    left = []
    for gap in gaps:
        fitting = (
            call
            for call in told.get(gap, ())
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
    """Removes the latest of some times that is before a deadline, if there is one."""
    place = bisect_left(begun, deadline) - 1
    if place < 0:
        return False
    del begun[place]
    return True
