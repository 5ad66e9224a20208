"""The elements that operations on lists appended and read, as numbers."""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

UNKNOWN: Final = -1
"""An element that was never appended."""
ABORTED: Final = -2
"""An element that only a failed operation appended."""

Pairs = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Lists and values."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Observed:
    """The actions of a history, with values as numbers: a actions, failed actions included.

    Attributes:
        row: int64[a], ascending.
        is_read: bool[a].
        list_number: int64[a], numbered from 0 within the key.
        value: int64[a], the appended element.
        seen: int64[a + 1], where in `values` the elements are that each action saw.
        values: int64[e].
    """

    row: NDArray[np.int64]
    is_read: NDArray[np.bool_]
    list_number: NDArray[np.int64]
    value: NDArray[np.int64]
    seen: NDArray[np.int64]
    values: NDArray[np.int64]
