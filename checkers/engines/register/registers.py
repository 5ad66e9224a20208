"""Decides registers, each key by what its history holds.

- every value is written once, the first value not again, and nothing compares: `zones`;
- the same with compare-and-sets: `unique_cas`;
- values are written again: `search.portfolio`, of frontiers and a depth-first search.

This module only selects the engine.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.calls.register import CAS, READ, WRITE, RegisterCalls
from kraftproof.checkers.calls.selection import completions_of, of_keys
from kraftproof.checkers.engines.register import unique_cas
from kraftproof.checkers.engines.register.search import portfolio
from kraftproof.checkers.engines.register.zones import NONE, sweep_keys
from kraftproof.checkers.engines.types import Outcome
from kraftproof.checkers.kernels import kernel
from kraftproof.checkers.options import Limits
from kraftproof.checkers.verdict import Verdict

REPEATED: Final = 0
UNIQUE: Final = 1
UNIQUE_CAS: Final = 2


def decide(calls: RegisterCalls, limits: Limits) -> list[Outcome]:
    """Return the outcome of each key."""
    kinds = kinds_of(calls.starts, calls.action, calls.new, calls.initial, len(calls.values))
    outcomes: dict[int, Outcome] = {}
    for kind in np.unique(kinds).tolist():
        keys = np.flatnonzero(kinds == kind)
        some = of_keys(calls, keys)
        if kind == UNIQUE:
            decided = by_zones(some)
        elif kind == UNIQUE_CAS:
            decided = unique_cas.decide(some)
        else:
            decided = portfolio.decide(some, limits)
        outcomes |= zip(keys.tolist(), decided, strict=True)
    return [outcomes[key] for key in range(len(kinds))]


@kernel
def kinds_of(
    starts: NDArray[np.int64],
    action: NDArray[np.int8],
    new: NDArray[np.int32],
    initial: int,
    values: int,
) -> NDArray[np.int8]:
    """Return of each key whether values are REPEATED, UNIQUE, or UNIQUE_CAS: int8[m]."""
    kinds = np.full(len(starts) - 1, UNIQUE, dtype=np.int8)
    setter = np.full(values, -1, dtype=np.int64)
    for key in range(len(starts) - 1):
        setter[initial] = key
        for call in range(starts[key], starts[key + 1]):
            if action[call] == READ:
                continue
            if setter[new[call]] == key:
                kinds[key] = REPEATED
                break
            setter[new[call]] = key
            if action[call] == CAS:
                kinds[key] = UNIQUE_CAS
    return kinds


def by_zones(calls: RegisterCalls) -> list[Outcome]:
    """Return the outcome of each key, none of which has a CAS or writes a value twice."""
    completions, completion_starts = completions_of(calls)
    first_illegal, left = sweep_keys(
        calls.starts,
        calls.invoke,
        calls.complete,
        calls.action,
        np.where(calls.action == WRITE, calls.new, calls.expected),
        completions,
        completion_starts,
        calls.initial,
        len(calls.values),
    )
    valid = Outcome(verdict=Verdict.VALID, engine="zones")
    outcomes = [valid] * len(first_illegal)
    for key in np.flatnonzero(first_illegal != NONE).tolist():
        outcomes[key] = Outcome(
            verdict=Verdict.INVALID,
            engine="zones",
            first_illegal_row=int(calls.rows[completions[first_illegal[key]]]),
            linearizable=int(first_illegal[key] - completion_starts[key]),
            states=(f"value {calls.values[int(left[key])]}",),
        )
    return outcomes
