"""Calls on counters: add, read, and add that answers the sum; one counter a key, 0 at first."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.calls import Calls
from kraftproof.checkers.calls.values import integers, of_function, require_functions
from kraftproof.checkers.history.columns import FAIL, OK, Columns

ADD: Final = 0
READ: Final = 1
ADD_AND_GET: Final = 2

GREATEST: Final = 1 << 40
"""Maximum absolute value of summands and sums, so that no sum of a history overflows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CounterCalls(Calls):
    """Adds that succeeded or may have succeeded, and answered reads.

    Attributes:
        action: int8[n], ADD, READ or ADD_AND_GET; one of those without an answer is an ADD, and
            what adds 0 reads or is left out.
        delta: int64[n], what is added, 0 for READ.
        value: int64[n], the sum that was answered, 0 for ADD.
    """

    action: NDArray[np.int8]
    delta: NDArray[np.int64]
    value: NDArray[np.int64]


def counter_calls(columns: Columns, model: str, functions: frozenset[str]) -> CounterCalls:
    """Return the calls of operations add, read and add-and-get.

    Raises:
        ValueError: an operation of another function, or a value that is no integer.
    """
    require_functions(columns, model, functions)
    is_add, is_read = (of_function(columns, name) for name in ("add", "read"))
    adds = ~is_read & (columns.status != FAIL)
    tells = ~is_add & (columns.status == OK)
    delta = integers(columns, adds, is_output=False, below=GREATEST)
    value = integers(columns, tells, is_output=True, below=GREATEST)
    rows = np.flatnonzero(tells | (delta != 0))
    action = np.where(tells, np.where(delta == 0, READ, ADD_AND_GET), ADD)
    return CounterCalls(
        starts=np.searchsorted(rows, columns.starts).astype(np.int64),
        rows=rows,
        invoke=columns.invoke[rows],
        complete=columns.complete[rows],
        action=action[rows].astype(np.int8),
        delta=delta[rows],
        value=value[rows],
    )
