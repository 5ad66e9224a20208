"""An order of a stack's calls, whose elements may be equal: told by a sweep, or by a search.

The sweep (`checkers.engines.stack_graph`) tells an order, or that there is none; where calls were
lost it mostly takes too much, and a search of bounded width goes first.

The search (`checkers.engines.stack_search`) says which take took what was put by which call, and by
when that was put at the latest. Takes have their effect in the order in which it placed them. Puts
have theirs as late as they can: of those that must be in place by one moment, because of one take,
what is taken first is put last. Whether that is legal is seen by doing it.
"""

from typing import Final

import numpy as np
from msgspec import structs
from numpy.typing import NDArray

from checkers.calls.containers import FOUND_NONE, PUT, ContainerCalls, StackCalls
from checkers.calls.values import NO_VALUE
from checkers.columns import NEVER
from checkers.engines.lanes import lanes_of
from checkers.engines.stack_ahead import Ints, ahead_of
from checkers.engines.stack_cells import BELOW, BOTTOM, CALL, CAP, HI, LO, VALUE
from checkers.engines.stack_graph import swept
from checkers.engines.stack_search import search
from checkers.engines.stack_steps import LOG, MOST_SLOTS, PAIRED, TOP, Calls
from checkers.kernels import kernel
from checkers.options import Limits

_STATES_A_SECOND: Final = 800_000
"""So few states on any machine; so that what a key may cost is counted, not timed."""
_MOST_KEPT: Final = 1024
_SWEEPS: Final = 0.5
_SWEEPS_LOSSY: Final = 0.2
"""So much of the time may be taken by a sweep, and if calls were lost."""
_CELL_BYTES: Final = 320
"""What a cell costs while there are two copies of all."""


def order_of(calls: StackCalls, cut: int, limits: Limits) -> Ints | None:
    """Returns puts and takes of the only key up to an event in a legal order; None if unknown."""
    known = calls_of(calls, 0, len(calls))
    sweeping, searching = shares(known, limits)
    last = int(np.searchsorted(known.complete[known.levels], cut, side="right"))
    order = searched(known, last, searching) if is_lossy(known) else None
    if order is None and (found := swept(known, last, sweeping)) is not None:
        return found.order if found.stuck is None else None
    if order is None and not is_lossy(known):
        order = searched(known, last, searching)
    return order


def shares(calls: Calls, limits: Limits) -> tuple[Limits, Limits]:
    """Returns what a sweep may take and what a search may: less, where calls were lost."""
    sweeping = limits.seconds * (_SWEEPS_LOSSY if is_lossy(calls) else _SWEEPS)
    searching = limits.seconds - sweeping
    return (
        structs.replace(limits, seconds=sweeping),
        structs.replace(limits, seconds=searching),
    )


def is_lossy(calls: Calls) -> bool:
    """Says whether calls were lost."""
    return len(calls.levels) < len(calls.action)


