"""Calls on locks without a recorded holder: acquire and release; initially free."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.calls import Calls
from kraftproof.checkers.calls.values import of_function, require_functions
from kraftproof.checkers.history.columns import FAIL, Columns


@dataclass(frozen=True, slots=True, kw_only=True)
class MutexCalls(Calls):
    """Acquisitions and releases that succeeded or may have.

    Attributes:
        is_release: bool[n].
    """

    is_release: NDArray[np.bool_]


def mutex_calls(columns: Columns, model: str, functions: frozenset[str]) -> MutexCalls:
    """Return the calls of operations acquire and release.

    Raises:
        ValueError: an operation of another function.
    """
    require_functions(columns, model, functions)
    rows = np.flatnonzero(columns.status != FAIL)
    return MutexCalls(
        starts=np.searchsorted(rows, columns.starts).astype(np.int64),
        rows=rows,
        invoke=columns.invoke[rows],
        complete=columns.complete[rows],
        is_release=of_function(columns, "release")[rows],
    )
