"""Lays out the calls of each register for a search: what returns when, and what is open then.

What constrains nothing is dropped here: an indeterminate call whose value no later call asks for,
an indeterminate compare-and-set of a value with itself. A completed compare-and-set of a value with
itself is a read. Values are numbered anew within each key; 0 is the initial one.

Returns are numbered by time: *position* p is the p-th completion. The calls open at a position are
kept in the order of their invocations; a call's place there is its *rank*. An indeterminate call
never returns: it is open until all calls that were open at its invocation have returned, and then
*settles* into a pool, where equal calls are only counted. Not here: any search.
"""

from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.calls.register import CAS, READ, WRITE, RegisterCalls
from kraftproof.checkers.engines.kernels.arrays import Integer
from kraftproof.checkers.history.columns import NEVER
from kraftproof.checkers.kernels import kernel

INDETERMINATE_WRITE: Final = 3
INDETERMINATE_CAS: Final = 4
NO_RETURN: Final = np.iinfo(np.int32).max

Numbers = NDArray[np.int32]


class Layout(NamedTuple):
    """The calls of m keys laid out; those of key k lie at starts[k] onwards, in all arrays.

    Attributes:
        starts: int64[m + 1].
        value_starts: int64[m + 1], the same for `values` and `wanted`.
        counts: int64[m, 7]: calls KEPT, RETURNS, RANKS at most, DISTINCT indeterminate calls, those
            of them that are WRITES, the largest number of EQUAL ones, compare-and-sets (UPDATES).
        source: int32[n], each call's number in the `RegisterCalls`.
        calls: int32[n, 5]: KIND (READ, WRITE, CAS, INDETERMINATE_WRITE or INDETERMINATE_CAS);
            EXPECTED, the value read or compared with, -1 for a write; NEW, the value set, -1 for a
            read; POSITION, when it returns, NO_RETURN if never; FIELD, an indeterminate one's
            number in the pool.
        returning: int32[n, 4], by position: the CALL that returns, counted from the key's first;
            its RANK; how many calls were INVOKED before, and how many indeterminate ones SETTLED.
        settling: int32[n], the indeterminate calls in the order in which they settle.
        pool: int32[n, 2], the distinct indeterminate calls as (OLD, SET), ascending: writes, whose
            OLD is -1, come first.
        values: int32[.], each value's number in the `RegisterCalls`.
        wanted: int32[.], the last position at which a value matters, -1 for none.
    """

    starts: NDArray[np.int64]
    value_starts: NDArray[np.int64]
    counts: NDArray[np.int64]
    source: Numbers
    calls: Numbers
    returning: Numbers
    settling: Numbers
    pool: Numbers
    values: Numbers
    wanted: Numbers


KEPT, RETURNS, RANKS, DISTINCT, WRITES, EQUAL, UPDATES = range(7)
KIND, EXPECTED, NEW, POSITION, FIELD = range(5)
CALL, RANK, INVOKED, SETTLED = range(4)
OLD, SET = range(2)


def lay_out(calls: RegisterCalls) -> Layout:
    """Return the calls of all keys laid out."""
    n, keys = len(calls), len(calls.starts) - 1
    layout = Layout(
        starts=calls.starts,
        value_starts=np.zeros(keys + 1, np.int64),
        counts=np.zeros((keys, 7), np.int64),
        source=np.empty(n, np.int32),
        calls=np.empty((n, 5), np.int32),
        returning=np.empty((n, 4), np.int32),
        settling=np.empty(n, np.int32),
        pool=np.empty((n, 2), np.int32),
        values=np.empty(2 * n + keys, np.int32),
        wanted=np.empty(2 * n + keys, np.int32),
    )
    _lay_out_keys(
        layout, calls.invoke, calls.complete, calls.action, calls.expected, calls.new,
        calls.initial, len(calls.values),
    )  # fmt: skip
    _number_pools(layout)
    return layout


@kernel
def _lay_out_keys(
    layout: Layout,
    invoke: NDArray[np.int64],
    complete: NDArray[np.int64],
    action: NDArray[np.int8],
    expected: Numbers,
    new: Numbers,
    initial: Integer,
    values: Integer,
) -> None:
    number_of, owner = np.empty(values, np.int32), np.full(values, -1, np.int32)
    for k in range(len(layout.starts) - 1):
        first, last = layout.starts[k], layout.starts[k + 1]
        begin = layout.value_starts[k]
        local = _renumber(
            *(k, initial, expected[first:last], new[first:last], number_of, owner),
            *(layout.calls[first:last], layout.values[begin:]),
        )
        layout.value_starts[k + 1] = begin + local
        asked = _last_asked(
            *(local, complete[first:last], action[first:last], layout.calls[first:last])
        )
        kept = _keep(layout, first, last, invoke, complete, action, asked)
        returns, ranks = _sweep(layout, first, kept, invoke, complete)
        wanted = layout.wanted[begin : begin + local]
        _fill_wanted(layout, first, returns, complete, asked, wanted)
        counts = layout.counts[k]
        counts[KEPT], counts[RETURNS], counts[RANKS] = kept, returns, ranks


@kernel
def _renumber(
    k: Integer,
    initial: Integer,
    expected: Numbers,
    new: Numbers,
    number_of: Numbers,
    owner: Numbers,
    calls: Numbers,
    values: Numbers,
) -> Integer:
    """Number a key's values from 0, and returns the count."""
    owner[initial], number_of[initial], values[0] = k, 0, initial
    count = 1
    for i in range(len(expected)):
        for is_new in range(2):
            value = new[i] if is_new else expected[i]
            if value >= 0 and owner[value] != k:
                owner[value], number_of[value], values[count] = k, count, value
                count += 1
            number = number_of[value] if value >= 0 else -1
            calls[i, NEW if is_new else EXPECTED] = number
    return count


