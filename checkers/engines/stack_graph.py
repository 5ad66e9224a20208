"""Stacks of any elements, exactly: a sweep over all that may be inside, what is alike told once.

Whether a history of a stack has a legal order is NP-complete to say. With few calls open at a time
it is not hard: which open calls have had their effect, and what is on top, is all that the next
call asks for; what is below matters when the top is taken. So stacks that are alike on top are one
*frame*, with edges to the frames that may be below it (Tomita, "An efficient augmented-context-free
parsing algorithm", 1987; here the words of the language are orders of calls). Time and memory are
those of the different tops at each completion: O(n c) where little is open, at worst exponential in
c, and O(n^2) in n, but a top that has been there for long is rare: all that was put on it since
must have been taken, each element as often.

The sweep goes from completion to completion; what completes has its effect by then, others before
it only if needed (Lowe, "Testing for linearizability", 2017). In some legal order that puts off all
it can,

- what is put by one completion and not before is not taken by then, unless by the call that
  completes: a put, all on top of it, and its take, can as well come together later;
- so if a take completes, it takes what an open put brings just then, and nothing else happens; or
  it takes what was there, after takes of all that was on top of that;
- if a put completes, takes of what was there come first, then puts, itself last;
- if what completes found none, takes come first, until nothing is there; calls that found none have
  their effect as soon as nothing is there;
- of open calls that do the same, the one that returns first goes first;
- a lost put has its effect just before the call that returns takes what it put;
- a lost take takes what is on top, as an open take of that would.

Of lost calls a state knows how many of each kind had their effect, in one number. Where that takes
more than a word has bits, so much is lost that a search of bounded width is the better choice.

Each step is noted as a word of the language: by them a legal order is read off in the end.
"""

from typing import Final, NamedTuple

import numpy as np

from checkers.engines.stack_ahead import Ints
from checkers.engines.stack_graph_room import collect, with_room
from checkers.engines.stack_graph_rows import (
    BEFORE,
    BELOW,
    BOTTOM,
    CALL,
    COUNT,
    EDGE,
    FRAME,
    INNER,
    NONE,
    OUTER,
    PUT_BY,
    TAKEN_BY,
    WORD,
)
from checkers.engines.stack_graph_space import LEVEL, Sweep, new_sweep
from checkers.engines.stack_graph_sweep import FULL, OUT_OF_WORK, PASSED, sweep_levels
from checkers.engines.stack_steps import MOST_SLOTS, Calls
from checkers.kernels import kernel
from checkers.options import Limits

_LEAST_ROOM: Final = 1 << 10
_ROOM_BYTES: Final = 1600
"""What the room for a state costs, with frames and words, while it is moved to more."""
_MOST_SPENT: Final = 1 << 62
_WORK_A_SECOND: Final = 25_000_000
"""So much on any machine; so that what a key may cost is counted, not timed."""


class Swept(NamedTuple):
    """What a sweep found.

    Attributes:
        stuck: the first call whose completion no legal order reaches, None if all are reached.
        order: puts and takes in a legal order that reaches what completed before.
    """

    stuck: int | None
    order: Ints


def swept(calls: Calls, last: int, limits: Limits) -> Swept | None:
    """Returns how far legal orders reach; None if a limit was reached, or too much was lost.

    Args:
        calls: those of one key.
        last: how many completions there are to reach.
        limits: what it may take.
    """
    radix = _radix(calls)
    if radix is None or calls.opened.shape[1] > MOST_SLOTS:
        return None
    most, room = int(limits.seconds * _WORK_A_SECOND), _LEAST_ROOM
    sweep = new_sweep(room, radix)
    while (stuck := int(sweep_levels(calls, sweep, last, most))) == FULL:
        before = int(sweep.at[LEVEL])
        collect(sweep)
        if _is_half_full(sweep) or sweep_levels(calls, sweep, before + 1, most) == FULL:
            room *= 2
            if room * _ROOM_BYTES > limits.memory_bytes:
                return None
            sweep = with_room(sweep, room)
    if stuck == OUT_OF_WORK:
        return None
    return Swept(stuck=None if stuck == PASSED else stuck, order=order_of(sweep))


def _radix(calls: Calls) -> Ints | None:
    """Returns what a lost call of each kind adds to the number of all; None if it is too large."""
    factors, product = [], 1
    for count in [*np.diff(calls.lost_from).tolist(), len(calls.spares)]:
        factors.append(product)
        product *= count + 1
    return np.asarray(factors, dtype=np.int64) if product < _MOST_SPENT else None


def _is_half_full(sweep: Sweep) -> bool:
    heaps = (sweep.frames, sweep.edges, sweep.words)
    return any(2 * int(heap.at[COUNT]) > len(heap.rows) for heap in heaps)


@kernel
def order_of(sweep: Sweep) -> Ints:
    """Returns the puts and takes by which one state of the frontier came about, in order."""
    words, edges = sweep.words.rows, sweep.edges.rows
    found = [0 for _ in range(0)]
    returns = [(0, 0) for _ in range(0)]
    frame, word = sweep.frontier.rows[0, FRAME], sweep.frontier.rows[0, WORD]
    while word != NONE or len(returns) > 0 or frame != BOTTOM:
        if word != NONE:  # from the last take to the first put
            found.append(words[word, TAKEN_BY])
            returns.append((words[word, PUT_BY], words[word, OUTER]))
            word = words[word, INNER]
        elif len(returns) > 0:
            call, word = returns.pop()
            found.append(call)
        else:
            edge = sweep.frames.rows[frame, EDGE]
            found.append(edges[edge, CALL])
            frame, word = edges[edge, BELOW], edges[edge, BEFORE]
    return np.array(found[::-1], dtype=np.int64)
