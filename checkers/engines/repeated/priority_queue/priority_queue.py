"""Priority queues with repeated elements or indeterminate takes: a sweep over completions.

A state is the set of open calls with a place in the order, the elements inside, and the number of
indeterminate calls used. Before the next completion, few calls need to be tried, since most can be
exchanged with later calls:

- a put gets its place when it completes, or right before a take of its value that finds no such
  element. Of equal puts, the first to complete goes first, and an indeterminate put only if no
  other is open;
- of equal takes, the first to complete goes first;
- an empty take gets its place as soon as the queue is empty;
- an indeterminate take goes right before a take of a greater element, or before an empty take, and
  only if no open take is known to take the same element; that open take goes instead, since the
  indeterminate take can replace it later. Indeterminate calls may also be left out;
- so the calls before a take are determined: takes of all lesser elements, then a put of its value
  if necessary;
- a take waits until it completes, unless another take or a lesser put requires it earlier. When a
  put completes, any open takes of greater elements and empty takes may therefore precede it: the
  only choice.

Of two states that differ in their elements and indeterminate calls only, the state with all
elements of the other is as good if it used no more indeterminate puts: it has as many more
indeterminate takes left to remove the surplus.

As long as no state is dropped for lack of capacity, the sweep is exact: the first completion that
no state passes is the first illegal one. Otherwise see
`checkers.engines.repeated.priority_queue.search`. A refutation by counting
(`checkers.engines.repeated.counting`) comes first; if the search passes all completions before it,
it is the first illegal one. Time is O(n c^2) with few states at a completion, c being the open
calls at a time, and exponential in c at worst. Memory is O(n), and the states.
"""

from dataclasses import replace
from typing import Final

from kraftproof.checkers.calls.containers import ContainerCalls
from kraftproof.checkers.engines.kernels.bisection import outcome_of
from kraftproof.checkers.engines.repeated.counting import short_at
from kraftproof.checkers.engines.repeated.priority_queue.layout import NOBODY, lay_out
from kraftproof.checkers.engines.repeated.priority_queue.search import search
from kraftproof.checkers.engines.types import Outcome
from kraftproof.checkers.history.columns import NEVER
from kraftproof.checkers.options import Limits

ENGINE: Final = "priority-queue-repeated"


def decide_repeated(calls: ContainerCalls, start: int, end: int, limits: Limits) -> Outcome | None:
    """Return the outcome of a priority queue, None beyond its limits.

    If counting shows it invalid, and whether all before that has an order takes more than these,
    the illegal completion is not known to be the first.
    """
    span = slice(start, end)
    short = short_at(
        calls.action[span], calls.element[span], calls.invoke[span], calls.complete[span]
    )
    found = search(lay_out(calls, start, end, short - 1), limits)
    if found.first_illegal != NOBODY:
        return outcome_of(calls, start, end, start + found.first_illegal, ENGINE)
    if not found.is_passed and short == NEVER:
        return None
    if short == NEVER:
        return outcome_of(calls, start, end, None, ENGINE)
    (first_illegal,) = (calls.complete[span] == short).nonzero()[0]
    outcome = outcome_of(calls, start, end, start + int(first_illegal), ENGINE)
    return outcome if found.is_passed else replace(outcome, linearizable=None)
