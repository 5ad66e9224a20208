"""Calls that find and leave values of a few registers, laid out for a search by returns.

For `checkers.engines.repeated.beam_search.beam_search`. A call finds a value of some registers and
leaves a value in some, at once. Values are numbered for each register apart. The values that can be
made from a value by appending *pieces* follow it without a gap: strings are numbered like the nodes
of a tree of all strings found; other values stand alone. A value that no call finds, and that leads
to no such value, is NOTHING.
"""

from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.history.columns import NEVER

Ints = NDArray[np.int64]
Narrow = NDArray[np.int32]

NOTHING: Final = -1
"""A value that nobody finds."""
NONE: Final = -2
"""No value is found, or left; no piece is appended; no slot."""
NEVER_THERE: Final = -3
"""A value that was found and can't have been."""

SLOTS: Final = 63
"""So many calls that return may be open at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """The values of a key's registers.

    Attributes:
        initial: int64[r], what each register holds at first.
        last: int64[v], the last value that can be made of each by appending.
        edge_starts: int64[v + 1]; what can be appended to value x, one piece at a time, is
            edge_starts[x] to edge_starts[x + 1] of the next two.
        edge_piece: int64[e].
        edge_to: int64[e], the value that it makes.
    """

    initial: Ints
    last: Ints
    edge_starts: Ints
    edge_piece: Ints
    edge_to: Ints


class Layout(NamedTuple):
    """The n calls of a key, by invocation, on r registers.

    Attributes:
        number: int64[n], the position of each call among the key's calls.
        invoke: int64[n], ascending.
        complete: int64[n], NEVER for calls that are indeterminate or open at the end.
        find: int32[n, r], the value found, NONE or NEVER_THERE.
        finds: int64[n], the number of registers of which each call finds a value.
        leave: int32[n, r], the value left, NOTHING if nobody finds it, or NONE.
        piece: int32[n], the piece appended to register 0, or NONE.
        updates: bool[n], whether a call leaves or appends a value.
        kind: int64[n], equal for calls that find, leave and append the same values.
        slot: int64[n], the bit of a returning call, reused after its return; NONE for other calls.
        returning: int64[m], the calls that return, by completion.
        finder_starts: int64[r + 1], where the finders of each register begin.
        finders: int64[f], the calls that find a value of the register, by completion; the
            indeterminate last.
        soonest: int64[f], the first invocation among each finder and all later ones.
        hope: int64[n, r], the last invocation of a call that leaves the value found there, or a
            value that leads to it, and may do so before the finder returns; -1 otherwise.
        kinds: The number of kinds of calls.
        indeterminate_of: int64[n], the number of an indeterminate call's kind among the
            indeterminate, else NONE.
        indeterminate: int64[l], a call of each indeterminate kind.
        initial, last, edge_starts, edge_piece, edge_to: As in `Values`.
        parent: int64[v], the longest value that leads to each by appending; NONE otherwise.
        depth: int64[v], the number of values that lead to each, itself included.
    """

    number: Ints
    invoke: Ints
    complete: Ints
    find: Narrow
    finds: Ints
    leave: Narrow
    piece: Narrow
    updates: NDArray[np.bool_]
    kind: Ints
    slot: Ints
    returning: Ints
    finder_starts: Ints
    finders: Ints
    soonest: Ints
    hope: Ints
    kinds: int
    indeterminate_of: Ints
    indeterminate: Ints
    initial: Ints
    last: Ints
    edge_starts: Ints
    edge_piece: Ints
    edge_to: Ints
    parent: Ints
    depth: Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """What n calls of a key found and left, before they are laid out; arrays as in `Layout`."""

    invoke: Ints
    complete: Ints
    find: Narrow
    leave: Narrow
    piece: Narrow
    values: Values


def lay_out(facts: Facts, *, are_indeterminate_finders: bool = True) -> Layout | None:
    """Return the layout of the calls, None if too many are open at a time.

    Without indeterminate calls among the finders, values that only such calls find are NOTHING, and
    these calls are never used: the search may then miss an order.
    """
    changes = (facts.leave != NONE).any(axis=1) | (facts.piece != NONE)
    kept = np.flatnonzero(changes | (facts.complete != NEVER))
    invoke, complete = facts.invoke[kept], facts.complete[kept]
    slot, returning = _slots(invoke, complete)
    if len(slot) and slot.max() >= SLOTS:
        return None
    find, leave, piece = facts.find[kept], facts.leave[kept], facts.piece[kept]
    observed = np.column_stack((find, leave, piece))
    _, kind = (
        np.unique(observed, axis=0, return_inverse=True) if len(observed) else (observed, slot)
    )
    kind = kind.reshape(-1).astype(np.int64)
    indeterminate_of = np.full(len(kept), NONE, dtype=np.int64)
    (unsure,) = np.nonzero(complete == NEVER)
    _, first, indeterminate_of[unsure] = np.unique(
        kind[unsure], return_index=True, return_inverse=True
    )
    finders = np.concatenate((returning, unsure)) if are_indeterminate_finders else returning
    found = [finders[find[finders, r] != NONE] for r in range(find.shape[1])]
    values = facts.values
    parent, depth = _ancestry(values.last)
    return Layout(
        number=kept,
        invoke=invoke,
        complete=complete,
        find=find,
        finds=np.count_nonzero(find != NONE, axis=1),
        leave=leave,
        piece=piece,
        updates=changes[kept],
        kind=kind,
        slot=slot,
        returning=returning,
        finder_starts=np.cumsum([0, *map(len, found)]).astype(np.int64),
        finders=np.concatenate(found),
        soonest=np.concatenate([_soonest(invoke[one]) for one in found]),
        hope=_hope(invoke, complete, find, leave, values.last),
        kinds=int(kind.max(initial=-1)) + 1,
        indeterminate_of=indeterminate_of,
        indeterminate=unsure[first],
        initial=values.initial,
        last=values.last,
        edge_starts=values.edge_starts,
        edge_piece=values.edge_piece,
        edge_to=values.edge_to,
        parent=parent,
        depth=depth,
    )


def _ancestry(last: Ints) -> tuple[Ints, Ints]:
    """Return the parent and the depth of each value; parents have smaller numbers."""
    parents: list[int] = []
    depths: list[int] = []
    path: list[tuple[int, int]] = []
    for value, end in enumerate(last.tolist()):
        while path and path[-1][1] < value:
            path.pop()
        parents.append(path[-1][0] if path else NONE)
        path.append((value, end))
        depths.append(len(path))
    return np.asarray(parents, dtype=np.int64), np.asarray(depths, dtype=np.int64)


def _soonest(invoke: Ints) -> Ints:
    """Return the least of each and all after it."""
    least: Ints = np.minimum.accumulate(invoke[::-1])[::-1].astype(np.int64)
    return least


def _slots(invoke: Ints, complete: Ints) -> tuple[Ints, Ints]:
    """Return the slot of each call, the lowest that is free, and the returning calls in order."""
    returning = np.argsort(complete, kind="stable")
    returning = returning[: np.count_nonzero(complete != NEVER)]
    slot = np.full(len(invoke), NONE, dtype=np.int64)
    free: list[int] = []
    taken, returned = 0, 0
    ends, order = complete[returning].tolist(), returning.tolist()
    numbers: list[int] = slot.tolist()
    for call, (begin, end) in enumerate(zip(invoke.tolist(), complete.tolist(), strict=True)):
        while returned < len(ends) and ends[returned] < begin:
            free.append(numbers[order[returned]])
            returned += 1
        if end == NEVER:
            continue
        if free:
            numbers[call] = free.pop()
        else:
            numbers[call] = taken
            taken += 1
    slot[:] = numbers
    return slot, returning


def _hope(invoke: Ints, complete: Ints, find: Narrow, leave: Narrow, last: Ints) -> Ints:
    """Return the last invocation of a call that may leave, or lead to, the value of each finder."""
    found = np.full(find.shape, -1, dtype=np.int64)
    for register in range(find.shape[1]):
        (finders,) = np.nonzero(find[:, register] >= 0)
        invoked_before = np.searchsorted(invoke, complete[finders])
        for value in np.unique(leave[:, register][leave[:, register] >= 0]).tolist():
            (leavers,) = np.nonzero(leave[:, register] == value)
            wanted = find[finders, register]
            serves = np.flatnonzero((wanted >= value) & (wanted <= last[value]))
            before = np.searchsorted(leavers, invoked_before[serves]) - 1
            latest = np.where(before >= 0, invoke[leavers[before]], -1)
            np.maximum.at(found[:, register], finders[serves], latest)
    return found
