"""Stacks with repeated elements, exactly: a sweep over all states as a graph-structured stack.

Deciding such a history is NP-complete. With few open calls it is easy: the next call depends only
on the open calls that have taken effect and on the top of the stack; deeper elements matter when
the top is taken. Stacks with equal tops are therefore one *frame*, with edges to the frames that
may be below it (Tomita, "An efficient augmented-context-free parsing algorithm", 1987; the words of
the language are orders of calls). Time and memory grow with the number of different tops at each
completion: O(n c) with few open calls, exponential in c at worst. They are O(n^2) in n at worst,
but a top seldom stays for long: all elements put on it since must have been taken as often.

The sweep goes from completion to completion. A completing call takes effect by then, other calls
only if needed (Lowe, "Testing for linearizability", 2017). In some legal order with all delays,

- an element put between two completions is taken between them only by the completing call: a put,
  the calls on top of it, and its take can move later together;
- so a completing take takes an element that an open put brings just then, and nothing else happens;
  or an element that was there, after takes of the elements on top of it;
- before a completing put, takes of present elements come first, then open puts, and the put last;
- before a completing empty take, takes come first until the stack is empty; an open empty take
  takes effect as soon as the stack is empty;
- of equal open calls, the first to return takes effect first;
- an indeterminate put takes effect just before the completing call takes its element;
- an indeterminate take takes the top, like an open take of that element.

If nothing follows an indeterminate take before the next put, neither another take nor an empty
stack, the take can wait until the put element is taken again. So no put follows such a take.

A state counts the indeterminate calls used, by kind, in one number. If the number needs more than a
word, so many calls are indeterminate that the beam search is the better choice.

Each step is recorded as a word of the language; the words give a legal order in the end.
"""

from typing import Final, NamedTuple

from kraftproof.checkers.engines.repeated.stack.graph_capacity import (
    collect,
    is_half_full,
    with_capacity,
)
from kraftproof.checkers.engines.repeated.stack.graph_configurations import COUNT
from kraftproof.checkers.engines.repeated.stack.graph_heuristic import Selection
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

_LEAST_CAPACITY: Final = 1 << 10
_BYTES_OF_STATE: Final = 2400
"""What the capacity for a state costs, with frames and words, while it is moved to more."""
_WORK_A_SECOND: Final = 10_000_000
"""So much on any machine; the cost of a key is counted, not timed."""
_ALL: Final = Selection(kept=0, more=0)


class Swept(NamedTuple):
    """What a sweep found.

    Attributes:
        first_illegal: the first call whose completion no legal order reaches; None if there is
            none.
        order: puts and takes in a legal order that reaches what completed before.
    """

    first_illegal: int | None
    order: Ints


def swept(calls: Calls, last: int, limits: Limits) -> Swept | None:
    """Return how far legal orders reach; None if a limit was reached, or too much is indeterminate.

    Args:
        calls: the calls of a key.
        last: the number of completions to reach.
        limits: the limits.
    """
    most, capacity = int(limits.seconds * _WORK_A_SECOND), _LEAST_CAPACITY
    sweep = new_sweep(calls, capacity)
    if not counts_all(sweep) or calls.opened.shape[1] > MOST_SLOTS:
        return None
    while (first_illegal := int(sweep_levels(calls, sweep, last, most, _ALL))) == FULL:
        before = int(sweep.at[LEVEL])
        collect(sweep, sweep.frontier.rows[: sweep.frontier.at[COUNT]])
        if is_half_full(sweep) or sweep_levels(calls, sweep, before + 1, most, _ALL) == FULL:
            capacity *= 2
            if capacity * _BYTES_OF_STATE > limits.memory_bytes:
                return None
            sweep = with_capacity(calls, sweep, capacity)
    if first_illegal == OUT_OF_WORK:
        return None
    order = order_of(calls, sweep)
    assert order is not None, "all that was lost is counted"
    return Swept(first_illegal=None if first_illegal == PASSED else first_illegal, order=order)
