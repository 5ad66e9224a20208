"""Calls on registers that are read and written together in transactions.

A transaction is reduced to its observable part: for each register, the value found (if read before
its own write) and the value left (if written). Every value found is traced to the transactions that
left the value; if a value may come from two transactions, or from a transaction and the initial
value, the general engine decides the key.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

import msgspec
import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.calls import Calls
from kraftproof.checkers.calls.answered import require_asked
from kraftproof.checkers.calls.values import canonical, require_functions
from kraftproof.checkers.history.columns import FAIL, NEVER, OK, Columns
from kraftproof.checkers.text import as_json

NOBODY: Final = -1
"""The source of a value that was never left."""
INITIAL: Final = -2
"""The source of initial values."""

ACTIONS: Final = {"read": "read", "write": "write", "r": "read", "w": "write"}
"""The kind of each action (read, write, append), by its name in histories."""
_WANTED: Final = '[["read" | "write", register, value], ...]'

Action = tuple[str, str, str]
"""("read" or "write", the register's name, the value), both as JSON."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TransactionCalls(Calls):
    """Transactions; those without an answer only write.

    Attributes:
        finds: int64[n + 1]; what call c found is finds[c] to finds[c + 1]: r values in all.
        found_in: int64[r], the register, numbered from 0 within the key.
        source: int64[r], the write of the value found, as its place among the key's; or NOBODY or
            INITIAL.
        leaves: int64[n + 1]; what call c left is leaves[c] to leaves[c + 1]: w writes in all.
        left_in: int64[w], the register.
        same_as: int64[w], the first write of the same value to it, or INITIAL.
        is_absurd: bool[n], whether a call did not see what it had itself seen or written.
        is_ambiguous: bool[m], whether a value that was found may come from two writes.
    """

    finds: NDArray[np.int64]
    found_in: NDArray[np.int64]
    source: NDArray[np.int64]
    leaves: NDArray[np.int64]
    left_in: NDArray[np.int64]
    same_as: NDArray[np.int64]
    is_absurd: NDArray[np.bool_]
    is_ambiguous: NDArray[np.bool_]


def actions_of(value: object, *, is_answered: bool) -> list[Action]:
    """Return the actions of a transaction; reads without an answer are left out.

    Raises: ValueError: the actions can't be read.
    """
    if not isinstance(value, list) or not all(map(_is_action, value)):
        raise ValueError(f"field value: txn takes {_WANTED}, not {as_json(value)}")
    return [
        (ACTIONS[action], canonical(register), canonical(observed))
        for action, register, observed in value
        if is_answered or ACTIONS[action] == "write"
    ]


def _is_action(action: object) -> bool:
    return isinstance(action, list) and len(action) == 3 and str(action[0]) in ACTIONS


def parts_of(actions: Sequence[Action]) -> tuple[dict[str, str], dict[str, str], bool]:
    """Return the values found and left by a transaction, and whether its reads are absurd.

    The values are by register. A read after the transaction's own write finds nothing new.
    """
    found: dict[str, str] = {}
    left: dict[str, str] = {}
    is_absurd = False
    for action, register, value in actions:
        if action == "write":
            left[register] = value
            continue
        seen = left.get(register, found.get(register))
        is_absurd |= seen is not None and seen != value
        if seen is None:
            found[register] = value
    return found, left, is_absurd


Timed = tuple[int, int, Sequence[Action]]
"""The event of a transaction's invocation, that of its completion or NEVER, and its actions."""


def start_with_null(transactions: Iterable[Timed]) -> frozenset[str]:
    """Return the registers that start with null; all others start with 0.

    A history does not state the start. A register in which null was found starts with null, unless
    0 was surely found there at the start, and null was perhaps brought in.

    Args:
        transactions: those that did not fail; without an answer, those have no reads.
    """
    null_found, surely_null, surely_0, _ = _starts(transactions)
    return null_found - (surely_0 - surely_null)


def uncertain_starts(transactions: Iterable[Timed]) -> frozenset[str]:
    """Return the registers that `start_with_null` names although they may start with 0.

    In these registers 0 and null were found, and each was perhaps brought in by a transaction.
    """
    null_found, surely_null, surely_0, zero_found = _starts(transactions)
    return (null_found & zero_found) - surely_null - surely_0


def _starts(transactions: Iterable[Timed]) -> tuple[frozenset[str], ...]:
    """Return the registers with null found, surely with null at the start; then 0 likewise.

    The order is: null found, null surely at the start, 0 surely at the start, 0 found. A value was
    surely there at the start if the value was found before any transaction may have brought it in.
    A transaction that found a value and wrote the same value again did not bring the value in.
    """
    found: dict[tuple[str, str], int] = {}
    brought: dict[tuple[str, str], int] = {}
    for invoke, complete, actions in transactions:
        finds, leaves, _ = parts_of(actions)
        for place in finds.items():
            found[place] = min(complete, found.get(place, NEVER))
        for place in leaves.items() - finds.items():
            brought[place] = min(invoke, brought.get(place, NEVER))
    sure = {place for place, end in found.items() if end < brought.get(place, NEVER)}

    def registers(places: Collection[tuple[str, str]], value: str) -> frozenset[str]:
        return frozenset(register for register, one in places if one == value)

    return (
        registers(found, "null"),
        registers(sure, "null"),
        registers(sure, "0"),
        registers(found, "0"),
    )


def initial_of(null_registers: frozenset[str], register: str) -> str:
    """Return the initial value of a register, given the registers with initial value null."""
    return "null" if register in null_registers else "0"


def transaction_calls(columns: Columns, model: str, functions: frozenset[str]) -> TransactionCalls:
    """Return the calls of operations txn.

    Raises:
        ValueError: an operation of another function, or one that can't be read.
    """
    require_functions(columns, model, functions)
    rows = np.flatnonzero(columns.status != FAIL)
    starts = np.searchsorted(rows, columns.starts).astype(np.int64)
    observed = list(_decoded(columns))
    times = columns.invoke[rows].tolist(), columns.complete[rows].tolist()
    decoded = list(zip(*times, (observed[row] for row in rows.tolist()), strict=True))
    keys = [_Key().filled(decoded[start:end]) for start, end in pairwise(starts.tolist())]
    sources = [key.sources() for key in keys]
    return TransactionCalls(
        starts=starts,
        rows=rows,
        invoke=columns.invoke[rows],
        complete=columns.complete[rows],
        finds=_ends([length for key in keys for length in key.finds]),
        found_in=_joined([key.found_in for key in keys]),
        source=_joined(sources),
        leaves=_ends([length for key in keys for length in key.leaves]),
        left_in=_joined([key.left_in for key in keys]),
        same_as=_joined([key.same_as for key in keys]),
        is_absurd=np.asarray([one for key in keys for one in key.is_absurd], dtype=np.bool_),
        is_ambiguous=np.asarray([key.is_ambiguous for key in keys], dtype=np.bool_),
    )


def _decoded(columns: Columns) -> Iterator[list[Action]]:
    """Yield the actions of each row."""
    decode = msgspec.json.Decoder().decode
    asked, answered = (columns.column(name).to_pylist() for name in ("input", "output"))
    for row, status in enumerate(columns.status.tolist()):
        is_answered = status == OK
        observed = decode(answered[row] if is_answered else asked[row])
        actions = actions_of(observed, is_answered=is_answered)
        if is_answered and asked[row] is not None:
            require_asked(decode(asked[row]), observed)
        yield actions


def _ends(lengths: Sequence[int]) -> NDArray[np.int64]:
    return np.concatenate(([0], np.cumsum(np.asarray(lengths, dtype=np.int64))))


def _joined(parts: Sequence[Sequence[int]]) -> NDArray[np.int64]:
    return np.asarray([number for part in parts for number in part], dtype=np.int64)


@dataclass(slots=True)
class _Key:
    """The transactions of one key, in sequence."""

    finds: list[int] = field(default_factory=list)
    found_in: list[int] = field(default_factory=list)
    found: list[tuple[str, str]] = field(default_factory=list)
    leaves: list[int] = field(default_factory=list)
    left_in: list[int] = field(default_factory=list)
    left: list[tuple[str, str]] = field(default_factory=list)
    same_as: list[int] = field(default_factory=list)
    is_absurd: list[bool] = field(default_factory=list)
    is_ambiguous: bool = False
    _numbers: dict[str, int] = field(default_factory=dict)
    _nulls: frozenset[str] = frozenset()

    def filled(self, transactions: Sequence[Timed]) -> "_Key":
        self._nulls = start_with_null(transactions)
        for _, _, actions in transactions:
            self._add(actions)
        return self

    def _add(self, actions: Sequence[Action]) -> None:
        found, left, is_absurd = parts_of(actions)
        self.is_absurd.append(is_absurd)
        self.finds.append(len(found))
        self.leaves.append(len(left))
        self.found_in += map(self._number, found)
        self.left_in += map(self._number, left)
        self.found += found.items()
        self.left += left.items()

    def _number(self, register: str) -> int:
        return self._numbers.setdefault(register, len(self._numbers))

    def sources(self) -> list[int]:
        """Return where each value found comes from; says if one may have come from elsewhere.

        The method also records, for each write, the first write of the same value.
        """
        places = {(name, initial_of(self._nulls, name)): INITIAL for name in self._numbers}
        repeated = set()
        for place, observed in enumerate(self.left):
            self.same_as.append(places.setdefault(observed, place))
            if self.same_as[-1] != place:
                repeated.add(observed)
        self.is_ambiguous = not repeated.isdisjoint(self.found)
        return [places.get(observed, NOBODY) for observed in self.found]
