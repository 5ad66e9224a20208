"""A history as columns: one row an operation, sorted by (key, invocation), NumPy beside Arrow.

Engines that are vectorised or compiled start from here; those that want objects ask for one key's
`operations`. It does not read files, judge values or know models.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from checkers.history import Operation
from checkers.schema import OPERATION_STATUSES
from checkers.tables import iterate_rows

NEVER: Final = np.iinfo(np.int64).max
"""Stands for the completion of an operation that is indeterminate: after every event."""

OK: Final = OPERATION_STATUSES.index("ok")
FAIL: Final = OPERATION_STATUSES.index("fail")
INFO: Final = OPERATION_STATUSES.index("info")


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """The operations of one history.

    Attributes:
        table: all columns of `checkers.schema.OPERATIONS`, n rows, each column one chunk.
        keys: the keys, sorted.
        starts: int64[keys + 1]; the rows of key k are starts[k] to starts[k + 1].
        functions: the distinct `f`.
        f: int32[n], an index into `functions`.
        status: int8[n], OK, FAIL or INFO.
        invoke: int64[n], the index of the invocation's event.
        complete: int64[n], the index of the completion's event; NEVER unless the status is OK.
    """

    table: pa.Table
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
        """Returns the operations of the key of that number, in the order of their invocations."""
        return list(iterate_rows(self.rows_of(key)))

    def rows_of(self, key: int) -> pa.Table:
        """Returns the rows of the key of that number."""
        start, end = int(self.starts[key]), int(self.starts[key + 1])
        return self.table.slice(start, end - start)

    def operation(self, row: int) -> Operation:
        """Returns the operation of one row."""
        (found,) = iterate_rows(self.table.slice(row, 1))
        return found


def columns_of(table: pa.Table) -> Columns:
    """Returns the rows of a table of operations as columns, in whatever order they come."""
    names, key = _keys(table)
    invoke = table.column("invoke_index").to_numpy()
    steps = np.diff(key)
    if not ((steps > 0) | ((steps == 0) & (np.diff(invoke) > 0))).all():
        order = np.lexsort((invoke, key))
        table, key = table.take(pa.array(order)), key[order]
        invoke = invoke[order]
    table = table.combine_chunks()
    f = _codes(table, "f")
    status = pc.index_in(table.column("status"), pa.array(OPERATION_STATUSES)).to_numpy()
    complete = pc.fill_null(table.column("complete_index"), NEVER).to_numpy().copy()
    complete[status != OK] = NEVER
    return Columns(
        table=table,
        keys=names,
        starts=np.searchsorted(key, np.arange(len(names) + 1)).astype(np.int64),
        functions=tuple(f.dictionary.to_pylist()),
        f=_numbers(f.indices),
        status=status.astype(np.int8),
        invoke=invoke,
        complete=complete,
    )


def _keys(table: pa.Table) -> tuple[tuple[str, ...], NDArray[np.int32]]:
    """Returns the keys, sorted, and each row's number among them."""
    encoded = _codes(table, "key")
    names = encoded.dictionary.to_pylist()
    order = sorted(range(len(names)), key=names.__getitem__)
    ranks = np.empty(len(names), dtype=np.int32)
    ranks[order] = np.arange(len(names), dtype=np.int32)
    return tuple(names[place] for place in order), ranks[_numbers(encoded.indices)]


def _codes(table: pa.Table, name: str) -> pa.DictionaryArray:
    encoded = pc.dictionary_encode(table.column(name))
    return encoded.combine_chunks() if isinstance(encoded, pa.ChunkedArray) else encoded


def _numbers(indices: pa.Array) -> NDArray[np.int32]:
    found: NDArray[np.int32] = indices.to_numpy(zero_copy_only=False).astype(np.int32)
    return found
