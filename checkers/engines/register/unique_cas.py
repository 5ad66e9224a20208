"""Registers with unique values and compare-and-sets: blocks, ordered like zones.

As in `checkers.engines.register.zones`, a write and the reads of its value form a cluster; a
compare-and-set from u to v is the write of v. No cluster comes between those of u and v: the
compare-and-set leaves u, and u is never written again. So clusters form chains, called *blocks*,
and every legal order puts one block after the other. A history is linearizable if and only if

- every value read, or compared with by a completed call, was set by a call invoked before the reads
  of the value complete, and so on down the chain;
- no value is left by two compare-and-sets, no chain is a cycle, and within a chain, no call
  completes before an earlier one is invoked;
- no two blocks must each precede the other: with `first` the earliest completion in a block and
  `last` its latest invocation, not both first(A) < last(B) and first(B) < last(A).

To find such a pair, take the blocks by `first`. Of the blocks before B, at most one has a `last`
beyond first(B), because two would contradict each other; so the block with the greatest `last`
suffices.

An open call counts at a cut if it is needed: if a completed read, or a needed compare-and-set, has
seen its value. An indeterminate operation therefore counts only if needed. Bisection over the
prefixes finds the first illegal completion.

Time is O(n log n) a key, and log n times as much for an invalid key; memory is O(n).
"""

from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.calls.register import CAS, READ, RegisterCalls
from kraftproof.checkers.engines.kernels.bisection import find_first_illegal, outcome_of
from kraftproof.checkers.engines.types import Outcome
from kraftproof.checkers.history.columns import NEVER
from kraftproof.checkers.kernels import kernel
from kraftproof.checkers.verdict import Verdict

ILLEGAL: Final = -2
NONE: Final = -1
ENGINE: Final = "unique-cas"

Numbers = NDArray[np.int32]
Times = NDArray[np.int64]


def decide(calls: RegisterCalls) -> list[Outcome]:
    """Return the outcome of each key; no key writes a value twice, or the initial one."""
    values = len(calls.values)
    expected, new = _within_keys(calls.starts, calls.expected, calls.new, calls.initial, values)
    left = _left_by_keys(calls.starts, calls.action, expected, new, calls.invoke, calls.complete)
    valid = Outcome(verdict=Verdict.VALID, engine=ENGINE)
    outcomes = [valid] * len(left)
    for key in np.flatnonzero(left == ILLEGAL).tolist():
        outcomes[key] = _invalid(calls, expected, new, key)
    return outcomes


def _invalid(calls: RegisterCalls, expected: Numbers, new: Numbers, key: int) -> Outcome:
    """Return the outcome of a key that is known to be invalid.

    Args:
        calls: all calls.
        expected: as theirs, but numbered within each key.
        new: the same.
        key: the key.
    """
    start, end = int(calls.starts[key]), int(calls.starts[key + 1])
    of = slice(start, end)

    def left(cut: int) -> int:
        columns = (calls.action[of], expected[of], new[of], calls.invoke[of], calls.complete[of])
        return int(_left_by(*columns, cut))

    first_illegal = find_first_illegal(
        calls, start, end, lambda _start, _end, cut: left(cut) != ILLEGAL
    )
    assert first_illegal is not None
    setter = left(int(calls.complete[first_illegal]) - 1)
    value = calls.initial if setter == NONE else calls.new[start + setter]
    states = (f"value {calls.values[int(value)]}",)
    return replace(outcome_of(calls, start, end, first_illegal, ENGINE), states=states)


@kernel
def _within_keys(
    starts: Times, expected: Numbers, new: Numbers, initial: int, values: int
) -> tuple[Numbers, Numbers]:
    """Number the values anew within each key, the initial one 0."""
    number = np.zeros(values, dtype=np.int32)
    expected, new = expected.copy(), new.copy()
    for key in range(len(starts) - 1):
        for call in range(starts[key], starts[key + 1]):
            for value in (expected[call], new[call]):
                if value != NONE:
                    number[value] = NONE
        number[initial], count = 0, 1
        for call in range(starts[key], starts[key + 1]):
            for column in (expected, new):
                value = column[call]
                if value != NONE:
                    if number[value] == NONE:
                        number[value] = count
                        count += 1
                    column[call] = number[value]
    return expected, new


@kernel
def _left_by_keys(
    starts: Times,
    action: NDArray[np.int8],
    expected: Numbers,
    new: Numbers,
    invoke: Times,
    complete: Times,
) -> Times:
    """Return `_left_by` of each key's whole history."""
    left = np.empty(len(starts) - 1, dtype=np.int64)
    for key in range(len(left)):
        of = slice(starts[key], starts[key + 1])
        left[key] = _left_by(action[of], expected[of], new[of], invoke[of], complete[of], NEVER)
    return left


