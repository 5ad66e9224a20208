"""Finds the first completion that no legal order reaches, with an engine that decides prefixes.

The prefix of a history up to an event has what was invoked before it; what completes by then is
required, and what is open may have taken effect, with the answer that it got later, or not. If a
history is linearizable so are its prefixes. Therefore an engine that decides any prefix finds the
first completion that can't be by bisection, asking log2(n) times. Nothing here knows what a call
means.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from checkers.calls import Calls
from checkers.columns import NEVER
from checkers.engines.outcome import Outcome
from checkers.verdict import Verdict

Legal = Callable[[int, int, int], bool]
"""(start, end, cut) -> whether calls start to end are linearizable up to the event `cut`."""


def first_stuck(calls: Calls, start: int, end: int, is_legal: Legal) -> int | None:
    """Returns the first completion that no legal order reaches, as a call; None if all are."""
    if is_legal(start, end, NEVER):
        return None
    completions = start + np.argsort(calls.complete[start:end], kind="stable")
    low, high = 0, int(np.count_nonzero(calls.complete[start:end] != NEVER)) - 1
    while low < high:
        middle = (low + high) // 2
        if is_legal(start, end, int(calls.complete[completions[middle]])):
            low = middle + 1
        else:
            high = middle
    return int(completions[low])


def outcome_of(
    calls: Calls, start: int, end: int, stuck: int | None, engine: str, anomaly: str | None = None
) -> Outcome:
    """Returns the outcome of a key of which some call is stuck, or none."""
    if stuck is None:
        return Outcome(verdict=Verdict.VALID, engine=engine)
    return Outcome(
        verdict=Verdict.INVALID,
        engine=engine,
        stuck_row=int(calls.rows[stuck]),
        linearizable=int(np.count_nonzero(calls.complete[start:end] < calls.complete[stuck])),
        anomaly=anomaly,
    )


def decide_keys(calls: Calls, engine: str, is_legal: Legal) -> list[Outcome]:
    """Returns the outcome of every key, by an engine that decides all prefixes."""
    return [
        outcome_of(calls, start, end, first_stuck(calls, start, end, is_legal), engine)
        for start, end in spans(calls)
    ]


def decide_between(
    calls: Calls, start: int, end: int, engine: str, strict: Legal, lenient: Legal
) -> Outcome | None:
    """Returns the outcome of a key of which only bounds can be decided, None if they differ.

    Args:
        calls: all calls.
        start: the key's first call.
        end: the next key's first call.
        engine: the engine's name.
        strict: never legal where it should not be, perhaps illegal where it should be legal.
        lenient: the other way round.
    """
    stuck = first_stuck(calls, start, end, strict)
    if stuck is not None and stuck != first_stuck(calls, start, end, lenient):
        return None
    return outcome_of(calls, start, end, stuck, engine)


def spans(calls: Calls) -> Sequence[tuple[int, int]]:
    """Returns where the calls of each key begin and end."""
    starts = calls.starts.tolist()
    return list(pairwise(starts))
