"""Calls as arrays: what a model makes of a history's columns for a compiled engine.

A call is an operation reduced to what a kind of engine asks (`checkers.engines`). Each kind of call
is one file here. `Calls` is what all of them share: where the calls of each key lie, and the real
time of each.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class Calls:
    """The calls of all keys of a history, by (key, invocation).

    Failed operations and operations without a constraint (an unanswered read) are omitted: n calls
    of m keys.

    Attributes:
        starts: int64[m + 1]; the calls of key k are starts[k] to starts[k + 1].
        rows: int64[n], each call's row in the `checkers.history.columns.Columns`.
        invoke: int64[n], the index of the invocation's event.
        complete: int64[n], that of the completion's; NEVER for an indeterminate call.
    """

    starts: NDArray[np.int64]
    rows: NDArray[np.int64]
    invoke: NDArray[np.int64]
    complete: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.rows)
