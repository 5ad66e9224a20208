"""A history as columns: one row an operation, sorted by (key, invocation), NumPy beside Arrow.

Engines that are vectorised or compiled start from here; those that want objects ask for one key's
`operations`. It does not read files, judge values or know models.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from checkers.history import Operation
from checkers.schema import OPERATION_STATUSES
from checkers.tables import operations_of

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
        start, end = int(self.starts[key]), int(self.starts[key + 1])
        return operations_of(self.table.slice(start, end - start))

    def operation(self, row: int) -> Operation:
        """Returns the operation of one row."""
        (found,) = operations_of(self.table.slice(row, 1))
        return found


def columns_of(table: pa.Table) -> Columns:
    """Returns the rows of a table of operations as columns, in whatever order they come."""
    table = _sorted(table)
    key = _codes(table, "key")
    f = _codes(table, "f")
    status = pc.index_in(table.column("status"), pa.array(OPERATION_STATUSES)).to_numpy()
    complete = pc.fill_null(table.column("complete_index"), NEVER).to_numpy().copy()
    complete[status != OK] = NEVER
    numbers = _numbers(key.indices)
    changes = np.flatnonzero(np.diff(numbers, prepend=-1, append=-1)) if len(numbers) else [0]
    places = numbers[np.asarray(changes[:-1], dtype=np.int64)]
    names = key.dictionary.to_pylist()
    return Columns(
        table=table,
        keys=tuple(names[place] for place in places),
        starts=np.asarray(changes, dtype=np.int64),
        functions=tuple(f.dictionary.to_pylist()),
        f=_numbers(f.indices),
        status=status.astype(np.int8),
        invoke=table.column("invoke_index").to_numpy(),
        complete=complete,
    )


def _sorted(table: pa.Table) -> pa.Table:
    """Returns the table by (key, invocation); most come so, or have one key only."""
    order: Sequence[tuple[str, str]] = [("key", "ascending"), ("invoke_index", "ascending")]
    places = pc.sort_indices(table, sort_keys=order)
    is_sorted = pc.all(pc.equal(places, pa.array(np.arange(len(table), dtype=np.uint64))))
    return (table if is_sorted.as_py() in {True, None} else table.take(places)).combine_chunks()


def _codes(table: pa.Table, name: str) -> pa.DictionaryArray:
    encoded = pc.dictionary_encode(table.column(name))
    return encoded.combine_chunks() if isinstance(encoded, pa.ChunkedArray) else encoded


def _numbers(indices: pa.Array) -> NDArray[np.int32]:
    found: NDArray[np.int32] = indices.to_numpy(zero_copy_only=False).astype(np.int32)
    return found
