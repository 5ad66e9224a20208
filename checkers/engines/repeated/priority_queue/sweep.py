"""A sweep over the completions of a priority queue, with all possible states or the best.

Kernels for `checkers.engines.repeated.priority_queue.priority_queue`, which defines states and
candidates.
"""

from typing import Final, NamedTuple

import numpy as np

from kraftproof.checkers.calls.containers import FOUND_NONE, PUT
from kraftproof.checkers.engines.repeated.priority_queue.frontier import (
    Front,
    States,
    Steps,
    new_front,
    tell,
    undominated,
    with_one,
)
from kraftproof.checkers.engines.repeated.priority_queue.heuristic import Selection, best
from kraftproof.checkers.engines.repeated.priority_queue.layout import NOBODY, Ints, Layout
from kraftproof.checkers.engines.repeated.priority_queue.steps import (
    INSIDE,
    MARKS,
    Now,
    State,
    find_none,
    open_takes,
    pairs,
    put,
    take,
)
from kraftproof.checkers.kernels import bare_kernel, kernel

_CHOICES: Final = 4
"""So many times as many ways to prepare for a put are tried of a state as states are kept."""


class Place(NamedTuple):
    """How far a sweep has come.

    Attributes:
        event: the next event to pass, by its number.
        open: int64[lanes], as in `Now`.
        states: int32[k, w], the states that are left, at least one.
        nodes: int64[k], the last step of each.
        is_whole: whether none was dropped for lack of capacity.
    """

    event: int
    open: Ints
    states: States
    nodes: Ints
    is_whole: bool


def beginning(layout: Layout) -> Place:
    """Return the place before all events."""
    return Place(
        event=0,
        open=np.full(layout.lanes, NOBODY),
        states=np.zeros((1, width_of(layout)), dtype=np.int32),
        nodes=np.zeros(1, dtype=np.int64),
        is_whole=True,
    )


def width_of(layout: Layout) -> int:
    """Return how many numbers a state has; capacity for one value more than there can be."""
    return int(pairs(layout) + 2 * (layout.capacity + 1))


@kernel
def sweep(
    layout: Layout, place: Place, steps: Steps, until: int, selection: Selection
) -> tuple[Place, Steps, int]:
    """Pass some events.

    Args:
        layout: The calls.
        place: The checkpoint to start from; it stays unchanged.
        steps: The steps up to there.
        until: The event to stop before, by its number.
        selection: The rule by which states are kept.

    Returns:
        The checkpoint at `until`, or before a completion that no state passed; the steps; and the
        number of states met.
    """
    path = np.empty(2 * layout.lanes + len(layout.takes) + 4, dtype=np.int64)
    now = Now(place.open.copy(), np.empty(1, dtype=np.int64), path)
    front = Front(place.states.copy(), place.nodes.copy(), place.nodes.copy())
    is_whole, work, event = place.is_whole, 0, place.event
    while event < until:
        call = layout.events[event] // 2
        if layout.events[event] % 2 == 0:
            _begin(layout, now, front.states, call)
            if layout.action[call] == FOUND_NONE:
                steps = _find_none(layout, now, front, steps)
        else:
            now.moment[0] = layout.complete[call]
            mark = MARKS + layout.lane[call]
            if not front.states[:, mark].all():
                more, count, is_all, steps = _pass(
                    layout, now, front, steps, call, _CHOICES * selection.kept
                )
                work += count
                is_whole &= is_all
                if count == 0:
                    break
                count = undominated(layout, more, count)
                is_whole &= count <= selection.kept
                chosen = np.arange(count)
                if not is_whole:
                    chosen = best(layout, now, more.states[:count], selection)
                front = Front(more.states[chosen], more.nodes[chosen], more.least[:0])
            front.states[:, mark] = 0
            now.open[layout.lane[call]] = NOBODY
        event += 1
    stopped = Place(event, now.open, front.states, front.nodes, is_whole)
    return stopped, steps, work


@bare_kernel
def _begin(layout: Layout, now: Now, states: States, call: int) -> None:
    """Open a call. The first indeterminate put of a value resets the value's slot."""
    if layout.lane[call] != NOBODY:
        now.open[layout.lane[call]] = call
    elif layout.action[call] == PUT and layout.puts[layout.first[layout.rank[call]]] == call:
        for it in range(len(states)):
            states[it, MARKS + layout.lanes + layout.slot[call]] = 0


@kernel
def _find_none(layout: Layout, now: Now, front: Front, steps: Steps) -> Steps:
    """Have an empty take its place at once where nothing is inside."""
    for it in range(len(front.states)):
        now.path[0] = 0
        if front.states[it, INSIDE] == 0:
            find_none(layout, now, front.states[it])
            steps, front.nodes[it] = tell(steps, front.nodes[it], now.path)
    return steps


@kernel
def _pass(
    layout: Layout, now: Now, front: Front, steps: Steps, call: int, most: int
) -> tuple[Front, int, bool, Steps]:
    """Return the states that pass a completion, how many, whether these are all, and the steps."""
    more, count, is_all = new_front(2 * len(front.states) + 8, front.states.shape[1]), 0, True
    ready = open_takes(layout, now)
    for it in range(len(front.states)):
        state, node, first = front.states[it], front.nodes[it], count
        if state[MARKS + layout.lane[call]] == 0 and layout.action[call] != PUT:
            more, count, steps = _take(layout, now, more, count, steps, state, node, call)
            continue
        more = with_one(more, count, state, node, layout.rank[call] + 1)
        count += 1
        if state[MARKS + layout.lane[call]] == 0:
            more, count, steps = _prepare(layout, now, ready, more, first, steps, most)
            is_all &= count - first < most
            for at in range(first, count):
                now.path[0] = 0
                put(layout, now, more.states[at], call)
                steps, more.nodes[at] = tell(steps, more.nodes[at], now.path)
    return more, count, is_all, steps


@kernel
def _prepare(
    layout: Layout, now: Now, ready: Ints, more: Front, first: int, steps: Steps, most: int
) -> tuple[Front, int, Steps]:
    """Add the successors of the last state by takes of elements above a put's value.

    The takes are ordered by value, and equal ones by completion.
    """
    at, count = first, first + 1
    while at < count:
        last = NOBODY
        for call in ready:
            state, node, rank = more.states[at], more.nodes[at], layout.rank[call]
            if rank == last or rank < more.least[at] or state[MARKS + layout.lane[call]] != 0:
                continue
            last = rank
            if count - first < most:
                more, count, steps = _take(layout, now, more, count, steps, state, node, call)
        at += 1
    return more, count, steps


@kernel
def _take(
    layout: Layout,
    now: Now,
    more: Front,
    count: int,
    steps: Steps,
    state: State,
    node: int,
    call: int,
) -> tuple[Front, int, Steps]:
    """Add the state after a take, if there is one."""
    more = with_one(more, count, state, node, layout.rank[call])
    now.path[0] = 0
    if take(layout, now, more.states[count], call):
        steps, more.nodes[count] = tell(steps, node, now.path)
        count += 1
    return more, count, steps
