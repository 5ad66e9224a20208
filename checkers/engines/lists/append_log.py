"""Logs with offsets: a sweep in real time, O(n log n) a key, memory O(n).

Offsets grow, so they give the order of the produces. A fetch with a value comes after its produce;
an empty fetch comes before the produce of its offset. Give each produce its earliest place: after
its invocation, after the produces of smaller offsets, and after the invocation of each empty fetch
of its offset. A fetch with a value only has to complete after that place and delays nothing. The
earliest places leave the most freedom to later offsets, so if a place is too late for its
operation, no legal order exists. An incomplete produce counts if a fetch found it. Bisection finds
the first illegal completion (`checkers.engines.kernels.bisection`).
"""

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.calls.append_log import FOUND_NONE, PRODUCED, LogCalls
from kraftproof.checkers.engines.kernels.bisection import decide_keys
from kraftproof.checkers.engines.types import Outcome
from kraftproof.checkers.history.columns import NEVER
from kraftproof.checkers.kernels import kernel
from kraftproof.checkers.options import Limits

Ints = NDArray[np.int64]


def decide(calls: LogCalls, limits: Limits) -> list[Outcome]:
    """Return the outcome of each log."""
    del limits  # near-linear: nothing to bound

    def is_legal(start: int, end: int, cut: int) -> bool:
        offset = calls.offset[start:end]
        order = np.argsort(offset, kind="stable")
        return bool(
            is_log(
                order,
                calls.action[start:end],
                offset,
                calls.value[start:end],
                calls.invoke[start:end],
                calls.complete[start:end],
                cut,
            )
        )

    return decide_keys(calls, "append-log", is_legal)


@kernel
def is_log(
    order: Ints,
    action: NDArray[np.int8],
    offset: Ints,
    value: Ints,
    invoke: Ints,
    complete: Ints,
    cut: int,
) -> bool:
    """Return whether a log can have been appended to and read like this up to a cut.

    Args:
        order: int64[n], the calls by (offset, invocation).
        action: int8[n], as in `LogCalls`.
        offset: int64[n].
        value: int64[n].
        invoke: int64[n], ascending.
        complete: int64[n].
        cut: the event.
    """
    latest, start = -1, 0
    while start < len(order):
        end = start
        while end < len(order) and offset[order[end]] == offset[order[start]]:
            end += 1
        latest = _place_of(order[start:end], action, value, invoke, complete, cut, latest)
        if latest == NEVER:
            return False
        start = end
    return True


@kernel
def _place_of(
    calls: Ints,
    action: NDArray[np.int8],
    value: Ints,
    invoke: Ints,
    complete: Ints,
    cut: int,
    latest: int,
) -> int:
    """Return the earliest place of the produce at an offset, NEVER if it has no place.

    Args:
        calls: The calls on the offset, by invocation.
        action: int8[n].
        value: int64[n].
        invoke: int64[n].
        complete: int64[n].
        cut: The event.
        latest: The lower bound of the place; returned if no produce is necessary.
    """
    produced, required, found, soonest, wanted = -1, 0, -1, NEVER, latest
    for call in calls[(complete[calls] <= cut) & (complete[calls] != NEVER)]:
        if action[call] == FOUND_NONE:
            wanted = max(wanted, invoke[call])
            continue
        soonest = min(soonest, complete[call])
        if action[call] == PRODUCED:
            produced, required = call, required + 1
        elif found >= 0 and value[found] != value[call]:
            return NEVER
        else:
            found = call
    if required == 0 and found >= 0:
        produced = _open_produce(calls, action, value, invoke, cut, value[found])
    if required > 1 or (found >= 0 and (produced < 0 or value[produced] != value[found])):
        return NEVER
    if produced < 0:
        return latest
    place = max(wanted, invoke[produced])
    return NEVER if soonest < place else place


@kernel
def _open_produce(
    calls: Ints, action: NDArray[np.int8], value: Ints, invoke: Ints, cut: int, wanted: int
) -> int:
    """Return the first produce of a value that was invoked before a cut, -1 if none."""
    for call in calls:
        if action[call] == PRODUCED and invoke[call] < cut and value[call] == wanted:
            return int(call)
    return -1
