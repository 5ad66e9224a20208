"""Puts a chunk's schedule and answers together as a table of operations."""

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from kraftproof.checkers.generate.schedule import Schedule
from kraftproof.checkers.generate.subjects.subject import Answers
from kraftproof.checkers.history.columns import FAIL, INFO, OK
from kraftproof.checkers.history.schema import OPERATION_STATUSES, table_schema

_ERRORS = pa.array([None, "refused", "timeout"], pa.string())
"""By status: OK, FAIL, INFO."""


def chunk_table(
    schedule: Schedule, answers: Answers, functions: tuple[str, ...], made: int
) -> pa.Table:
    """Return the operations of a chunk in the order of their invocations.

    An unanswered operation repeats its input, as in Jepsen's histories.

    Args:
        schedule: when.
        answers: what, row by row as in the schedule.
        functions: the names that `answers.f` counts.
        made: how many operations the chunks before it have.
    """
    order = np.argsort(schedule.invoke)
    status = np.where((schedule.status == OK) & answers.is_refused, FAIL, schedule.status)[order]
    rows = pa.array(order)
    asked = answers.input.take(rows)
    is_silent = pa.array(schedule.complete[order] < 0)
    said = pc.if_else(pa.array(status == OK), answers.output.take(rows), asked)
    columns = {
        "index": pa.array(np.arange(made, made + len(order))),
        "process": pa.array(schedule.process[order]),
        "f": pa.array(functions).take(pa.array(answers.f[order])),
        "key": _keys(schedule.key[order]),
        "input": asked,
        "output": pc.if_else(is_silent, "null", said),
        "status": pa.array(OPERATION_STATUSES).take(pa.array(status)),
        "invoke_time": pa.array(schedule.invoke_time[order]),
        "complete_time": _completed(schedule.complete_time[order], is_silent),
        "invoke_index": pa.array(schedule.invoke[order]),
        "complete_index": _completed(schedule.complete[order], is_silent),
        "node": pa.nulls(len(order), pa.string()),
        "error": pc.if_else(
            is_silent, pa.scalar(None, pa.string()), _ERRORS.take(pa.array(status))
        ),
    }
    schema = table_schema("operations")
    return pa.Table.from_arrays([columns[name] for name in schema.names], schema=schema)


def _keys(numbers: NDArray[np.int64]) -> pa.Array:
    return pc.cast(pa.array(numbers), pa.string())


def _completed(values: NDArray[np.int64], is_silent: pa.Array) -> pa.Array:
    return pc.if_else(is_silent, pa.scalar(None, pa.int64()), pa.array(values))


assert (OK, FAIL, INFO) == (0, 1, 2), "_ERRORS is by status"
