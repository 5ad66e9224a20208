"""Transactions that leave values again, laid out for the beam search."""

import numpy as np

from kraftproof.checkers.calls.transactions import INITIAL, NOBODY, TransactionCalls
from kraftproof.checkers.engines.repeated.layout import (
    NEVER_THERE,
    NONE,
    NOTHING,
    Facts,
    Ints,
    Values,
)


def facts_of(calls: TransactionCalls, start: int, end: int) -> Facts:
    """Return what the transactions of a key found and left."""
    finds, leaves = calls.finds[start : end + 1], calls.leaves[start : end + 1]
    found, left = slice(finds[0], finds[-1]), slice(leaves[0], leaves[-1])
    source, found_in = calls.source[found], calls.found_in[found]
    same_as, left_in = calls.same_as[left], calls.left_in[left]
    registers = int(max(found_in.max(initial=-1), left_in.max(initial=0))) + 1
    numbers = np.arange(end - start)
    wanted = np.unique(_origins(source[source != NOBODY], found_in[source != NOBODY]))

    find = np.full((end - start, registers), NONE, dtype=np.int32)
    leave = find.copy()
    finders, leavers = np.repeat(numbers, np.diff(finds)), np.repeat(numbers, np.diff(leaves))
    is_there = (source != NOBODY) & ~calls.is_absurd[start:end][finders]
    find[finders, found_in] = np.where(is_there, _numbered(wanted, source, found_in), NEVER_THERE)
    find[calls.is_absurd[start:end]] = NEVER_THERE
    leave[leavers, left_in] = _numbered(wanted, same_as, left_in)
    every = np.arange(registers)
    return Facts(
        invoke=calls.invoke[start:end],
        complete=calls.complete[start:end],
        find=find,
        leave=leave,
        piece=np.full(end - start, NONE, dtype=np.int32),
        values=Values(
            initial=_numbered(wanted, np.full(registers, INITIAL), every),
            last=np.arange(len(wanted)),
            edge_starts=np.zeros(len(wanted) + 1, dtype=np.int64),
            edge_piece=np.empty(0, dtype=np.int64),
            edge_to=np.empty(0, dtype=np.int64),
        ),
    )


def _origins(origin: Ints, register: Ints) -> Ints:
    """Return a number for each value: its first write, or below NOBODY one for each register."""
    return np.where(origin == INITIAL, INITIAL - register, origin)


def _numbered(wanted: Ints, origin: Ints, register: Ints) -> Ints:
    """Return the numbers of values among the found values, NOTHING for unread values."""
    observed = _origins(origin, register)
    place = np.searchsorted(wanted, observed)
    return np.where(np.append(wanted, NOBODY)[place] == observed, place, NOTHING)
