"""Priority queues whose elements may be equal, or which lost takes: a sweep over completions.

A state is which of the open calls have their place in the order, what is inside, and how many of
the lost calls were used. Of what may come before the next completion little needs to be tried, as
most can be exchanged with what comes later:

- a put has its place when it completes, or right before a take of its value that finds none inside.
  Of equal puts the one that completes first goes first, and a lost one only if no other is open;
- of equal takes the one that completes first goes first;
- a take that found none has its place as soon as nothing is inside;
- a lost take goes right before a take of something greater, or one that found none, and only if no
  open take is known to take the same: that one goes instead, for what it could take later the lost
  one can. It need not have happened, nor need a lost put;
- so what a take needs is settled: all that is less is taken, then its value, put if need be;
- a take waits until it completes, unless it is one of those before another take, or a lesser value
  comes in its way. So when a put completes, any of the open takes of greater values, and those that
  found none, may go before it: the only choice there is.

Of two states that differ in what is inside only, and in what was lost, the one that has all of the
other and used no more lost puts is as good: it has so many more lost takes left to take the rest.

As long as no state is dropped for want of room this is exact: the first completion that none passes
is the one that no order passes. Else `checkers.engines.repeated.priority_queue.search` says what is
done. What counting shows (`checkers.engines.repeated.counting`) is not searched for: if the search
passes all before it, it is the stuck completion. Time O(n c^2) with few states a completion, c the
calls open at a time, and exponential in c at worst. Memory O(n), and the states.
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
    """Returns the outcome of one priority queue, None if that takes more than its limits.

    If counting shows it invalid, and whether all before that has an order takes more than these,
    what is stuck is not known to be the first.
    """
    span = slice(start, end)
    short = short_at(
        calls.action[span], calls.element[span], calls.invoke[span], calls.complete[span]
    )
    found = search(lay_out(calls, start, end, short - 1), limits)
    if found.stuck != NOBODY:
        return outcome_of(calls, start, end, start + found.stuck, ENGINE)
    if not found.is_passed and short == NEVER:
        return None
    if short == NEVER:
        return outcome_of(calls, start, end, None, ENGINE)
    (stuck,) = (calls.complete[span] == short).nonzero()[0]
    outcome = outcome_of(calls, start, end, start + int(stuck), ENGINE)
    return outcome if found.is_passed else replace(outcome, linearizable=None)
