"""Calls on locks that expire and give out fencing tokens; one lock a key."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.calls import Calls
from kraftproof.checkers.calls.values import (
    booleans,
    integers,
    key_numbers,
    of_function,
    require_functions,
    within_keys,
)
from kraftproof.checkers.history.columns import FAIL, OK, Columns

GRANTED: Final = 0
ALIVE: Final = 1
DEAD: Final = 2

GREATEST: Final = 1 << 62
"""Tokens are less than this either way."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FencingCalls(Calls):
    """Grants, and observations that a token is alive, or dead from then on.

    Attributes:
        action: int8[n], GRANTED, ALIVE (a use was accepted) or DEAD (a use was refused, or the lock
            was given back).
        token: int64[n], numbered from 0 within its key, in the tokens' order.
    """

    action: NDArray[np.int8]
    token: NDArray[np.int64]


def fencing_calls(columns: Columns, model: str, functions: frozenset[str]) -> FencingCalls:
    """Return the calls of operations lock, use and unlock.

    A lock or a use without an answer has no constraint: no client received the token, and a lock
    may expire at any time.

    Raises:
        ValueError: an operation of another function, a token that is no integer, or a use that was
            neither accepted nor refused.
    """
    require_functions(columns, model, functions)
    locks, uses = of_function(columns, "lock"), of_function(columns, "use")
    is_answered = columns.status == OK
    granted = integers(columns, locks & is_answered, is_output=True, below=GREATEST)
    named = integers(columns, ~locks & (columns.status != FAIL), is_output=False, below=GREATEST)
    accepted = booleans(columns, uses & is_answered)
    rows = np.flatnonzero(np.where(locks | uses, is_answered, columns.status != FAIL))
    tokens = np.where(locks, granted, named)[rows]
    _, ranks = np.unique(tokens, return_inverse=True)
    action = np.where(locks, GRANTED, np.where(uses & accepted, ALIVE, DEAD))
    return FencingCalls(
        starts=np.searchsorted(rows, columns.starts).astype(np.int64),
        rows=rows,
        invoke=columns.invoke[rows],
        complete=columns.complete[rows],
        action=action[rows].astype(np.int8),
        token=within_keys(key_numbers(columns)[rows], ranks, np.ones(len(rows), dtype=np.bool_)),
    )
