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

A lost take of which nothing comes before something is put, no other take and no stack that is found
empty, can as well come when that is taken again. So nothing is put after such a take.

Of lost calls a state knows how many of each kind had their effect, in one number. Where that takes
more than a word has bits, so much is lost that a search of bounded width is the better choice.

Each step is noted as a word of the language: by them a legal order is read off in the end.
"""

from typing import Final, NamedTuple

from kraftproof.checkers.engines.repeated.stack.graph_capacity import (
    collect,
    is_half_full,
    with_room,
)
from kraftproof.checkers.engines.repeated.stack.graph_configurations import COUNT
from kraftproof.checkers.engines.repeated.stack.graph_heuristic import Taste
from kraftproof.checkers.engines.repeated.stack.graph_order import order_of
from kraftproof.checkers.engines.repeated.stack.graph_sweep import (
    FULL,
    OUT_OF_WORK,
    PASSED,
    sweep_levels,
)
from kraftproof.checkers.engines.repeated.stack.graph_workspace import LEVEL, counts_all, new_sweep
from kraftproof.checkers.engines.repeated.stack.layout import MOST_SLOTS, Calls, Ints
from kraftproof.checkers.options import Limits

_LEAST_ROOM: Final = 1 << 10
_ROOM_BYTES: Final = 2400
"""What the room for a state costs, with frames and words, while it is moved to more."""
_WORK_A_SECOND: Final = 10_000_000
"""So much on any machine; so that what a key may cost is counted, not timed."""
_ALL: Final = Taste(kept=0, more=0)


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
    most, room = int(limits.seconds * _WORK_A_SECOND), _LEAST_ROOM
    sweep = new_sweep(calls, room)
    if not counts_all(sweep) or calls.opened.shape[1] > MOST_SLOTS:
        return None
    while (stuck := int(sweep_levels(calls, sweep, last, most, _ALL))) == FULL:
        before = int(sweep.at[LEVEL])
        collect(sweep, sweep.frontier.rows[: sweep.frontier.at[COUNT]])
        if is_half_full(sweep) or sweep_levels(calls, sweep, before + 1, most, _ALL) == FULL:
            room *= 2
            if room * _ROOM_BYTES > limits.memory_bytes:
                return None
            sweep = with_room(calls, sweep, room)
    if stuck == OUT_OF_WORK:
        return None
    order = order_of(calls, sweep)
    assert order is not None, "all that was lost is counted"
    return Swept(stuck=None if stuck == PASSED else stuck, order=order)
