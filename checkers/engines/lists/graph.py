"""Whether the transactions on lists up to a cut have a legal order, and if not, why.

Puts the kernels of `checkers.engines.lists.order` and `checkers.engines.lists.edges` together, for
`checkers.engines.lists.list_append`, which says what they decide.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from kraftproof.checkers.calls.lists.lists import ListCalls
from kraftproof.checkers.engines.lists.edges import data_edges, is_acyclic, real_time_edges
from kraftproof.checkers.engines.lists.order import (
    CYCLE,
    LEGAL,
    Bools,
    Ints,
    earlier_actions,
    from_first,
    happened_by,
    internal,
    order_of,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Lists:
    """The calls of a key: n calls, a actions, e elements seen, numbered from 0.

    Attributes:
        invoke: int64[n], ascending.
        complete: int64[n].
        actions: int64[n + 1], where the actions of each call lie.
        call: int64[a], each action's call.
        is_read: bool[a].
        list_number: int64[a].
        seen: int64[a + 1], where in `elements` lies what each action saw.
        elements: int64[e], actions; UNKNOWN or ABORTED.
        earlier: int64[a], the action before of the same call on the same list; -1 if none.
    """

    invoke: Ints
    complete: Ints
    actions: Ints
    call: Ints
    is_read: Bools
    list_number: Ints
    seen: Ints
    elements: Ints
    earlier: Ints

    @classmethod
    def of(cls, calls: ListCalls, start: int, end: int) -> "Lists":
        """Return the calls start to end."""
        first, last = int(calls.actions[start]), int(calls.actions[end])
        elements = calls.elements[calls.seen[first] : calls.seen[last]]
        actions = calls.actions[start : end + 1] - first
        list_number = calls.list_number[first:last]
        return cls(
            invoke=calls.invoke[start:end],
            complete=calls.complete[start:end],
            actions=actions,
            call=np.repeat(np.arange(end - start), np.diff(actions)),
            is_read=calls.is_read[first:last],
            list_number=list_number,
            seen=calls.seen[first : last + 1] - calls.seen[first],
            elements=from_first(elements, first),
            earlier=earlier_actions(actions, list_number),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PrefixVerdict:
    """What a prefix turns out to be.

    Attributes:
        problem: LEGAL, or what is wrong.
        call: where that is to be seen, -1 if in no single call.
        edges: int64[3, k] of a CYCLE: from, to and kind.
        nodes: how many nodes the graph has.
    """

    problem: int
    call: int
    edges: Ints
    nodes: int

    @property
    def is_legal(self) -> bool:
        """Whether the prefix has a legal order."""
        return self.problem == LEGAL


_NO_EDGES: Final = np.empty((3, 0), dtype=np.int64)


def verdict_of_prefix(lists: Lists, cut: int) -> PrefixVerdict:
    """Return whether the calls up to a cut have a legal order, and if not, why."""
    happened, problem, call = happened_by(
        lists.invoke, lists.complete, lists.actions, lists.call, lists.seen, lists.elements, cut
    )
    order, offsets = np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int64)
    if problem == LEGAL:
        order, offsets, problem, call = order_of(
            happened,
            lists.call,
            lists.is_read,
            lists.list_number,
            lists.earlier,
            lists.seen,
            lists.elements,
        )
    if problem == LEGAL:
        problem, call = internal(
            happened, lists.call, lists.is_read, lists.earlier, lists.seen, lists.elements
        )
    if problem != LEGAL:
        return PrefixVerdict(problem=problem, call=call, edges=_NO_EDGES, nodes=0)
    return _acyclic(lists, cut, happened, order, offsets)


def _acyclic(lists: Lists, cut: int, happened: Bools, order: Ints, offsets: Ints) -> PrefixVerdict:
    calls, count = len(lists.invoke), len(offsets) - 1
    data, problem, call = data_edges(
        calls,
        happened,
        lists.call,
        lists.is_read,
        lists.list_number,
        lists.seen,
        lists.earlier,
        order,
        offsets,
    )
    if problem != LEGAL:
        return PrefixVerdict(problem=problem, call=call, edges=_NO_EDGES, nodes=0)
    real_time, nodes = real_time_edges(happened, lists.invoke, lists.complete, cut, calls + count)
    edges = np.concatenate((data, real_time), axis=1)
    problem = LEGAL if is_acyclic(edges, nodes) else CYCLE
    return PrefixVerdict(problem=problem, call=-1, edges=edges, nodes=nodes)