@kernel
def _left_by(
    action: NDArray[np.int8],
    expected: Numbers,
    new: Numbers,
    invoke: Times,
    complete: Times,
    cut: int,
) -> int:
    """Return the call that set the last value of a legal order of a key's prefix.

    NONE for the initial value, ILLEGAL without a legal order.
    """
    calls = np.searchsorted(invoke, cut)
    setter, first, last = _clusters(
        action[:calls], expected[:calls], new[:calls], invoke, complete, cut
    )
    needed = first != NEVER
    if not _needs_are_met(action, expected, invoke, setter, first, needed):
        return ILLEGAL
    following = np.full(len(needed), NONE, dtype=np.int64)
    for value in range(1, len(needed)):
        if needed[value]:
            last[value] = max(last[value], invoke[setter[value]])
            if action[setter[value]] == CAS:
                before = expected[setter[value]]
                if following[before] != NONE:
                    return ILLEGAL
                following[before] = value
    tail = _merge_chains(action, setter, first, last, needed, following)
    if tail[0] == ILLEGAL:
        return ILLEGAL
    final = _last_block(first, last, tail)
    return final if final == ILLEGAL else setter[tail[final]]


@kernel
def _clusters(
    action: NDArray[np.int8],
    expected: Numbers,
    new: Numbers,
    invoke: Times,
    complete: Times,
    cut: int,
) -> tuple[Times, Times, Times]:
    """Return of each value who sets it, `first` and, of the completed reads alone, `last`."""
    values = 1
    for call in range(len(action)):
        values = max(values, 1 + expected[call], 1 + new[call])
    setter = np.full(values, NONE, dtype=np.int64)
    first = np.full(values, NEVER, dtype=np.int64)
    last = np.full(values, NONE, dtype=np.int64)
    first[0] = NONE
    for call in range(len(action)):
        is_read = action[call] == READ
        value = expected[call] if is_read else new[call]
        if not is_read:
            setter[value] = call
        if complete[call] <= cut and complete[call] != NEVER:
            first[value] = min(first[value], complete[call])
            if is_read:
                last[value] = max(last[value], invoke[call])
    return setter, first, last


@kernel
def _needs_are_met(
    action: NDArray[np.int8],
    expected: Numbers,
    invoke: Times,
    setter: Times,
    first: Times,
    needed: NDArray[np.bool_],
) -> bool:
    """Return whether needed values were set in time; their own needs become needed, too."""
    for seen in range(len(needed)):
        value = seen
        while value != 0 and needed[value]:
            call = setter[value]
            if call == NONE or first[value] < invoke[call]:
                return False
            if action[call] != CAS or needed[expected[call]]:
                break
            value = expected[call]
            needed[value] = True
    return True


@kernel
def _merge_chains(
    action: NDArray[np.int8],
    setter: Times,
    first: Times,
    last: Times,
    needed: NDArray[np.bool_],
    following: Times,
) -> Times:
    """Merge each chain into the cluster at its head.

    Returns:
        int64[values], of each head its chain's last value, NONE of what heads no chain; ILLEGAL
        at 0 where a chain is a circle, or not in the order of real time.
    """
    tail = np.full(len(needed), NONE, dtype=np.int64)
    met = 0
    for head in range(len(needed)):
        if not needed[head] or (head != 0 and action[setter[head]] == CAS):
            continue
        value = head
        while value != NONE:
            if first[value] < last[head] and value != head:
                tail[0] = ILLEGAL
                return tail
            first[head] = min(first[head], first[value])
            last[head] = max(last[head], last[value])
            tail[head] = value
            met += 1
            value = following[value]
    if met < np.count_nonzero(needed):
        tail[0] = ILLEGAL
    return tail


@kernel
def _last_block(first: Times, last: Times, tail: Times) -> int:
    """Return a block, by its head, that can go last; ILLEGAL if two must precede each other.

    The latest born block can go last if it is born after every `last`; otherwise the block with the
    greatest `last` can.
    """
    heads = np.flatnonzero(tail != NONE)
    order = heads[np.argsort(first[heads])]
    widest = order[0]
    for block in order[1:]:
        if last[widest] > first[block] and last[block] > first[widest]:
            return ILLEGAL
        if last[block] > last[widest]:
            widest = block
    latest = order[-1]
    return int(latest if first[latest] > last[widest] else widest)
