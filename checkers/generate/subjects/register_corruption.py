"""Wrong answers of registers, and why the guaranteed ones make a history invalid.

A value v is *gone* before an operation r if something certain separates every operation that may
have set v from r: there is an update w that succeeded, was invoked after every operation that may
have set v had completed, and completed before r was invoked. In any linearization w comes after all
that may have set v and before r, and what set v later was invoked after r completed; so the
register does not hold v at r. The initial null counts as set before the first event. Every
operation that did not fail may have set v; an indeterminate operation never completes and so keeps
v from being gone. All operations are on one key, whose past is in the same chunk.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from kraftproof.checkers.generate.subjects.subject import ANY, TRIES, Corruption
from kraftproof.checkers.history.columns import FAIL, NEVER, OK

if TYPE_CHECKING:
    from kraftproof.checkers.generate.subjects.register import RegisterRows

READ: Final = 0
WRITE: Final = 1
CAS: Final = 2
NULL: Final = -1


@dataclass(frozen=True, slots=True, kw_only=True)
class _Past:
    """An operation, and the earlier operations on its key.

    Attributes:
        row: the operation.
        rows: int64[m], the other rows of the key, invoked before the operation completed.
        gone: int64[g], the values that are gone.
        possible: int64[p], the values that may have been set and are not gone.
    """

    row: int
    rows: NDArray[np.int64]
    gone: NDArray[np.int64]
    possible: NDArray[np.int64]


def corrupted_row(played: "RegisterRows", kind: str, random: Generator) -> int | None:
    """Make an answer wrong; return its row, or None if no answer can be made wrong.

    The initial null is answered only if no other value will do: every checker sees that at once.
    """
    for is_null_gone in (False, True):
        for row in _candidates(played, kind, random):
            past = _past(played, row, is_null_gone=is_null_gone)
            if _MAKERS[kind](played, past, random):
                return row
    return None


def _candidates(played: "RegisterRows", kind: str, random: Generator) -> Iterator[int]:
    """Yield rows whose answer could become wrong, at random."""
    schedule = played.schedule
    is_answered = schedule.is_fresh & (schedule.status == OK)
    rows = np.flatnonzero(is_answered & (played.f == (CAS if kind == "lost-update" else READ)))
    yield from map(int, random.permutation(rows)[:TRIES])


def _past(played: "RegisterRows", row: int, *, is_null_gone: bool) -> _Past:
    schedule = played.schedule
    start, end = np.searchsorted(schedule.key, schedule.key[row] + np.array([0, 1]))
    rows = np.arange(start, end)
    rows = rows[(schedule.invoke[rows] < schedule.complete[row]) & (rows != row)]
    is_refused = played.is_refused[rows] & (schedule.status[rows] == OK)
    may_set = (played.f[rows] != READ) & (schedule.status[rows] != FAIL) & ~is_refused
    done = np.where(schedule.status[rows] == OK, schedule.complete[rows], NEVER)
    values, places = np.unique(played.new[rows[may_set]], return_inverse=True)
    last_done = np.full(len(values), -1, dtype=np.int64)
    np.maximum.at(last_done, places, done[may_set])
    separates = may_set & (done < schedule.invoke[row])
    separated_at = schedule.invoke[rows[separates]].max(initial=-1)
    gone = values[last_done < separated_at]
    if is_null_gone and separated_at >= 0:
        gone = np.append(gone, NULL)
    return _Past(row=row, rows=rows, gone=gone, possible=values[last_done >= separated_at])


def _answer(played: "RegisterRows", row: int, values: NDArray[np.int64], random: Generator) -> bool:
    """Answer with one of the values, if any."""
    if len(values):
        played.expected[row] = random.choice(values)
    return len(values) > 0


def _stale(played: "RegisterRows", past: _Past, random: Generator) -> bool:
    return _answer(played, past.row, past.gone, random)


def _lost_update(played: "RegisterRows", past: _Past, random: Generator) -> bool:
    is_made = _stale(played, past, random)
    played.is_refused[past.row] &= not is_made
    return is_made


def _dirty(played: "RegisterRows", past: _Past, random: Generator) -> bool:
    """Answer with a value that only failed writes wrote."""
    is_failed = (played.f[past.rows] == WRITE) & (played.schedule.status[past.rows] == FAIL)
    values = np.setdiff1d(played.new[past.rows[is_failed]], past.possible)
    return _answer(played, past.row, values, random)


def _phantom(played: "RegisterRows", past: _Past, random: Generator) -> bool:
    return _answer(played, past.row, np.array([played.unwritten]), random)


def _swapped(played: "RegisterRows", past: _Past, random: Generator) -> bool:
    """Exchange the answers of two reads; the earlier answer is overwritten by the later read."""
    is_read = (played.f[past.rows] == READ) & (played.schedule.status[past.rows] == OK)
    others = past.rows[is_read & np.isin(played.expected[past.rows], past.gone)]
    if len(others):
        pair = np.array([past.row, random.choice(others)])
        played.expected[pair] = played.expected[pair[::-1]]
    return len(others) > 0


def _any(played: "RegisterRows", past: _Past, random: Generator) -> bool:
    values = np.append(past.gone, past.possible)
    return _answer(played, past.row, values[values != played.expected[past.row]], random)


_MAKERS: Final[Mapping[str, Callable[["RegisterRows", _Past, Generator], bool]]] = {
    "stale-read": _stale,
    "phantom": _phantom,
    "lost-update": _lost_update,
    "dirty-read": _dirty,
    "swapped-reads": _swapped,
    "any": _any,
}

KINDS: Final[Mapping[str, Corruption]] = {
    "stale-read": Corruption(
        description="a read answers a value that was overwritten before it began"
    ),
    "phantom": Corruption(description="a read answers a value that was never written"),
    "lost-update": Corruption(
        description="a cas succeeds although its old value was overwritten before it began"
    ),
    "dirty-read": Corruption(
        description="a read answers the value of a failed write (--failed above 0)"
    ),
    "swapped-reads": Corruption(
        description="two reads exchange their answers, the earlier answer is overwritten"
    ),
    "any": ANY,
}
