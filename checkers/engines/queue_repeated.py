"""First-in-first-out queues whose elements may be equal: a search over what comes next.

A queue gives out what was put, in the order of the puts. So a history has a legal order if and only
if its puts e(1), e(2), ... and its takes d(1), d(2), ... can be put in one each such that d(i) took
what e(i) put, both keep to real time, e(i) was invoked before d(j) completed for all i <= j, and
each take that found none has a place k between all e(i), d(i) with i <= k and all others. (With
unique elements these are the conditions of Henzinger, Sezgin and Vafeiadis, "Aspect-oriented
linearizability proofs", 2013: any cycle of real time and of both orders has one of their forms.)

So the search goes by the place in the queue, not by time: what comes next is a pair of a put and a
take of one value. However long the queue is, nothing is decided of an element before it is taken. A
state is which puts and takes have their places; all that matters of the past follows from it. Of
what may come next, of one value,

- the put that completes first goes first, and so does the take: those that have a place later can
  be exchanged with them. (All that may come next were invoked before any take, and any that found
  none, that is left completes; that is what the exchange needs.)
- a take that found none has its place as soon as it can have one;
- a call that need not have happened, for its outcome is unknown or it is open at the end of a
  prefix, takes its place only with one that must have: else both can be left out. Those of one
  value go by invocation. A take whose answer nobody knows goes with any put, if nothing else does.

That leaves a choice between values. First comes a search best first (Hart, Nilsson and Raphael, "A
formal basis for the heuristic determination of minimum cost paths", 1968): from the state that came
furthest, less so much for each call that need not have happened, those counted that must have by
what is due soon (`checkers.engines.queue_ahead`), and with the value first that has the earliest
last place. It is linear where it need not turn back. After a number of states the
frontier of all states of a place is swept to the end, or until it is empty. What shows by counting
(`checkers.engines.queue_lines`) is not searched for. Time O(n c^2) at the least, c the calls open
at a time; the question is NP-complete, and past a number of states there is no answer. Memory: the
first search's is O(c) a state, of which valid histories need O(n); a frontier's is that for each of
its own. The first stuck completion is that beyond which no state came, or is found by bisection.
"""

from dataclasses import dataclass
from heapq import heappop, heappush
from typing import Final

import numpy as np

from checkers.calls.containers import ContainerCalls
from checkers.columns import NEVER
from checkers.engines.known_sets import NONE, is_known, remember
from checkers.engines.outcome import Outcome
from checkers.engines.prefixes import Guided, outcome_of
from checkers.engines.queue_ahead import must_be_lost
from checkers.engines.queue_lines import Ints, Lines, Queue, lines_of, queue_of, short_at
from checkers.engines.queue_steps import (
    State,
    due,
    following,
    is_through,
    lost,
    room_for,
    settle,
)
from checkers.kernels import kernel
from checkers.options import Limits

LEGAL: Final = 1
ILLEGAL: Final = 0
GAVE_UP: Final = -1

_FIRST_STATES: Final = 50_000
"""So many states, and as many again as there are calls, are met depth first."""
_MOST_WEIGHT: Final = 16
"""So that the search comes to what is open at the end of a prefix before it goes far back."""
_STEPS_A_SECOND: Final = 2_000_000
"""So few lines of states on any machine; so that what a key may cost is counted, not timed."""
_MOST_LINES: Final = 512
_STATE_BYTES: Final = 32
"""What a state costs for each line: in a table that may have just grown, and waiting."""


class _UndecidedError(Exception):
    """A decision takes more than a key may cost."""


def decide_repeated(
    calls: ContainerCalls, start: int, end: int, limits: Limits, engine: str
) -> Outcome | None:
    """Returns the outcome of one queue, None if that takes more than its limits."""
    queue = queue_of(calls, start, end)
    prefixes = _Prefixes(queue, limits, short_at(queue))
    guided = Guided(complete=queue.complete, decide=prefixes.decide)
    try:
        stuck = guided.first_stuck()
    except _UndecidedError:
        return None
    return outcome_of(calls, start, end, None if stuck is None else start + stuck, engine)


