"""The names of what is wrong with transactions on lists, as Elle has them.

Adya's anomalies (1999) by the edges that a cycle needs at least, with `-realtime` where those of
real time are among them (Kingsbury and Alvaro, "Elle", 2020). Nothing is decided here.
"""

from typing import Final

import numpy as np

from checkers.engines.list_edges import RT, RW, WR, WW, is_acyclic, reaches, successors
from checkers.engines.list_graph import Lists, PrefixVerdict, verdict_of_prefix
from checkers.engines.list_order import (
    ABORTED_READ,
    DUPLICATE,
    INCOMPATIBLE,
    INTERNAL,
    PHANTOM,
    Ints,
)

_NAMES: Final = {
    ABORTED_READ: "G1a, aborted read",
    PHANTOM: "phantom: a read of what nobody had begun to append",
    INTERNAL: "internal",
    DUPLICATE: "duplicate elements",
    INCOMPATIBLE: "incompatible order",
}
_MOST_TRIED: Final = 10_000
"""So many rw edges are tried for a cycle with no other; beyond them it may be called G2."""


def anomaly_of(lists: Lists, cut: int) -> str:
    """Returns the name of what is wrong with the calls up to a cut, which have no legal order."""
    found = verdict_of_prefix(lists, cut)
    assert not found.is_legal
    return _NAMES.get(found.problem) or _cycle(lists, found)


def _cycle(lists: Lists, found: PrefixVerdict) -> str:
    if _is_intermediate(lists, found.edges):
        return "G1b, intermediate read"
    for suffix, time in (("", ()), ("-realtime", (RT,))):
        if _has_cycle(found, (WW, *time)):
            return f"G0{suffix}, write cycle"
        if _has_cycle(found, (WW, WR, *time)):
            return f"G1c{suffix}, circular information flow"
        if _has_cycle(found, (WW, WR, RW, *time)):
            return _with_reads(found, (WW, WR, *time), suffix)
    raise AssertionError("a cycle without a cycle")


def _chosen(found: PrefixVerdict, kinds: tuple[int, ...]) -> Ints:
    chosen: Ints = found.edges[:, np.isin(found.edges[2], kinds)]
    return chosen


def _has_cycle(found: PrefixVerdict, kinds: tuple[int, ...]) -> bool:
    return not is_acyclic(_chosen(found, kinds), found.nodes)


def _with_reads(found: PrefixVerdict, kinds: tuple[int, ...], suffix: str) -> str:
    starts, targets = successors(_chosen(found, kinds), found.nodes)
    for source, target, _ in _chosen(found, (RW,)).T[:_MOST_TRIED].tolist():
        if reaches(starts, targets, target, source):
            return f"G-single{suffix}, {'stale read' if suffix else 'read skew'}"
    return f"G2{suffix}, anti-dependency cycle"


def _is_intermediate(lists: Lists, edges: Ints) -> bool:
    """Says whether some call saw a part of what another appended to a list, and not the rest."""
    del lists
    read_from = {tuple(edge) for edge in edges[:2, edges[2] == WR].T.tolist()}
    return any((b, a) in read_from for a, b in edges[:2, edges[2] == RW].T.tolist())
