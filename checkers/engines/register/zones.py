"""Registers with unique values and no compare-and-set: decided in one sweep.

After Gibbons and Korach ("Testing shared memories", 1997). A write and the reads of its value form
a *cluster*; the initial value has a cluster without a write, which precedes all events. Every legal
order puts one cluster after the other. Cluster A must precede B if some operation of A completes
before one of B is invoked: if first(A) < last(B), first being the earliest completion in a cluster
and last the latest invocation. A history is linearizable if and only if every value read was
written, no read completes before its write is invoked, and no two clusters must each precede the
other. (Then "precedes" is a partial order of clusters; within a cluster, the write goes first.)

The sweep decides every prefix, completion by completion, and stops at the first illegal one. At a
completion, completed operations count, and the writes that a completed read has read, complete or
not; other open operations need not have happened. Hence an indeterminate write counts only if it is
read. Clusters are numbered by their first completion, their *birth*: the number stands for `first`.
`last` is the number of clusters born before the latest invocation, so that first(A) < last(B) means
number(A) < last(B).

Clusters only meet anew when a `last` grows. If the `last` of X grows from a to b, the clusters a to
b must now precede X. Clusters younger than X are examined one by one: a cluster whose own `last` is
beyond X must also follow X. Otherwise X covers all of them from now on. Among clusters older than
X, at most one has a `last` beyond the birth of X, because two would contradict each other: the
cluster that covers X.

Time is O(n (1 + c)) after sorting, c being the open clusters at a time (in practice O(n)); memory
is O(n) for the order of the input and O(values) for the clusters.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.calls.register import WRITE
from kraftproof.checkers.kernels import kernel

NONE: Final = -1

Numbers = NDArray[np.int32]
Times = NDArray[np.int64]


@kernel
def sweep_keys(
    starts: Times,
    invoke: Times,
    complete: Times,
    action: NDArray[np.int8],
    value: Numbers,
    completions: Times,
    completion_starts: Times,
    initial: int,
    values: int,
) -> tuple[Times, Numbers]:
    """Sweep the calls of some keys, one key after the other.

    Args:
        starts: int64[m + 1], where the calls of each key begin.
        invoke: int64[n], ascending within a key.
        complete: int64[n].
        action: int8[n], READ or WRITE.
        value: int32[n], what is read or written; in a key no value is written twice, nor `initial`.
        completions: int64[c], the completed calls, by completion within each key.
        completion_starts: int64[m + 1], where the completions of each key begin.
        initial: every register's first value.
        values: the number of values.

    Returns:
        int64[m], each key's first completion that no legal order reaches, as a place in
        `completions`, or NONE; and int32[m], a value that a legal order of those before it ends in.
    """
    keys = len(starts) - 1
    first_illegal = np.full(keys, NONE, dtype=np.int64)
    left = np.full(keys, NONE, dtype=np.int32)
    most = np.max(starts[1:] - starts[:-1]) if keys else 0
    begun_at = np.zeros(most, dtype=np.int32)
    number = np.full(values, NONE, dtype=np.int32)
    last = np.zeros(values, dtype=np.int32)
    writer = np.full(values, NONE, dtype=np.int64)
    cluster = np.zeros(most + 1, dtype=np.int32)
    cover = np.zeros(most + 1, dtype=np.int32)
    for key in range(keys):
        start, end = starts[key], starts[key + 1]
        _find_writers(action[start:end], value[start:end], writer, number)
        number[initial], last[initial], cluster[0], cover[0], born = 0, 0, initial, NONE, 1
        upcoming, latest = start, initial
        for place in range(completion_starts[key], completion_starts[key + 1]):
            call = completions[place]
            while upcoming < end and invoke[upcoming] < complete[call]:
                begun_at[upcoming - start] = born
                upcoming += 1
            it, reach = value[call], begun_at[call - start]
            is_legal = True
            if number[it] == NONE:
                write = writer[it]
                is_legal = write != NONE and start + write < upcoming
                if is_legal:
                    number[it], cluster[born], cover[born] = born, it, NONE
                    last[it] = max(reach, begun_at[write])
                    born += 1
            elif reach > last[it]:
                is_legal = _extends(number[it], last[it], reach, cluster, last, cover)
                if is_legal:
                    last[it] = reach
            if not is_legal:
                first_illegal[key] = place
                left[key] = cluster[born - 1] if born - 1 >= last[latest] else latest
                break
            if last[it] > last[latest]:
                latest = it
    return first_illegal, left


@kernel
def _find_writers(action: NDArray[np.int8], value: Numbers, writer: Times, number: Numbers) -> None:
    """Note the writer of each value of a key, and that no value has a cluster yet."""
    for call in range(len(value)):
        writer[value[call]] = NONE
        number[value[call]] = NONE
    for call in range(len(value)):
        if action[call] == WRITE:
            writer[value[call]] = call


@kernel
def _extends(
    own: int, before: int, reach: int, cluster: Numbers, last: Numbers, cover: Numbers
) -> bool:
    """Return whether a cluster's `last` may grow, and let it cover the enclosed clusters."""
    if cover[own] != NONE and cover[own] < reach:
        return False
    for other in range(max(before, own + 1), reach):
        if last[cluster[other]] > own:
            return False
        cover[other] = own
    return True
