"""Sets asked after single elements: a register for each (`checkers.calls.sets`).

A history of one set is linearizable if and only if those of all of its registers are, since no
operation is about two (Herlihy and Wing 1990), and so is each prefix. The first illegal completion
of the set is therefore the first among its registers'. Complexity and memory are those of
`checkers.engines.register.registers`; that each register holds one of two values keeps its searches
small.
"""

import numpy as np

from kraftproof.checkers.calls.sets import SetCalls
from kraftproof.checkers.engines.kernels.bisection import outcome_of, spans
from kraftproof.checkers.engines.register.registers import decide as decide_registers
from kraftproof.checkers.engines.types import Outcome
from kraftproof.checkers.options import Limits
from kraftproof.checkers.verdict import Verdict


def decide(calls: SetCalls, limits: Limits) -> list[Outcome]:
    """Return the outcome of each set."""
    found = decide_registers(calls.registers, limits)
    by_key: list[list[Outcome]] = [[] for _ in spans(calls)]
    for key, outcome in zip(calls.register_keys.tolist(), found, strict=True):
        if outcome.verdict is not Verdict.VALID:
            by_key[key].append(outcome)
    return [
        _together(calls, start, end, by_key[key]) for key, (start, end) in enumerate(spans(calls))
    ]


def _together(calls: SetCalls, start: int, end: int, wrong: list[Outcome]) -> Outcome:
    """Return the outcome of a set from those of its registers that are not valid."""
    first_illegal = []
    for outcome in wrong:
        if outcome.first_illegal_row is None:
            return (
                outcome  # a limit was reached: nobody knows which is the first illegal completion
            )
        first_illegal.append(
            start + int(np.searchsorted(calls.rows[start:end], outcome.first_illegal_row))
        )
    first = min(first_illegal, key=calls.complete.__getitem__, default=None)
    return outcome_of(calls, start, end, first, "set")
