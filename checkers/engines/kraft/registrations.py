"""Broker ids that are registered and lost: a frontier of what the controller may hold.

Epochs grow, so grants have an order; what a state holds is the largest epoch told, whether and to
whom it belongs, and how much is lost: time is mostly O(n c), memory that of the frontier and of the
updates on the way to it (`checkers.engines.kraft.registration_sweep`).
"""

import time
from functools import partial

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.calls.registration import RegistrationCalls
from kraftproof.checkers.engines.kernels.bisection import outcome_of, spans
from kraftproof.checkers.engines.kraft.registration_sweep import LimitReachedError, Sweep
from kraftproof.checkers.engines.types import Outcome
from kraftproof.checkers.options import Limits
from kraftproof.checkers.verdict import Verdict

_ENGINE = "registrations"


def decide(calls: RegistrationCalls, limits: Limits) -> list[Outcome]:
    """Return the outcome of each broker id."""
    return [_outcome(calls, start, end, limits) for start, end in spans(calls)]


def order_of(calls: RegistrationCalls, cut: int, limits: Limits) -> NDArray[np.int64] | None:
    """Return the updates of the only key up to an event in a legal order, None if unknown."""
    deadline = time.monotonic() + limits.seconds
    for is_narrow in (True, False):
        sweep = Sweep(calls, 0, len(calls), limits, deadline=deadline, cut=cut, is_narrow=is_narrow)
        try:
            if sweep.first_stuck() is None:
                return np.asarray(sweep.order(), dtype=np.int64)
        except LimitReachedError:
            return None
    return None


def _outcome(calls: RegistrationCalls, start: int, end: int, limits: Limits) -> Outcome:
    try:
        stuck = _first_stuck(calls, start, end, limits)
    except LimitReachedError as error:
        return Outcome(verdict=Verdict.UNKNOWN, engine=_ENGINE, reason=str(error))
    return outcome_of(calls, start, end, None if stuck is None else start + stuck, _ENGINE)


def _first_stuck(calls: RegistrationCalls, start: int, end: int, limits: Limits) -> int | None:
    """Return the first call of a key whose completion no legal order reaches; None if all are.

    An order of all shows that none is; or, of what completed before that which even endless
    indeterminate calls don't help, that this is it. If none was found, an exact sweep decides.

    Raises:
        LimitReachedError: a limit was reached.
    """
    deadline = time.monotonic() + limits.seconds
    sweep = partial(Sweep, calls, start, end, limits, deadline=deadline)
    if sweep(is_narrow=True).first_stuck() is None:
        return None
    stuck = sweep(is_relaxed=True).first_stuck()
    if stuck is not None:
        before = int(calls.complete[start + stuck]) - 1
        if sweep(is_narrow=True, cut=before).first_stuck() is None:
            return stuck
    return sweep().first_stuck()
