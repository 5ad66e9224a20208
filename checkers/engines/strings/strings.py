"""Strings under put, append and get, if answers can be cut into unique pieces.

A get tells the put that its string goes back to, and the later appends in order (see
`checkers.calls.strings`). A put, or the beginning, forms a *block* with the appends and gets known
to belong to it; the order within a block is known except for gets of equal strings. A write that
nobody read fits anywhere before the next put, or at the end: between blocks, never within one,
where it would be seen; so it is a block of its own. A legal order therefore puts one block after
the other, as it does with the clusters of a register (Gibbons and Korach, "Testing shared
memories", 1997): block A must precede block B if some call of A completes before some call of B is
invoked, that is if first(A) < last(B), first being the earliest completion of a block and last its
latest invocation. Such an order exists if and only if no two blocks must each precede the other.
The beginning is a block that completed before all events. Hence a history is linearizable if and
only if

1. every answer is a sequence of written pieces, of which only the first was put;
2. no piece occurs at two positions, and of two answers in a block, one is a prefix of the other;
3. within a block, no call completes before an earlier call of the block was invoked;
4. no two blocks must each precede the other.

An open or indeterminate call counts if a counted get read its piece; otherwise it is left out,
which only removes constraints. The first completion that breaks rule 1 or 2 is found directly, a
violation of rule 3 or 4 before it by bisection (`checkers.engines.kernels.bisection`). Time is
O(n log n) for each decision after the cutting, memory O(n + pieces in the longest answers). Keys
with ambiguous pieces are searched (`checkers.engines.repeated.beam_search.beam_search`).
"""

from dataclasses import dataclass
from importlib import import_module
from typing import Final

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.calls.strings import APPEND, GET, NO_NODE, PUT, StringCalls
from kraftproof.checkers.engines.kernels.bisection import find_first_illegal, outcome_of, spans
from kraftproof.checkers.engines.strings.beam_facts import facts_of
from kraftproof.checkers.engines.types import Outcome
from kraftproof.checkers.history.columns import NEVER
from kraftproof.checkers.models.block_order import BEFORE_ALL, moments
from kraftproof.checkers.options import Limits

ENGINE: Final = "strings"

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


def decide(calls: StringCalls, limits: Limits) -> list[Outcome | None]:
    """Return the outcome of each key, None for one left to the general engine."""
    return [_decide_key(calls, key, *span, limits) for key, span in enumerate(spans(calls))]


def _decide_key(
    calls: StringCalls, key: int, start: int, end: int, limits: Limits
) -> Outcome | None:
    if calls.is_ambiguous[key]:
        return _search(calls, start, end, limits)
    blocks = _blocks(calls, key, start, end)

    def is_legal(_start: int, _end: int, cut: int) -> bool:
        return blocks.is_legal(min(cut, NEVER - 1))

    return outcome_of(calls, start, end, find_first_illegal(calls, start, end, is_legal), ENGINE)


def order_of(calls: StringCalls, cut: int, limits: Limits) -> Ints | None:
    """Return the calls of the only key up to an event in a legal order; None if none is known."""
    if not calls.is_ambiguous[0]:
        return _blocks(calls, 0, 0, len(calls)).ordered(cut)
    beam = import_module("kraftproof.checkers.engines.repeated.beam_search.beam_search")
    order: Ints | None = beam.ordered(facts_of(calls, 0, len(calls)), cut, limits)
    return order


def _search(calls: StringCalls, start: int, end: int, limits: Limits) -> Outcome | None:
    """Decide a key whose answers can be cut in several ways; numba is loaded for these only."""
    beam = import_module("kraftproof.checkers.engines.repeated.beam_search.beam_search")
    facts = facts_of(calls, start, end)
    outcome: Outcome | None = beam.decide_repeated(calls, start, end, facts, limits)
    return outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class _Blocks:
    """The n calls of a key with their places in blocks.

    Attributes:
        invoke: int64[n].
        complete: int64[n].
        counts_from: int64[n], the event from which a call is known to be in its block: the
            completion of a get, or of the first get that read the piece; NEVER otherwise.
        block: int64[n], the block's number from 0, the beginning's; any for unread pieces.
        level: int64[n], twice the place in the block, a get one above the append that it saw.
        is_free: bool[n], whether the call changes nothing and nobody sees it.
        broken_at: The first completion that breaks rule 1 or 2; NEVER otherwise.
    """

    invoke: Ints
    complete: Ints
    counts_from: Ints
    block: Ints
    level: Ints
    is_free: Bools
    broken_at: int

    def is_legal(self, cut: int) -> bool:
        """Return whether all rules hold up to a cut, an event."""
        if cut >= self.broken_at:
            return False
        counted, blocks, levels = self._by_block(cut)
        invoke, complete = self.invoke[counted], self.complete[counted]
        if not len(blocks):
            return True
        return _is_ordered(blocks, levels, invoke, complete) and _are_apart(
            blocks, invoke, complete
        )

    def ordered(self, cut: int) -> Ints:
        """Return the calls that count up to a cut, in a legal order if one exists."""
        counted, blocks, _ = self._by_block(cut)
        if not len(blocks):
            return counted
        (starts,) = np.nonzero(np.diff(blocks, prepend=-1))
        first, last = _spans(blocks, starts, self.invoke[counted], self.complete[counted])
        rank = np.empty(len(starts), dtype=np.int64)
        rank[np.argsort(moments(first, last), kind="stable")] = np.arange(len(starts))
        sizes = np.diff(starts, append=len(blocks))
        return counted[np.argsort(np.repeat(rank, sizes), kind="stable")]

    def _by_block(self, cut: int) -> tuple[Ints, Ints, Ints]:
        """Return the calls that count up to a cut by block and level, and both of these."""
        is_placed = self.counts_from <= cut
        counts = is_placed | ((self.complete <= cut) & ~self.is_free)
        alone = self.block.max(initial=0) + 1 + np.arange(len(self.block))
        blocks = np.where(is_placed, self.block, alone)[counts]
        levels = np.where(is_placed, self.level, 0)[counts]
        order = np.lexsort((levels, blocks))
        return np.flatnonzero(counts)[order], blocks[order], levels[order]