@dataclass(frozen=True, slots=True)
class _Prefixes:
    """Decides prefixes of one key.

    Attributes:
        queue: its calls.
        limits: what the key may cost.
        short_at: the first completion by which counting shows something wrong.
    """

    queue: Queue
    limits: Limits
    short_at: int

    def decide(self, cut: int) -> tuple[bool, int]:
        """Says whether a prefix is legal, and if not, by when one perhaps already is not."""
        if self.short_at <= cut:
            return False, self.short_at
        lines = lines_of(self.queue, cut)
        count, calls = len(lines.starts) - 1, len(lines.invoke)
        if count > _MOST_LINES:
            raise _UndecidedError
        room = self.limits.memory_bytes // (_STATE_BYTES * (count + 1))
        verdict, reached = GAVE_UP, NEVER
        for weight in _weights(lines):
            if verdict == GAVE_UP:
                verdict, reached = descend(lines, weight, min(room, _FIRST_STATES + 4 * calls))
        if verdict == GAVE_UP:
            most = int(self.limits.seconds * _STEPS_A_SECOND) // (count + 1)
            verdict, reached = sweep(lines, most, room)
        if verdict == GAVE_UP:
            raise _UndecidedError
        return verdict == LEGAL, reached


def _weights(lines: Lines) -> tuple[int, ...]:
    """Returns the weights to search with, one after the other.

    A right order uses some of the calls that need not have happened, one that went wrong soon uses
    one a few places; a weight between tells them apart, and which is best is not known before.
    """
    unsure = int(np.count_nonzero(lines.complete == NEVER))
    weight = min(_MOST_WEIGHT, len(lines.invoke) // (4 * unsure + 1) + 1)
    return (weight,) if weight == _MOST_WEIGHT else (weight, max(2, weight - 2))


@kernel
def descend(lines: Lines, weight: int, most: int) -> tuple[int, int]:
    """Searches for an order, from what came far with few calls that need not have happened.

    Args:
        lines: the calls of a prefix.
        weight: how many places further is worth one more such call.
        most: so many states may be met.

    Returns:
        LEGAL, ILLEGAL or GAVE_UP; and the last event by which something was always due.
    """
    width = len(lines.starts) - 1
    if width == 0:
        return LEGAL, NEVER
    known, count = np.full((1024, width), NONE, dtype=np.int32), 0
    states, size = np.zeros((1024, width), dtype=np.int32), 1
    found = np.empty((room_for(lines), 3), dtype=np.int64)
    settle(lines, states[0])
    counts = np.zeros((2, lines.element.max() + 1), dtype=np.int64)
    waiting, reached = [(0, 0, 0)], -1
    while len(waiting) > 0:
        _, newest, cost = heappop(waiting)
        state = states[-newest].copy()
        if is_through(lines, state):
            return LEGAL, NEVER
        if is_known(known, state):
            continue
        if size >= most:
            return GAVE_UP, NEVER
        known, count = remember(known, count, state)
        reached = max(reached, due(lines, state, lines.takes, width))
        for choice in range(following(lines, state, found)):
            if size == len(states):
                states = np.concatenate((states, np.empty_like(states)))
            child = states[size]
            if not _follow(lines, state, found[choice], child) or is_known(known, child):
                continue
            ahead = must_be_lost(lines, child, counts)
            if ahead != NEVER:
                after = cost + weight * lost(lines, found[choice], state) - 1
                heappush(waiting, (after + weight * ahead, -size, after))
                size += 1
    return ILLEGAL, reached


@kernel
def sweep(lines: Lines, most: int, room: int) -> tuple[int, int]:
    """Searches for an order, place by place: all that may be at each.

    Args:
        lines: the calls of a prefix.
        most: so many states may be met in all.
        room: so many at a place.

    Returns:
        As `descend` does.
    """
    width = len(lines.starts) - 1
    frontier = np.zeros((1, width), dtype=np.int32)
    child, found = np.empty(width, dtype=np.int32), np.empty((room_for(lines), 3), dtype=np.int64)
    counts = np.zeros((2, lines.element.max() + 1), dtype=np.int64)
    reached = -1
    settle(lines, frontier[0])
    while len(frontier) > 0:
        most -= len(frontier)
        if most < 0 or len(frontier) > room:
            return GAVE_UP, NEVER
        known, count = np.full((64, width), NONE, dtype=np.int32), 0
        for state in frontier:
            if is_through(lines, state):
                return LEGAL, NEVER
            reached = max(reached, due(lines, state, lines.takes, width))
            for choice in range(following(lines, state, found)):
                if not _follow(lines, state, found[choice], child):
                    continue
                if must_be_lost(lines, child, counts) != NEVER:
                    known, count = remember(known, count, child)
        frontier = known[known[:, 0] != NONE]
    return ILLEGAL, reached


@kernel
def _follow(lines: Lines, state: State, choice: Ints, child: State) -> bool:
    """Makes the state after a put and a take; says whether anything may follow it."""
    child[:] = state
    child[choice[0]] += 1
    child[choice[1]] += 1
    return settle(lines, child)