@kernel
def _last_asked(
    local: Integer,
    complete: NDArray[np.int64],
    action: NDArray[np.int8],
    calls: Numbers,
) -> NDArray[np.int64]:
    """Return when each value is last asked for: the completion of a call that needs it, or 0.

    An indeterminate compare-and-set asks for its old value as long as its new one is asked for.
    """
    asked = np.zeros(local, np.int64)
    for i in range(len(action)):
        old = calls[i, EXPECTED]
        if old >= 0 and complete[i] != NEVER:
            asked[old] = max(asked[old], complete[i])
    indeterminate = np.flatnonzero((action == CAS) & (complete == NEVER))
    is_changed = True
    while is_changed:
        is_changed = False
        for update in indeterminate:
            old, new = calls[update, EXPECTED], calls[update, NEW]
            if asked[new] > asked[old]:
                asked[old] = asked[new]
                is_changed = True
    return asked


@kernel
def _keep(
    layout: Layout,
    first: Integer,
    last: Integer,
    invoke: NDArray[np.int64],
    complete: NDArray[np.int64],
    action: NDArray[np.int8],
    asked: NDArray[np.int64],
) -> Integer:
    """Move the calls that constrain something to the front, and returns their count."""
    place = first
    for i in range(first, last):
        kind, old, new = action[i], layout.calls[i, EXPECTED], layout.calls[i, NEW]
        if complete[i] == NEVER:
            if old == new or asked[new] <= invoke[i]:
                continue
            kind = INDETERMINATE_WRITE if kind == WRITE else INDETERMINATE_CAS
        elif old == new:
            kind, new = READ, -1
        call = layout.calls[place]
        call[KIND], call[EXPECTED], call[NEW], call[POSITION] = kind, old, new, NO_RETURN
        layout.source[place] = i
        place += 1
    return place - first


@kernel
def _sweep(
    layout: Layout,
    first: Integer,
    kept: Integer,
    invoke: NDArray[np.int64],
    complete: NDArray[np.int64],
) -> tuple[Integer, Integer]:
    """Pass the events in real time; return the number of returns, and ranks at most."""
    opened = np.empty(kept, np.int32)
    source, calls = layout.source[first : first + kept], layout.calls[first : first + kept]
    invoked, count, settled, returns, ranks = 0, 0, 0, 0, 0
    while True:
        rank, soonest = -1, NEVER
        for r in range(count):
            if complete[source[opened[r]]] < soonest:
                rank, soonest = r, complete[source[opened[r]]]
        while invoked < kept and invoke[source[invoked]] < soonest:
            opened[count] = invoked
            if complete[source[invoked]] < soonest:
                rank, soonest = count, complete[source[invoked]]
            count += 1
            invoked += 1
        if rank < 0:
            return returns, ranks
        front = 0
        while calls[opened[front], KIND] >= INDETERMINATE_WRITE:
            layout.settling[first + settled] = opened[front]
            settled += 1
            front += 1
        count -= front
        rank -= front
        for r in range(count if front else 0):
            opened[r] = opened[r + front]
        ranks = max(ranks, count)
        row = layout.returning[first + returns]
        row[CALL], row[RANK], row[INVOKED], row[SETTLED] = opened[rank], rank, invoked, settled
        calls[opened[rank], POSITION] = returns
        returns += 1
        count -= 1
        for r in range(rank, count):
            opened[r] = opened[r + 1]


@kernel
def _fill_wanted(
    layout: Layout,
    first: Integer,
    returns: Integer,
    complete: NDArray[np.int64],
    asked: NDArray[np.int64],
    wanted: Numbers,
) -> None:
    """Write down the last position at which each value is asked for."""
    for value in range(len(wanted)):
        low: Integer = 0
        high: Integer = returns
        while low < high:
            middle = (low + high) // 2
            call = layout.returning[first + middle, CALL]
            if complete[layout.source[first + call]] <= asked[value]:
                low = middle + 1
            else:
                high = middle
        wanted[value] = low - 1


def _number_pools(layout: Layout) -> None:
    """Number the distinct indeterminate calls of each key, ascending by (expected, new)."""
    kept = layout.counts[:, KEPT]
    keys = np.repeat(np.arange(len(kept)), kept)
    places = np.arange(len(keys)) + np.repeat(layout.starts[:-1] - (np.cumsum(kept) - kept), kept)
    kinds = layout.calls[places, KIND]
    is_update = (kinds == CAS) | (kinds == INDETERMINATE_CAS)
    layout.counts[:, UPDATES] = np.bincount(keys[is_update], minlength=len(kept))
    indeterminate, keys = places[kinds >= INDETERMINATE_WRITE], keys[kinds >= INDETERMINATE_WRITE]
    if not len(indeterminate):
        return
    observed = np.stack(
        [keys, layout.calls[indeterminate, EXPECTED], layout.calls[indeterminate, NEW]], axis=1
    )
    distinct, number, equal = np.unique(observed, axis=0, return_inverse=True, return_counts=True)
    fields = np.bincount(distinct[:, 0], minlength=len(kept))
    first = np.cumsum(fields) - fields
    layout.calls[indeterminate, FIELD] = number.ravel() - first[keys]
    at = layout.starts[distinct[:, 0]] + np.arange(len(distinct)) - first[distinct[:, 0]]
    layout.pool[at, OLD], layout.pool[at, SET] = distinct[:, 1], distinct[:, 2]
    layout.counts[:, DISTINCT] = fields
    is_write = distinct[:, 1] < 0
    layout.counts[:, WRITES] = np.bincount(distinct[is_write, 0], minlength=len(kept))
    np.maximum.at(layout.counts[:, EQUAL], distinct[:, 0], equal)
