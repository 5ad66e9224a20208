"""Registrations of broker ids: a frontier of the possible states of the controller.

Epochs grow, so grants have an order. A state has the largest epoch told, its holder, and the
certainty of both. Time is mostly O(n c); memory is the frontier and the updates before it
(`checkers.engines.kraft.registration_sweep`).
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
            if sweep.find_first_illegal() is None:
                return np.asarray(sweep.order(), dtype=np.int64)
        except LimitReachedError:
            return None
    return None


def _outcome(calls: RegistrationCalls, start: int, end: int, limits: Limits) -> Outcome:
    try:
        first_illegal = _find_first_illegal(calls, start, end, limits)
    except LimitReachedError as error:
        return Outcome(verdict=Verdict.UNKNOWN, engine=_ENGINE, reason=str(error))
    return outcome_of(
        calls, start, end, None if first_illegal is None else start + first_illegal, _ENGINE
    )


def _find_first_illegal(
    calls: RegistrationCalls, start: int, end: int, limits: Limits
) -> int | None:
    """Return the first call of a key whose completion no legal order reaches; None otherwise.

    A narrow sweep that passes everything proves validity. A completion is the first illegal one if
    a relaxed sweep fails there and a narrow sweep passes all completions before it. Otherwise an
    exact sweep decides.

    Raises:
        LimitReachedError: A limit was reached.
    """
    deadline = time.monotonic() + limits.seconds
    sweep = partial(Sweep, calls, start, end, limits, deadline=deadline)
    if sweep(is_narrow=True).find_first_illegal() is None:
        return None
    first_illegal = sweep(is_relaxed=True).find_first_illegal()
    if first_illegal is not None:
        before = int(calls.complete[start + first_illegal]) - 1
        if sweep(is_narrow=True, cut=before).find_first_illegal() is None:
            return first_illegal
    return sweep().find_first_illegal()
