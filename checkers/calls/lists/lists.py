"""Calls on lists that are appended to and read whole, one list or several in a transaction.

A call is a transaction of *actions*: appends, and reads with what they saw. Several lists may be
under one key; an operation `append` or `read` is a transaction of one action on the key's own list.
Every element that a read saw is traced to the append that wrote it, or to the first of those that
did if the same was appended to the list several times.
"""

from array import array
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import count
from typing import Final, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.calls import Calls
from kraftproof.checkers.calls.answered import require_asked
from kraftproof.checkers.calls.lists.elements import ABORTED, UNKNOWN, Observed
from kraftproof.checkers.calls.lists.tracing import trace
from kraftproof.checkers.calls.values import canonical, key_numbers, require_functions
from kraftproof.checkers.history.columns import FAIL, OK, Columns
from kraftproof.checkers.text import as_json

APPEND: Final = 0
READ: Final = 1

READ_NAMES: Final = frozenset({"r", "read"})
OWN_LIST: Final = ""
"""The list of operations without a list name."""

_WANTED: Final = '[["append", list, value] | ["r", list, [...]], ...]'

Action = tuple[bool, str, object]
"""(whether the action is a read, its list, the value appended or read)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ListCalls(Calls):
    """Transactions on lists; those without an answer have appends only.

    Attributes:
        actions: int64[n + 1]; the actions of call c are actions[c] to actions[c + 1]: a in all.
        is_read: bool[a], whether an action is a read.
        list_number: int64[a], its list, numbered from 0 within the key.
        seen: int64[a + 1]; what action a saw is at seen[a] to seen[a + 1] of `elements`.
        elements: int64[e], the appends (as actions) that the elements seen came from, or UNKNOWN or
            ABORTED; of several appends of one element to one list it is the first.
        first: int64[a], the first append of what was appended, to the same list; -1 for reads.
        is_repeated: bool[m], whether a key has two appends of one element to one list.
    """

    actions: NDArray[np.int64]
    is_read: NDArray[np.bool_]
    list_number: NDArray[np.int64]
    seen: NDArray[np.int64]
    elements: NDArray[np.int64]
    first: NDArray[np.int64]
    is_repeated: NDArray[np.bool_]


def actions_of(f: str, asked: object, answered: object, *, is_answered: bool) -> list[Action]:
    """Return the actions of one operation; reads without an answer are left out.

    Raises: ValueError: the actions can't be read.
    """
    return [
        (reads, name, element_texts(value) if reads else canonical(value))
        for reads, name, value in values_of(f, asked, answered, is_answered=is_answered)
    ]


def values_of(f: str, asked: object, answered: object, *, is_answered: bool) -> list[Action]:
    """Return the same with values as they are: what was appended, or the elements read.

    Raises: ValueError: the actions can't be read.
    """
    if f in {"append", "add"}:
        return [(False, OWN_LIST, asked)]
    if f == "read":
        return [(True, OWN_LIST, elements_read(answered))] if is_answered else []
    observed = answered if is_answered else asked
    if isinstance(observed, list):
        actions = [_action(action) for action in observed if is_answered or not _is_read(action)]
        if is_answered:
            require_asked(asked, answered)
        return actions
    raise ValueError(f"field value: txn takes {_WANTED}, not {as_json(observed)}")


def _is_read(action: object) -> bool:
    return isinstance(action, list) and len(action) == 3 and action[0] in READ_NAMES


def _action(action: object) -> Action:
    if isinstance(action, list) and _is_read(action):
        return True, canonical(action[1]), elements_read(action[2])
    if isinstance(action, list) and len(action) == 3 and action[0] == "append":
        return False, canonical(action[1]), action[2]
    raise ValueError(f"field value: txn takes {_WANTED}, not {as_json(action)} among them")


def element_texts(elements: object) -> tuple[str, ...]:
    """Return a list's elements as texts; equal reads share their texts."""
    assert isinstance(elements, list)
    is_whole = set(map(type, elements)) <= {int}
    return tuple(map(_integer_texts.__getitem__ if is_whole else canonical, elements))


class _Texts(dict[int, str]):
    """Texts of integers, each made once, up to a number of them; `lru_cache` is half as quick."""

    most: Final = 1 << 16

    def __missing__(self, number: int) -> str:
        text = str(number)
        if len(self) < self.most:
            self[number] = text
        return text


_integer_texts: Final = _Texts()


def elements_read(value: object) -> list[object]:
    """Return what a read answers; null is an empty list.

    Raises: ValueError: the value is no list.
    """
    if value is None:
        return []
    if isinstance(value, list):
        return value
    raise ValueError(f"field value: a read answers a list, not {as_json(value)}")


