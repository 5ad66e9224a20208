"""Selects some keys of some calls, for the engines of a family."""

from dataclasses import fields, replace
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.calls import Calls
from kraftproof.checkers.history.columns import NEVER

Kind = TypeVar("Kind", bound=Calls)


def of_keys(calls: Kind, keys: NDArray[np.int64]) -> Kind:
    """Return the calls of some keys, given in ascending order.

    For kinds of calls whose arrays, but for `starts`, have one entry a call.
    """
    if len(keys) == len(calls.starts) - 1:
        return calls
    lengths = np.diff(calls.starts)[keys]
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    shift = np.repeat(calls.starts[keys] - starts[:-1], lengths)
    chosen = np.arange(starts[-1], dtype=np.int64) + shift
    columns = {field.name: getattr(calls, field.name) for field in fields(calls)}
    cut = {
        name: column[chosen]
        for name, column in columns.items()
        if name != "starts" and isinstance(column, np.ndarray)
    }
    return replace(calls, starts=starts, **cut)


def completions_of(calls: Calls) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the calls that completed, by completion within each key, and where each key's begin.

    int64[c] and int64[keys + 1].
    """
    completed = np.flatnonzero(calls.complete != NEVER)
    counts = np.concatenate([[0], np.cumsum(calls.complete != NEVER)])
    keys = len(calls.starts) - 1
    ends = calls.complete[completed]
    span = int(ends.max()) + 1 if len(ends) else 1
    numbers = np.repeat(np.arange(keys, dtype=np.int64), np.diff(calls.starts))[completed]
    if keys * span < NEVER and not (len(ends) and ends.min() < 0):
        order = np.argsort(numbers * span + ends)
    else:
        order = np.lexsort((ends, numbers))
    return completed[order], counts[calls.starts].astype(np.int64)
