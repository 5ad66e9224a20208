"""The schemas of what workers return, a row for each history, key or run check.

See workers.py for the work.
"""

from typing import Final

import pyarrow as pa

from kraftproof.checkers.crash import ModelCrashError
from kraftproof.checkers.guards.tally import Tally
from kraftproof.checkers.history.schema import FINDINGS, VERDICTS
from kraftproof.checkers.verdict import CheckerInputError

_RUN: Final = pa.field("run", pa.string(), nullable=False)
_FOUND: Final = pa.field("findings", pa.list_(pa.struct(list(FINDINGS))))
_PROBLEM: Final = pa.field("problem", pa.string())
_TRACEBACK: Final = pa.field("traceback", pa.string())
"""Beside a problem: only a crash of the model has one."""

READ: Final = pa.schema(
    [
        *(_RUN, pa.field("model", pa.string()), pa.field("operations", pa.int64())),
        *(pa.field("events", pa.int64()), _PROBLEM, _TRACEBACK),
    ]
)
"""One row for each history: the inferred model, the number of operations and of the events of a
run, or the reason for refusing the history.
"""

KEYS: Final = pa.schema([_RUN, pa.field("key", pa.string(), nullable=False)])
"""One row a key."""

JUDGED: Final = pa.schema(
    [
        _RUN,
        *(field.with_nullable(nullable=True) for field in VERDICTS),
        _FOUND,
        _PROBLEM,
        _TRACEBACK,
    ]
)
"""One row a key; or one with `problem`, where the model can't read a value of the run."""

TALLIED: Final = pa.schema([_RUN, *((name, pa.int64()) for name in Tally.__struct_fields__)])

CHECKED: Final = pa.schema(
    [
        _RUN,
        pa.field("check", pa.string()),
        pa.field("crash", pa.string()),
        pa.field("skipped", pa.string()),
        _FOUND,
    ]
)


def problem_of(text: str, traceback: str | None) -> CheckerInputError:
    """Return the error that a worker met."""
    if traceback is None:
        return CheckerInputError(text)
    error = ModelCrashError(text)
    error.traceback = traceback
    return error
