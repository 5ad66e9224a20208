"""Fencing tokens: a sweep in real time, O(n log n) a key, memory O(n).

Tokens grow, so grants are ordered by token. A token is alive from its grant to its end, at any time
after its last accepted use and no later than the next grant; a call that finds it dead lies before
its grant or after its end. Give each grant its earliest place: after its invocation, after the
invocations of all accepted uses of smaller tokens, and after the calls that must precede it. These
are the calls that find the token dead and completed before the last of its accepted uses can have
begun; a sweep over the completions finds them, since a call put before the grant can only delay the
grant. The earliest places leave the most freedom to later tokens, so if a place is too late for its
operation, no legal order exists. Bisection finds the first illegal completion
(`checkers.engines.kernels.bisection`).

`checkers.kraft.tokens` checks broker epochs, which never expire unseen, by other rules.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.calls.fencing import ALIVE, DEAD, GRANTED, FencingCalls
from kraftproof.checkers.engines.kernels.bisection import decide_keys
from kraftproof.checkers.engines.types import Outcome
from kraftproof.checkers.history.columns import NEVER
from kraftproof.checkers.kernels import kernel
from kraftproof.checkers.options import Limits

Ints = NDArray[np.int64]

_NOT_GRANTED: Final = -1
_GRANTED_TWICE: Final = -2


def decide(calls: FencingCalls, limits: Limits) -> list[Outcome]:
    """Return the outcome of each lock."""
    del limits  # near-linear: nothing to bound

    def is_legal(start: int, end: int, cut: int) -> bool:
        invoke, complete = calls.invoke[start:end], calls.complete[start:end]
        token = calls.token[start:end]
        order = np.lexsort((complete, token))
        return bool(is_fenced(order, calls.action[start:end], token, invoke, complete, cut))

    return decide_keys(calls, "tokens", is_legal)


@kernel
def is_fenced(
    order: Ints, action: NDArray[np.int8], token: Ints, invoke: Ints, complete: Ints, cut: int
) -> bool:
    """Return whether a lock's tokens can have lived one after the other up to a cut.

    Args:
        order: int64[n], the calls by (token, completion).
        action: int8[n], as in `FencingCalls`.
        token: int64[n].
        invoke: int64[n].
        complete: int64[n].
        cut: the event.
    """
    latest, start = -1, 0
    while start < len(order):
        end = start
        while end < len(order) and token[order[end]] == token[order[start]]:
            end += 1
        latest = _end_of_token(order[start:end], action, invoke, complete, cut, latest)
        if latest == NEVER:
            return False
        start = end
    return True


@kernel
def _end_of_token(
    calls: Ints, action: NDArray[np.int8], invoke: Ints, complete: Ints, cut: int, latest: int
) -> int:
    """Return the earliest end of a token, NEVER if it can't have lived.

    Args:
        calls: The calls on the token, by completion.
        action: int8[n].
        invoke: int64[n].
        complete: int64[n].
        cut: The event.
        latest: The lower bound of the token's grant.
    """
    granted, alive, first_alive = _grant(calls, action, invoke, complete, cut)
    if granted < 0:
        return latest if granted == _NOT_GRANTED and alive < 0 else NEVER
    place = max(latest, invoke[granted])
    for call in calls:
        if action[call] == DEAD and complete[call] <= cut and complete[call] < max(place, alive):
            place = max(place, invoke[call])
    is_late = complete[granted] <= cut and complete[granted] < place
    return NEVER if is_late or first_alive < place else max(place, alive)


@kernel
def _grant(
    calls: Ints, action: NDArray[np.int8], invoke: Ints, complete: Ints, cut: int
) -> tuple[int, int, int]:
    """Return a token's grant, the last invocation and the first completion of accepted uses.

    The grant is _NOT_GRANTED if it did not have to be; a token granted twice is _GRANTED_TWICE.
    """
    granted, alive, first_alive = _NOT_GRANTED, -1, NEVER
    for call in calls:
        if action[call] == ALIVE and complete[call] <= cut:
            alive = max(alive, invoke[call])
            first_alive = min(first_alive, complete[call])
    for call in calls:
        if action[call] != GRANTED or invoke[call] >= cut:
            continue
        if complete[call] <= cut:
            if granted >= 0:
                return _GRANTED_TWICE, alive, first_alive
            granted = call
        elif alive >= 0 and (granted < 0 or complete[granted] > cut):
            granted = call if granted < 0 or invoke[call] < invoke[granted] else granted
    return granted, alive, first_alive
