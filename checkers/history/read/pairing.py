"""Pairs invocations with completions, many events at a time.

Events come in pieces, in real-time order; operations leave as they complete. Between two pieces
only the open invocations are kept, so that memory is bounded by concurrency and by the size of a
piece. It accepts the events that `checkers.history.operations` accepts, and leaves the message of
a refusal to that reader.
"""

from collections.abc import Iterator
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from kraftproof.checkers.history.schema import OPERATIONS

INVOKE: Final = 0
"""The number of an invocation's type; the others are those of `TYPES` in scan.py."""

EVENTS: Final = pa.schema(
    [
        pa.field("index", pa.int64(), nullable=False),
        pa.field("process", pa.int64(), nullable=False),
        pa.field("type", pa.int64(), nullable=False),
        pa.field("time", pa.int64()),
        pa.field("f", pa.string(), nullable=False),
        pa.field("key", pa.string()),
        pa.field("value", pa.string(), nullable=False),
        pa.field("node", pa.string()),
        pa.field("error", pa.string()),
    ]
)
"""One row an event; texts as in `checkers.history.schema.OPERATIONS`, a missing key is null."""

JSON_LIKE_KEY: Final = 1
OTHER_KEY: Final = 2
"""Kinds of keys, as bits: a text that may be the JSON of another key, and what is no text."""

_STATUSES: Final = ("info", "ok", "fail", "info")
"""The status of an operation whose last event so far has that type."""


class NotPlainError(Exception):
    """The exact reader must read this: the history may be wrong, or oddly written."""


class Pairing:
    """Makes operations of a history's events."""

    def __init__(self) -> None:
        self._open = EVENTS.empty_table()
        self._open_numbers = np.empty(0, np.int64)
        self._invocations = 0
        self._last_index = -1
        self._key_kinds = 0

    def feed(self, events: pa.Table, key_kinds: int) -> pa.RecordBatch:
        """Take the next events and return the operations completed by these events, by invocation.

        Args:
            events: with the columns of EVENTS.
            key_kinds: the kinds of keys of the invocations.

        Raises: NotPlainError: an event contradicts the events before.
        """
        self._require_order(_column(events, "index"))
        self._key_kinds |= key_kinds
        if self._key_kinds == JSON_LIKE_KEY | OTHER_KEY:
            raise NotPlainError
        both = pa.concat_tables([self._open, events]).combine_chunks()
        invokes = _column(both, "type") == INVOKE
        places, completions = _pairs(_column(both, "process"), invokes)
        numbers = self._numbers(invokes[len(self._open) :])
        invoked, completed = both.take(pa.array(places)), both.take(pa.array(completions))
        _require_match(invoked, completed)
        invokes[places] = False
        still_open = np.flatnonzero(invokes)
        self._open, self._open_numbers = both.take(pa.array(still_open)), numbers[still_open]
        return _operations(numbers[places], invoked, completed)

    def rest(self) -> pa.RecordBatch:
        """Return what never completed."""
        nothing = pa.nulls(len(self._open), pa.int64())
        unanswered = self._open.set_column(0, "index", nothing).set_column(3, "time", nothing)
        nulls = pa.array(["null"] * len(self._open), pa.string())
        unanswered = unanswered.set_column(6, "value", nulls)
        unanswered = unanswered.set_column(8, "error", pa.nulls(len(self._open), pa.string()))
        return _operations(self._open_numbers, self._open, unanswered)

    def _require_order(self, index: NDArray[np.int64]) -> None:
        if np.any(np.diff(index, prepend=self._last_index) <= 0):
            raise NotPlainError
        self._last_index = int(index[-1]) if len(index) else self._last_index

    def _numbers(self, invokes: NDArray[np.bool_]) -> NDArray[np.int64]:
        """Return, for each event that is an invocation, the number of the invocation."""
        counted = self._invocations + np.cumsum(invokes, dtype=np.int64) - 1
        self._invocations += int(np.count_nonzero(invokes))
        return np.concatenate([self._open_numbers, counted])


def _column(table: pa.Table, name: str) -> NDArray[np.int64]:
    column: NDArray[np.int64] = table.column(name).to_numpy()
    return column


def _pairs(
    process: NDArray[np.int64], invokes: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the places of invocations, ascending, and those of their completions."""
    order = np.argsort(process, kind="stable")
    sorted_process, sorted_invokes = process[order], invokes[order]
    follows = np.zeros(len(order), np.bool_)
    follows[1:] = (sorted_process[1:] == sorted_process[:-1]) & sorted_invokes[:-1]
    if np.any(follows == sorted_invokes):
        raise NotPlainError
    ends = np.flatnonzero(follows)
    places, completions = order[ends - 1], order[ends]
    by_invocation = np.argsort(places, kind="stable")
    return places[by_invocation], completions[by_invocation]


def _require_match(invoked: pa.Table, completed: pa.Table) -> None:
    same = pc.all(pc.equal(invoked.column("f"), completed.column("f")))
    same_key = pc.all(pc.equal(_key(invoked), completed.column("key")))
    forward = pc.all(pc.less_equal(invoked.column("time"), completed.column("time")))
    if any(holds.as_py() is False for holds in (same, same_key, forward)):
        raise NotPlainError


def _key(invoked: pa.Table) -> pa.ChunkedArray:
    key = invoked.column("key")
    return pc.fill_null(key, "null") if key.null_count else key


def _operations(
    numbers: NDArray[np.int64], invoked: pa.Table, completed: pa.Table
) -> pa.RecordBatch:
    columns = {
        "index": pa.array(numbers, pa.int64()),
        "process": invoked.column("process"),
        "f": invoked.column("f"),
        "key": _key(invoked),
        "input": invoked.column("value"),
        "output": completed.column("value"),
        "status": pa.array(_STATUSES).take(completed.column("type").combine_chunks()),
        "invoke_time": invoked.column("time"),
        "complete_time": completed.column("time"),
        "invoke_index": invoked.column("index"),
        "complete_index": completed.column("index"),
        "node": pc.coalesce(completed.column("node"), invoked.column("node")),
        "error": completed.column("error"),
    }
    return _one_batch(pa.table(columns, schema=OPERATIONS))


def _one_batch(table: pa.Table) -> pa.RecordBatch:
    batches: Iterator[pa.RecordBatch] = iter(table.combine_chunks().to_batches())
    return next(batches, pa.RecordBatch.from_pylist([], schema=table.schema))