Kind = TypeVar("Kind", bound=ListCalls)


def list_calls(kind: type[Kind], columns: Columns, model: str, functions: frozenset[str]) -> Kind:
    """Return the calls of operations append (or add), read and txn.

    Raises:
        ValueError: an operation of another function, or one that can't be read.
    """
    require_functions(columns, model, functions)
    observed = None
    if len(columns) > MANY and "txn" not in columns.functions:
        from kraftproof.checkers.calls.lists.integers import observed_integers  # compiled kernels

        observed = observed_integers(columns)
    return _traced(kind, columns, observed if observed is not None else observed_texts(columns))


MANY: Final = 5_000
"""Operations, above which a compiled parser is worth the compilation."""


def observed_texts(columns: Columns) -> Observed:
    """Return the actions of any history, by decoding the JSON of every operation."""
    rows, is_read, lists, appended, lengths = [], [], [], [], []
    values = array("q")
    numbers: defaultdict[str, int] = defaultdict(count().__next__)
    named: dict[tuple[int, str], int] = {}
    named_of: dict[int, int] = {}
    keys = key_numbers(columns).tolist()
    for row, actions in _decoded(columns):
        for reads, name, value in actions:
            place = (keys[row], name)
            if place not in named:
                named[place] = named_of.get(keys[row], 0)
                named_of[keys[row]] = named[place] + 1
            texts = value if isinstance(value, tuple) else ()
            rows.append(row)
            is_read.append(reads)
            lists.append(named[place])
            appended.append(0 if reads else numbers[str(value)])
            lengths.append(len(texts))
            values.extend(map(numbers.__getitem__, texts))
    return Observed(
        row=np.asarray(rows, dtype=np.int64),
        is_read=np.asarray(is_read, dtype=np.bool_),
        list_number=np.asarray(lists, dtype=np.int64),
        value=np.asarray(appended, dtype=np.int64),
        seen=np.concatenate(([0], np.cumsum(np.asarray(lengths, dtype=np.int64)))),
        values=np.asarray(values, dtype=np.int64),
    )


def _decoded(columns: Columns) -> Iterator[tuple[int, list[Action]]]:
    decode = msgspec.json.Decoder().decode
    asked, answered = (columns.column(name).to_pylist() for name in ("input", "output"))
    functions = [columns.functions[number] for number in columns.f.tolist()]
    for row, status in enumerate(columns.status.tolist()):
        is_answered = status == OK
        answer = decode(answered[row]) if is_answered else None
        yield row, actions_of(functions[row], decode(asked[row]), answer, is_answered=is_answered)


def _traced(kind: type[Kind], columns: Columns, observed: Observed) -> Kind:
    """Traces the elements seen to their appends, and leaves out what failed."""
    has_failed = columns.status[observed.row] == FAIL
    is_kept = ~has_failed
    key = key_numbers(columns)[observed.row]
    lists = _list_ids(key, observed.list_number)
    number_of = np.cumsum(is_kept) - 1
    writes = np.flatnonzero(is_kept & ~observed.is_read)
    aborted = np.flatnonzero(has_failed & ~observed.is_read)
    seen = np.concatenate(
        ([0], np.cumsum(np.diff(observed.seen)[is_kept]))
    )  # nothing failed saw any
    elements, first_write = trace(
        (lists[writes], observed.value[writes]),
        (lists[aborted], observed.value[aborted]),
        lists[is_kept],
        seen,
        observed.values,
    )
    by_place = np.append(number_of[writes], [ABORTED, UNKNOWN])  # which are -2 and -1
    first = np.full(int(is_kept.sum()), -1)
    first[number_of[writes]] = number_of[writes[first_write]]
    rows, actions = np.unique(observed.row[is_kept], return_index=True)
    is_repeated = np.zeros(len(columns.keys), dtype=np.bool_)
    is_repeated[key[writes[first_write != np.arange(len(writes))]]] = True
    return kind(
        starts=np.searchsorted(rows, columns.starts).astype(np.int64),
        rows=rows,
        invoke=columns.invoke[rows],
        complete=columns.complete[rows],
        actions=np.append(actions, len(first)),
        is_read=observed.is_read[is_kept],
        list_number=observed.list_number[is_kept],
        seen=seen,
        elements=by_place[elements],
        first=first,
        is_repeated=is_repeated,
    )


def _list_ids(keys: NDArray[np.int64], numbers: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return a number for each list of each key."""
    return keys * (int(numbers.max(initial=0)) + 1) + numbers
