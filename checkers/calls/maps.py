"""Calls on maps: one register for each key of the map, which are the keys of the history."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from kraftproof.checkers.calls.numbers import number_texts
from kraftproof.checkers.calls.register import READ, WRITE, RegisterCalls
from kraftproof.checkers.calls.values import NO_VALUE, of_function, require_functions, texts_of
from kraftproof.checkers.history.columns import FAIL, OK, Columns


def map_calls(columns: Columns, model: str, functions: frozenset[str]) -> RegisterCalls:
    """Return the calls of operations put, get and remove, as reads and writes; null is absent.

    Raises:
        ValueError: an operation of another function, or a put of null.
    """
    require_functions(columns, model, functions)
    is_get, is_put = of_function(columns, "get"), of_function(columns, "put")
    texts = pc.if_else(pa.array(is_get | is_put), texts_of(columns, is_get), "null")
    if pc.any(pc.equal(texts.filter(pa.array(is_put)), "null")).as_py():
        require_value(None)
    rows = np.flatnonzero(np.where(is_get, columns.status == OK, columns.status != FAIL))
    numbers, values = number_texts(
        pa.concat_arrays([texts.take(pa.array(rows)).cast(pa.string()), pa.array(["null"])])
    )
    reads, codes = is_get[rows], numbers[:-1]
    return RegisterCalls(
        starts=np.searchsorted(rows, columns.starts).astype(np.int64),
        rows=rows,
        invoke=columns.invoke[rows],
        complete=columns.complete[rows],
        action=np.where(reads, READ, WRITE).astype(np.int8),
        expected=np.where(reads, codes, NO_VALUE).astype(np.int32),
        new=np.where(reads, NO_VALUE, codes).astype(np.int32),
        initial=int(numbers[-1]),
        values=values,
    )


def require_value(value: object) -> None:
    """Raise ValueError if a value can't be put: null stands for what is absent."""
    if value is None:
        raise ValueError("field value: put takes a value other than null")
