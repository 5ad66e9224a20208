"""Calls on sets: either whole reads of a set that grows, or questions after single elements.

One set a key, empty at first. The elements of a set are independent of each other unless the whole
of it is read, so questions after single elements are about one register each, which holds whether
the element is there (Herlihy and Wing 1990: linearizability is local).
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.calls import Calls
from kraftproof.checkers.calls.lists.lists import ListCalls
from kraftproof.checkers.calls.register import READ, WRITE, RegisterCalls
from kraftproof.checkers.calls.values import (
    NO_VALUE,
    booleans,
    key_numbers,
    numbered,
    of_function,
    texts_of,
    within_keys,
)
from kraftproof.checkers.history.columns import FAIL, OK, Columns

ABSENT: Final = 0
PRESENT: Final = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class GrowingSetCalls(ListCalls):
    """Adds as appends, and reads of the whole set in the order of the answer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SetCalls(Calls):
    """Adds and removals of elements, and the observed membership.

    Attributes:
        registers: the same calls on one register for each element of each key.
        register_keys: int64[r], each register's key.
    """

    registers: RegisterCalls
    register_keys: NDArray[np.int64]


def set_calls(columns: Columns) -> SetCalls:
    """Return the calls of operations add, remove and contains.

    Raises:
        ValueError: a contains answers neither true nor false.
    """
    asks = of_function(columns, "contains")
    is_answered = columns.status == OK
    answers = np.where(booleans(columns, asks & is_answered), PRESENT, ABSENT)
    codes, _ = numbered(texts_of(columns, np.zeros(len(columns), dtype=np.bool_)))
    keys = key_numbers(columns)
    rows = np.flatnonzero(np.where(asks, is_answered, columns.status != FAIL))
    element = within_keys(keys, codes, np.ones(len(columns), dtype=np.bool_))
    by_register = rows[np.lexsort((rows, element[rows], keys[rows]))]
    key, number = keys[by_register], element[by_register]
    changes = np.flatnonzero((np.diff(key, prepend=-1) != 0) | (np.diff(number, prepend=-1) != 0))
    asked = asks[by_register]
    written = np.where(of_function(columns, "add")[by_register], PRESENT, ABSENT)
    registers = RegisterCalls(
        starts=np.append(changes, len(by_register)).astype(np.int64),
        rows=by_register,
        invoke=columns.invoke[by_register],
        complete=columns.complete[by_register],
        action=np.where(asked, READ, WRITE).astype(np.int8),
        expected=np.where(asked, answers[by_register], NO_VALUE).astype(np.int32),
        new=np.where(asked, NO_VALUE, written).astype(np.int32),
        initial=ABSENT,
        values=("absent", "present"),
    )
    return SetCalls(
        starts=np.searchsorted(rows, columns.starts).astype(np.int64),
        rows=rows,
        invoke=columns.invoke[rows],
        complete=columns.complete[rows],
        registers=registers,
        register_keys=key[changes],
    )