def searched(calls: Calls, last: int, limits: Limits) -> Ints | None:
    """Returns puts and takes in a legal order that a search of bounded width finds, if it does.

    Args:
        calls: those of one key.
        last: how many completions it has to reach.
        limits: what it may take.
    """
    if calls.opened.shape[1] > MOST_SLOTS:
        return None
    most = int(limits.seconds * _STATES_A_SECOND)
    is_found, cells, row = search(calls, last, _MOST_KEPT, most, limits.memory_bytes // _CELL_BYTES)
    if not is_found:
        return None
    order = _order(cells, row)
    return order if is_legal(calls, last, order) else None


def calls_of(calls: ContainerCalls, start: int, end: int) -> Calls:
    """Returns the calls of a key as the search needs them."""
    action, element = calls.action[start:end], calls.element[start:end]
    invoke, complete = calls.invoke[start:end], calls.complete[start:end]
    (sure,) = np.nonzero(complete != NEVER)
    slot, lanes = np.full(len(action), -1), 0
    slot[sure], _, lanes = lanes_of(invoke[sure], complete[sure], len(sure) + 1)
    levels = sure[np.argsort(complete[sure])]
    (lost,) = np.nonzero((action == PUT) & (complete == NEVER))
    lost = lost[np.argsort(element[lost], kind="stable")]
    values = np.arange(element.max(initial=NO_VALUE) + 2)
    return Calls(
        action=action,
        element=element,
        invoke=invoke,
        complete=complete,
        levels=levels,
        slot=slot,
        opened=_opened(invoke, complete, slot, levels, lanes),
        spares=np.flatnonzero((action != PUT) & (complete == NEVER)),
        lost=lost,
        lost_from=np.searchsorted(element[lost], values),
        ahead=ahead_of(action, element, invoke, complete, levels),
    )


@kernel
def _opened(
    invoke: Ints, complete: Ints, slot: Ints, levels: Ints, slots: int
) -> NDArray[np.int32]:
    """Returns which calls are open at each completion: int32[m, slots], -1 for none."""
    found = np.full((len(levels), slots), -1, dtype=np.int32)
    opened, call = np.full(slots, -1, dtype=np.int32), 0
    for level in range(len(levels)):
        it = levels[level]
        while call < len(invoke) and invoke[call] < complete[it]:
            if slot[call] >= 0:
                opened[slot[call]] = call
            call += 1
        found[level] = opened
        opened[slot[it]] = -1
    return found


def _order(cells: Ints, row: Ints) -> Ints:
    """Returns the calls of a state's log, and those that are still inside, in order."""
    moments: list[tuple[tuple[int, int, int], int]] = []
    cell, number = int(row[LOG]), 0
    while cell != BOTTOM:  # from the last take to the first
        take, put, now, latest = (int(cells[cell, at]) for at in (CALL, VALUE, LO, HI))
        moments.append(((now, 0, -2 * number), take))
        key = (now, 0, -2 * number - 1) if latest == PAIRED else (latest, 1, number)
        moments.append((key, put))
        cell, number = int(cells[cell, BELOW]), number + 1
    cell, cap, inside = int(row[TOP]), NEVER, 0
    while cell != BOTTOM:
        cap = min(cap, int(cells[cell, CAP]))
        inside -= 1
        moments.append(((min(cap, int(cells[cell, HI])), 1, inside), int(cells[cell, CALL])))
        cell = int(cells[cell, BELOW])
    return np.asarray([call for _, call in sorted(moments)], dtype=np.int64)


@kernel
def is_legal(calls: Calls, last: int, order: Ints) -> bool:
    """Steps through an order: says whether it is legal, keeps to real time and has all it must.

    Args:
        calls: those of one key.
        last: how many completions there are; what completed must be in the order, but for takes
            that found none: these need a moment at which nothing is inside.
        order: puts and takes.
    """
    is_there = np.zeros(len(calls.action), dtype=np.bool_)
    inside, height, latest = np.empty(len(order) + 1, dtype=np.int64), 0, -1
    begun = np.full(len(order) + 1, -1)  # at each moment, the last invocation of what was before
    is_empty = np.ones(len(order) + 1, dtype=np.bool_)
    for place in range(len(order)):
        it = order[place]
        if is_there[it] or calls.complete[it] <= latest:
            return False
        is_there[it], latest = True, max(latest, calls.invoke[it])
        if calls.action[it] == PUT:
            inside[height] = calls.element[it]
            height += 1
        else:
            height -= 1
            told = calls.element[it]
            if height < 0 or (told != NO_VALUE and told != inside[height]):
                return False
        begun[place + 1], is_empty[place + 1] = latest, height == 0
    over = np.full(len(order) + 1, NEVER)  # the first completion of what comes after
    for place in range(len(order) - 1, -1, -1):
        over[place] = min(over[place + 1], calls.complete[order[place]])
    over[~is_empty] = -1
    for it in calls.levels[:last]:
        if calls.action[it] != FOUND_NONE and not is_there[it]:
            return False
        if calls.action[it] == FOUND_NONE and not _may_find_none(calls, it, begun, over):
            return False
    return True


@kernel
def _may_find_none(calls: Calls, it: int, begun: Ints, over: Ints) -> bool:
    """Says whether a call has a moment among some: after all that was over before, and so on."""
    is_so = (over > calls.invoke[it]) & (begun < calls.complete[it])
    return bool(is_so.any())
