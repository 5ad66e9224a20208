"""Names of the anomalies of transactions on lists, as in Elle.

Adya's anomalies (1999) by the edges that a cycle needs at least, with `-realtime` if it needs an
edge of real time (Kingsbury and Alvaro, "Elle", 2020). G-nonadjacent is a cycle of several rw edges
of which no two are adjacent (Cerone and Gotsman 2018: excluded by snapshot isolation); other cycles
are G2-item. Nothing is decided here.
"""

from typing import Final

import numpy as np

from kraftproof.checkers.calls.lists.elements import ABORTED
from kraftproof.checkers.engines.kernels.adjacency import successors
from kraftproof.checkers.engines.lists.edges import RT, RW, WR, WW, is_acyclic, reaches
from kraftproof.checkers.engines.lists.graph import Lists, PrefixVerdict, verdict_of_prefix
from kraftproof.checkers.engines.lists.order import (
    ABORTED_READ,
    DUPLICATE,
    INCOMPATIBLE,
    INTERNAL,
    PHANTOM,
    Bools,
    Ints,
    happened_by,
)

NAMES: Final = {
    ABORTED_READ: "G1a, aborted read",
    PHANTOM: "phantom: a read of what nobody had begun to append",
    INTERNAL: "internal",
    DUPLICATE: "duplicate elements",
    INCOMPATIBLE: "incompatible order",
}
_MOST_TRIED: Final = 10_000
"""The number of rw edges tried for a cycle without another; beyond it, a cycle may be called
G2-item."""


def anomaly_of(lists: Lists, cut: int) -> str:
    """Return the name of what is wrong with the calls up to a cut, which have no legal order."""
    found = verdict_of_prefix(lists, cut)
    assert not found.is_legal
    if found.problem == ABORTED_READ and _is_built_upon(lists, found.call):
        return "G1a, aborted read; dirty update"
    if found.problem == INTERNAL and _is_foreseen(lists, found.call):
        return "future read"
    return NAMES.get(found.problem) or _cycle(lists, found, cut)


def _seen_by(lists: Lists, call: int) -> list[tuple[int, list[int]]]:
    """Return what each action of a call saw."""
    return [
        (action, lists.elements[lists.seen[action] : lists.seen[action + 1]].tolist())
        for action in range(lists.actions[call], lists.actions[call + 1])
    ]


def _is_built_upon(lists: Lists, call: int) -> bool:
    """Return whether a call saw an aborted append followed by a committed append."""
    return any(
        ABORTED in seen and max(seen[seen.index(ABORTED) :]) >= 0
        for _, seen in _seen_by(lists, call)
    )


def _is_foreseen(lists: Lists, call: int) -> bool:
    """Return whether a call saw what it appended itself only later."""
    return any(
        element > action and lists.call[element] == call
        for action, seen in _seen_by(lists, call)
        for element in seen
    )


def _cycle(lists: Lists, found: PrefixVerdict, cut: int) -> str:
    happened, *_ = happened_by(
        lists.invoke, lists.complete, lists.actions, lists.call, lists.seen, lists.elements, cut
    )
    counts = happened[lists.call]
    if _is_intermediate(lists, counts):
        return "G1b, intermediate read"
    for suffix, time in (("", ()), ("-realtime", (RT,))):
        if _has_cycle(found, (WW, *time)):
            return f"G0{suffix}, write cycle"
        if _has_cycle(found, (WW, WR, *time)):
            return f"G1c{suffix}, circular information flow"
        if _has_cycle(found, (WW, WR, RW, *time)):
            return _with_reads(lists, found, counts, (WW, WR, *time), suffix)
    raise AssertionError("a cycle without a cycle")


def _chosen(found: PrefixVerdict, kinds: tuple[int, ...]) -> Ints:
    chosen: Ints = found.edges[:, np.isin(found.edges[2], kinds)]
    return chosen


def _has_cycle(found: PrefixVerdict, kinds: tuple[int, ...]) -> bool:
    return not is_acyclic(_chosen(found, kinds), found.nodes)


def _with_reads(
    lists: Lists, found: PrefixVerdict, counts: Bools, kinds: tuple[int, ...], suffix: str
) -> str:
    starts, targets = successors(_chosen(found, kinds), found.nodes)
    for source, target, _ in _chosen(found, (RW,)).T[:_MOST_TRIED].tolist():
        if reaches(starts, targets, target, source):
            is_indeterminate = not suffix and _is_update_lost(lists, counts)
            observed = (
                "lost update" if is_indeterminate else "stale read" if suffix else "read skew"
            )
            return f"G-single{suffix}, {observed}"
    if _is_nonadjacent(len(lists.invoke), found, kinds):
        return f"G-nonadjacent{suffix}, anti-dependencies apart"
    return f"G2-item{suffix}, anti-dependency cycle"


def _is_nonadjacent(calls: int, found: PrefixVerdict, kinds: tuple[int, ...]) -> bool:
    """Return whether a cycle exists in which no rw edge follows another.

    Each node occurs twice: reached by a rw edge, or by another. Nodes between the calls (past
    `calls`, except those of real time) are the middle of an edge, so their outgoing edges have the
    kind of the edge that led there.
    """
    source, target, kind = _chosen(found, (*kinds, RW))
    goes_on = (source >= calls) & (kind == WW)
    plain, nodes = ~goes_on & (kind != RW), found.nodes
    is_rw = kind == RW
    parts = [
        (source[plain], target[plain]),
        (source[plain] + nodes, target[plain]),
        (source[is_rw], target[is_rw] + nodes),
        (source[goes_on], target[goes_on]),
        (source[goes_on] + nodes, target[goes_on] + nodes),
    ]
    edges = np.concatenate([np.stack([*part, part[0]]) for part in parts], axis=1)
    return not is_acyclic(np.ascontiguousarray(edges), 2 * nodes)


def _is_intermediate(lists: Lists, counts: Bools) -> bool:
    """Return whether a call saw a part of what another appended to a list, and not the rest."""
    last = {
        (int(lists.call[action]), int(lists.list_number[action])): action
        for action in np.flatnonzero(~lists.is_read).tolist()
    }
    for action in np.flatnonzero(lists.is_read & counts).tolist():
        call, number = int(lists.call[action]), int(lists.list_number[action])
        place = int(lists.seen[action + 1]) - 1
        while place >= lists.seen[action] and lists.call[lists.elements[place]] == call:
            place -= 1
        if place >= lists.seen[action]:
            element = int(lists.elements[place])
            if last[int(lists.call[element]), number] != element:
                return True
    return False


def _is_update_lost(lists: Lists, counts: Bools) -> bool:
    """Return whether two calls read a list at equal length, and appended to it."""
    writes = np.flatnonzero(~lists.is_read)
    appends = {(int(lists.call[one]), int(lists.list_number[one])) for one in writes}
    found: set[tuple[int, int]] = set()
    for action in np.flatnonzero(lists.is_read & counts & (lists.earlier < 0)).tolist():
        call, number = int(lists.call[action]), int(lists.list_number[action])
        if (call, number) not in appends:
            continue
        version = (number, int(lists.seen[action + 1] - lists.seen[action]))
        if version in found:
            return True
        found.add(version)
    return False
