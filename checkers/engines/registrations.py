"""Broker ids that are registered and lost: a frontier of what the controller may hold.

Epochs grow, so grants have an order; what a state holds is the largest epoch told, whether and to
whom it belongs, and how much is lost: time is mostly O(n c), memory that of the frontier and of the
updates on the way to it (`checkers.engines.registration_sweep`).
"""

import numpy as np
from numpy.typing import NDArray

from checkers.calls.registration import RegistrationCalls
from checkers.engines.outcome import Outcome
from checkers.engines.prefixes import outcome_of, spans
from checkers.engines.registration_sweep import LimitReachedError, Sweep
from checkers.options import Limits
from checkers.verdict import Verdict

_ENGINE = "registrations"


def decide(calls: RegistrationCalls, limits: Limits) -> list[Outcome]:
    """Returns the outcome of each broker id."""
    return [_outcome(calls, start, end, limits) for start, end in spans(calls)]


def order_of(calls: RegistrationCalls, cut: int, limits: Limits) -> NDArray[np.int64] | None:
    """Returns the updates of the only key up to an event in a legal order, None if unknown."""
    sweep = Sweep(calls, 0, len(calls), limits, cut=cut)
    try:
        stuck = sweep.first_stuck()
    except LimitReachedError:
        return None
    return None if stuck is not None else np.asarray(sweep.order(), dtype=np.int64)


def _outcome(calls: RegistrationCalls, start: int, end: int, limits: Limits) -> Outcome:
    try:
        stuck = Sweep(calls, start, end, limits).first_stuck()
    except LimitReachedError as error:
        return Outcome(verdict=Verdict.UNKNOWN, engine=_ENGINE, reason=str(error))
    return outcome_of(calls, start, end, None if stuck is None else start + stuck, _ENGINE)
