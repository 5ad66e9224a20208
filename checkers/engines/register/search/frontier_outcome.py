"""What a frontier found of a register, as an outcome: where it got stuck, and with which values."""

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.calls.register import RegisterCalls
from kraftproof.checkers.engines.register.search import frontier
from kraftproof.checkers.engines.register.search.layout import CALL, Layout
from kraftproof.checkers.engines.types import Outcome
from kraftproof.checkers.text import OTHER_VALUE
from kraftproof.checkers.verdict import Verdict


def outcome_of(
    calls: RegisterCalls, layout: Layout, key: int, row: NDArray[np.int64]
) -> Outcome | None:
    """Return what `frontier.sweep` found of a key, as a row of it; None if it is undecided."""
    if row[0] == frontier.VALID:
        return Outcome(verdict=Verdict.VALID, engine="frontier")
    if row[0] != frontier.ILLEGAL:
        return None
    start, end = int(calls.starts[key]), int(calls.starts[key + 1])
    position = int(row[1])
    call = start + int(layout.returning[start + position, CALL])
    numbers = layout.values[layout.value_starts[key] + row[2:][row[2:] >= 0]]
    is_asked = np.isin(numbers, calls.expected[start:end])
    states = {
        f"value {calls.values[number]}" if asked else OTHER_VALUE
        for number, asked in zip(numbers.tolist(), is_asked.tolist(), strict=True)
    }
    return Outcome(
        verdict=Verdict.INVALID,
        engine="frontier",
        first_illegal_row=int(calls.rows[layout.source[call]]),
        linearizable=position,
        states=tuple(sorted(states)),
    )
