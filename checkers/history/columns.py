"""A history as columns: one row an operation, sorted by (key, invocation), NumPy beside Arrow.

Vectorised and compiled engines start from the columns; engines for objects ask for one key's
`operations`. It does not read files, judge values or know models.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.history.schema import OPERATION_STATUSES
from kraftproof.checkers.history.tables import iterate_rows

NEVER: Final = np.iinfo(np.int64).max
"""Stands for the completion of an operation that is indeterminate: after every event."""

OK: Final = OPERATION_STATUSES.index("ok")
FAIL: Final = OPERATION_STATUSES.index("fail")
INFO: Final = OPERATION_STATUSES.index("info")


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """The operations of one history.

    Attributes: table: all columns of `checkers.history.schema.OPERATIONS`, n rows in any order.
        order: int64[n], the place in the table of each row, None if that is the row's number.
        keys: the keys, sorted.
        starts: int64[keys + 1]; the rows of key k are starts[k] to starts[k + 1].
        functions: the distinct `f`.
        f: int32[n], an index into `functions`.
        status: int8[n], OK, FAIL or INFO.
        invoke: int64[n], the index of the invocation's event.
        complete: int64[n], the index of the completion's event; NEVER unless the status is OK.
    """

    table: pa.Table
    order: NDArray[np.int64] | None
    keys: tuple[str, ...]
    starts: NDArray[np.int64]
    functions: tuple[str, ...]
    f: NDArray[np.int32]
    status: NDArray[np.int8]
    invoke: NDArray[np.int64]
    complete: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.invoke)

    def operations(self, key: int) -> list[Operation]:
        """Return the operations of the key of that number, in the order of their invocations."""
        return list(iterate_rows(self.rows_of(key)))

    def rows_of(self, key: int) -> pa.Table:
        """Return the rows of the key of that number."""
        return self._rows(int(self.starts[key]), int(self.starts[key + 1]))

    def operation(self, row: int) -> Operation:
        """Return the operation of a row."""
        (found,) = iterate_rows(self._rows(row, row + 1))
        return found

    def column(self, name: str, rows: NDArray[np.int64] | None = None) -> pa.Array:
        """Return a column's values at the given rows, by default at all rows."""
        values = self.table.column(name)
        if rows is not None:
            values = values.take(pa.array(rows if self.order is None else self.order[rows]))
        elif self.order is not None:
            values = values.take(pa.array(self.order))
        whole = values.combine_chunks()
        is_long = isinstance(whole, pa.ChunkedArray)  # more than 2 GiB of text
        return values.cast(pa.large_string()).combine_chunks() if is_long else whole

    def _rows(self, start: int, end: int) -> pa.Table:
        if self.order is None:
            return self.table.slice(start, end - start)
        return self.table.take(pa.array(self.order[start:end]))


def columns_of(table: pa.Table) -> Columns:
    """Return the rows of a table of operations as columns, in whatever order they come."""
    table = table.combine_chunks()  # a take from many chunks is slow
    names, key = _keys(table)
    f = _codes(table, "f")
    status = pc.index_in(table.column("status"), pa.array(OPERATION_STATUSES)).to_numpy()
    complete = pc.fill_null(table.column("complete_index"), NEVER).to_numpy().copy()
    complete[status != OK] = NEVER
    invoke = table.column("invoke_index").to_numpy()
    if invoke.min(initial=0) < 0:
        invoke, complete = _from_zero(invoke, complete)
    steps, functions, order = np.diff(key), _numbers(f.indices), None
    if not ((steps > 0) | ((steps == 0) & (np.diff(invoke) > 0))).all():
        order = _order(key, invoke)
        key, invoke, complete = key[order], invoke[order], complete[order]
        functions, status = functions[order], status[order]
    return Columns(
        table=table,
        order=order,
        keys=names,
        starts=np.searchsorted(key, np.arange(len(names) + 1)).astype(np.int64),
        functions=tuple(f.dictionary.to_pylist()),
        f=functions,
        status=status.astype(np.int8),
        invoke=invoke,
        complete=complete,
    )


def _from_zero(
    invoke: NDArray[np.int64], complete: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the events, counted from 0: compiled engines need non-negative events."""
    first = invoke.min()
    return invoke - first, np.where(complete == NEVER, NEVER, complete - first)


def _keys(table: pa.Table) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    """Return the keys, sorted, and each row's number among them."""
    encoded = _codes(table, "key")
    names = encoded.dictionary.to_pylist()
    order = sorted(range(len(names)), key=names.__getitem__)
    ranks = np.empty(len(names), dtype=np.int32)
    ranks[order] = np.arange(len(names), dtype=np.int32)
    return tuple(names[place] for place in order), ranks[_numbers(encoded.indices)]


def _order(key: NDArray[np.int32], invoke: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the rows by key, and each key's by invocation; recorded histories come by that."""
    if len(key) and key.max() <= np.iinfo(np.uint16).max and (np.diff(invoke) > 0).all():
        return np.argsort(key.astype(np.uint16), kind="stable")  # NumPy: by radix up to 16 bits
    return np.lexsort((invoke, key))


def _codes(table: pa.Table, name: str) -> pa.DictionaryArray:
    encoded = pc.dictionary_encode(table.column(name))
    return encoded.combine_chunks() if isinstance(encoded, pa.ChunkedArray) else encoded


def _numbers(indices: pa.Array) -> NDArray[np.int32]:
    found: NDArray[np.int32] = indices.to_numpy(zero_copy_only=False).astype(np.int32)
    return found
