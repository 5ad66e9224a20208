"""Calls on registers: read, write, compare-and-set; one register a key."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from checkers.calls import Calls

READ: Final = 0
WRITE: Final = 1
CAS: Final = 2
NO_VALUE: Final = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisterCalls(Calls):
    """Reads that were answered, writes and compare-and-sets that succeeded or may have.

    Attributes:
        action: int8[n], READ, WRITE or CAS.
        expected: int32[n], the value that a read answered or a CAS compares with, else NO_VALUE.
        new: int32[n], the value that a write or a CAS sets, else NO_VALUE.
        initial: the value of every register at first.
        values: each value's text, by its number; equal values have one number.
    """

    action: NDArray[np.int8]
    expected: NDArray[np.int32]
    new: NDArray[np.int32]
    initial: int
    values: Sequence[str]
