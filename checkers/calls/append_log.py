"""Calls on logs with offsets chosen by the log: appends, and reads by offset.

One log a key. Offsets grow but may leave gaps, as Kafka's do. A produce without an answer gets the
offset at which a fetch found its value: `bound` finds the offset. A produce whose value was never
found has no constraint.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.calls import Calls
from kraftproof.checkers.calls.values import (
    NO_VALUE,
    integers,
    key_numbers,
    numbered,
    of_function,
    require_functions,
    texts_of,
    within_keys,
)
from kraftproof.checkers.history.columns import INFO, NEVER, OK, Columns

PRODUCED: Final = 0
FOUND: Final = 1
FOUND_NONE: Final = 2

GREATEST: Final = 1 << 62
"""Offsets are less than this either way."""


Earliest = dict[tuple[int, int], int]
"""The first event of its kind, by value and offset."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LogCalls(Calls):
    """Values with an offset, and fetches that found a value or nothing.

    Attributes:
        action: int8[n], PRODUCED, FOUND or FOUND_NONE.
        offset: int64[n], numbered from 0 within its key, in the offsets' order.
        value: int64[n], a number for each value; NO_VALUE for FOUND_NONE.
    """

    action: NDArray[np.int8]
    offset: NDArray[np.int64]
    value: NDArray[np.int64]


def bound(untold: Iterable[tuple[int, int]], found: Earliest, observed: Earliest) -> dict[int, int]:
    """Return at which offset each produce without an answer was found again.

    Equal values are interchangeable, so the value invoked first was found first. A value found
    before its produce began belongs to another produce.

    Args:
        untold: (operation, value) of those produces, by invocation.
        found: when a fetch that found a value at an offset first completed.
        observed: when a produce of a value that answered an offset was first invoked.

    Returns: The offsets of found values, by operation.
    """
    left: dict[int, list[int]] = {}
    for (value, offset), completed in found.items():
        if observed.get((value, offset), NEVER) > completed:
            left.setdefault(value, []).append(offset)
    for offsets in left.values():
        offsets.sort(reverse=True)
    return {operation: left[value].pop() for operation, value in untold if left.get(value)}


def log_calls(columns: Columns, model: str, functions: frozenset[str]) -> LogCalls:
    """Return the calls of operations produce and fetch.

    Raises:
        ValueError: an operation of another function, or an offset that is no integer.
    """
    require_functions(columns, model, functions)
    is_answered, fetches = columns.status == OK, of_function(columns, "fetch")
    codes, texts = numbered(texts_of(columns, fetches))
    is_null = codes == (texts.index("null") if "null" in texts else NO_VALUE)
    asked = integers(columns, fetches & is_answered, is_output=False, below=GREATEST)
    offset = integers(columns, ~fetches & is_answered, is_output=True, below=GREATEST) + asked
    keys = key_numbers(columns)
    has_offset = is_answered.copy()
    for row, place in _bound_rows(columns, keys, codes, offset, fetches, is_null).items():
        offset[row], has_offset[row] = place, True
    rows = np.flatnonzero(has_offset)
    action = np.where(fetches, np.where(is_null, FOUND_NONE, FOUND), PRODUCED)
    _, ranks = np.unique(offset[rows], return_inverse=True)
    return LogCalls(
        starts=np.searchsorted(rows, columns.starts).astype(np.int64),
        rows=rows,
        invoke=columns.invoke[rows],
        complete=columns.complete[rows],
        action=action[rows].astype(np.int8),
        offset=within_keys(keys[rows], ranks, np.ones(len(rows), dtype=np.bool_)),
        value=np.where(fetches & is_null, NO_VALUE, codes)[rows],
    )


def _bound_rows(
    columns: Columns,
    keys: NDArray[np.int64],
    codes: NDArray[np.int64],
    offset: NDArray[np.int64],
    fetches: NDArray[np.bool_],
    is_null: NDArray[np.bool_],
) -> dict[int, int]:
    """Return the offsets of indeterminate produces, by row."""
    untold: dict[int, list[tuple[int, int]]] = {}
    for row in np.flatnonzero((columns.status == INFO) & ~fetches).tolist():
        untold.setdefault(int(keys[row]), []).append((row, int(codes[row])))
    offsets: dict[int, int] = {}
    for key, produces in untold.items():
        here = slice(int(columns.starts[key]), int(columns.starts[key + 1]))
        is_answered = columns.status[here] == OK
        finds, tells = is_answered & fetches[here] & ~is_null[here], is_answered & ~fetches[here]
        found, observed = (
            _earliest(codes[here][rows], offset[here][rows], events[here][rows])
            for rows, events in ((finds, columns.complete), (tells, columns.invoke))
        )
        offsets |= bound(produces, found, observed)
    return offsets


def _earliest(
    values: NDArray[np.int64], offsets: NDArray[np.int64], events: NDArray[np.int64]
) -> Earliest:
    earliest: Earliest = {}
    for value, offset, event in zip(
        values.tolist(), offsets.tolist(), events.tolist(), strict=True
    ):
        earliest[value, offset] = min(event, earliest.get((value, offset), NEVER))
    return earliest