def _is_ordered(blocks: Ints, levels: Ints, invoke: Ints, complete: Ints) -> bool:
    """Return whether no call completes before a call of a lower level in its block is invoked.

    All are int64[k], sorted by block and level.
    """
    is_first = np.diff(blocks, prepend=-1) != 0
    is_new = is_first | (np.diff(levels, prepend=-1) != 0)
    ranks = np.cumsum(is_first)
    span = int(invoke.max()) + 1  # times the rank, so that each block's maxima begin anew
    latest = np.maximum.accumulate(invoke + ranks * span)
    level_starts = np.maximum.accumulate(np.where(is_new, np.arange(len(blocks)), 0))
    lower = np.where(level_starts > 0, latest[level_starts - 1] - ranks * span, -1)
    return not (complete < lower).any()  # which is negative where nothing is lower


def _are_apart(blocks: Ints, invoke: Ints, complete: Ints) -> bool:
    """Return whether no two blocks must each precede the other; int64[k], sorted by block.

    Two blocks must if both are *forward*, first < last, and overlap, or if one is forward and the
    other is not and lies within it.
    """
    (starts,) = np.nonzero(np.diff(blocks, prepend=-1))
    first, last = _spans(blocks, starts, invoke, complete)
    forward = first < last
    order = np.argsort(first[forward])
    begins, ends = first[forward][order], last[forward][order]
    if (ends[:-1] > begins[1:]).any():
        return False
    first, last = first[~forward], last[~forward]
    around = np.searchsorted(begins, last) - 1
    return not ((around >= 0) & (ends[around] > first)).any() if len(ends) else True


def _spans(blocks: Ints, starts: Ints, invoke: Ints, complete: Ints) -> tuple[Ints, Ints]:
    """Return the earliest completion and the latest invocation of each block."""
    first, last = np.minimum.reduceat(complete, starts), np.maximum.reduceat(invoke, starts)
    if blocks[0] == 0:
        first[0] = BEFORE_ALL
    return first, last


def _blocks(calls: StringCalls, key: int, start: int, end: int) -> _Blocks:
    nodes = slice(int(calls.node_starts[key]), int(calls.node_starts[key + 1]))
    parent, piece = calls.parent[nodes], calls.piece[nodes]
    node, complete = calls.node[start:end], calls.complete[start:end]
    action = calls.action[start:end]
    is_get = action == GET
    is_put = np.append(action == PUT, values=False)[piece]  # of the empty string: the last
    read_from = _first_reads(parent, node[is_get], complete[is_get])
    block, depth = _places(parent.tolist(), is_put.tolist())
    counts_from, places = np.where(is_get, complete, NEVER), np.maximum(node, 0)
    earliest = np.lexsort((read_from, piece))
    earliest = earliest[np.diff(piece[earliest], prepend=-2) != 0]
    earliest = earliest[piece[earliest] >= 0]
    counts_from[piece[earliest]], places[piece[earliest]] = read_from[earliest], earliest
    siblings = np.where(is_put & (parent == 0), NO_NODE - 1 - np.arange(len(parent)), parent)
    broken = [
        _second(piece, read_from),
        _second(siblings, read_from),
        read_from[is_put & (parent != 0)].min(initial=NEVER),
        complete[is_get & (node == NO_NODE)].min(initial=NEVER),
    ]
    return _Blocks(
        invoke=calls.invoke[start:end],
        complete=complete,
        counts_from=counts_from,
        block=block[places],
        level=2 * depth[places] + is_get,
        is_free=(action != APPEND) & (action != PUT),
        broken_at=int(min(broken)),
    )


def _first_reads(parent: Ints, node: Ints, complete: Ints) -> Ints:
    """Return the first completion of a get that saw what each node stands for: int64[t]."""
    found = np.full(len(parent) + 1, NEVER)  # the last is for answers that are no node
    np.minimum.at(found, node, complete)
    parents, earliest = parent.tolist(), found.tolist()
    for place in range(len(parents) - 1, 0, -1):
        earliest[parents[place]] = min(earliest[parents[place]], earliest[place])
    return np.asarray(earliest[:-1], dtype=np.int64)


def _places(parent: list[int], is_put: list[bool]) -> tuple[Ints, Ints]:
    """Return the block and the depth of each node: int64[t] each; a block is its first node."""
    block, depth = [0] * len(parent), [0] * len(parent)
    for node in range(1, len(parent)):
        block[node] = node if is_put[node] else block[parent[node]]
        depth[node] = depth[parent[node]] + 1
    return np.asarray(block, dtype=np.int64), np.asarray(depth, dtype=np.int64)


def _second(group: Ints, times: Ints) -> int:
    """Return the earliest time at which a group has two, NEVER otherwise ever has."""
    order = np.lexsort((times, group))
    again = order[1:][np.diff(group[order]) == 0]
    return int(times[again].min(initial=NEVER))
