"""First-in-first-out queues with repeated elements: a search over positions in the queue.

A queue returns its elements in the order of their puts. A history thus has a legal order if and
only if its puts e(1), e(2), ... and its takes d(1), d(2), ... can be ordered such that d(i) takes
the element of e(i), both orders keep real time, e(i) was invoked before d(j) completed for all
i <= j, and each empty take has a position k after all e(i), d(i) with i <= k and before all other
calls. (For unique elements these are the conditions of Henzinger, Sezgin and Vafeiadis,
"Aspect-oriented linearizability proofs", 2013: each cycle of real time and both orders has one of
these forms.)

The search therefore goes by position, not by time: each step chooses a put and a take of equal
value. An element is not decided before it is taken, however long the queue is. A state is the set
of puts and takes with a position. Of the next candidates of a value,

- the put that completes first goes first, and likewise the take: calls with later positions can be
  exchanged with them. (All candidates were invoked before any remaining take or empty take
  completes, as the exchange requires.)
- an empty take gets the first possible position;
- an optional call (indeterminate, or open at the end of the prefix) gets a position only together
  with a required call: two optional calls can both be left out. Optional calls of equal value go by
  invocation. A take with an unknown answer goes with any put if no other take does.

A choice between values remains. Two refutations come before the search: elements that are missing
or left over by a completion (`checkers.engines.repeated.counting`), and positions at which no count
of some value is possible (`checkers.engines.repeated.queue.bounds`). The search is a beam search
that goes back and widens after a failure (`checkers.engines.repeated.queue.search`). Time is
O(n c^2) without failures; the problem is NP-complete, and beyond a number of states the key stays
open. Memory is O(n c), a few bytes. The first illegal completion is the one refuted by counting,
the last one that the search reaches, or the result of bisection.
"""

from dataclasses import dataclass
from typing import Final

from kraftproof.checkers.calls.containers import ContainerCalls
from kraftproof.checkers.engines.kernels.bisection import Guided, outcome_of
from kraftproof.checkers.engines.repeated.counting import short_at
from kraftproof.checkers.engines.repeated.queue.bounds import out_of_bounds_at
from kraftproof.checkers.engines.repeated.queue.heuristic import heuristic_of
from kraftproof.checkers.engines.repeated.queue.layout import Queue, lines_of, queue_of
from kraftproof.checkers.engines.repeated.queue.search import GAVE_UP, LEGAL, search
from kraftproof.checkers.engines.types import Outcome
from kraftproof.checkers.options import Limits

ENGINE: Final = "queue-repeated"

_STEPS_A_SECOND: Final = 10_000_000
"""So few lines of states on any machine; the cost of a key is counted, not timed."""
_MOST_LINES: Final = 512
_STATE_BYTES: Final = 256
"""What a kept state costs for each number: with those that follow it, in tables that just grew."""


class _UndecidedError(Exception):
    """A decision takes more than a key may cost."""


def decide_repeated(calls: ContainerCalls, start: int, end: int, limits: Limits) -> Outcome | None:
    """Return the outcome of a queue, None beyond its limits."""
    queue = queue_of(calls, start, end)
    shown_at = out_of_bounds_at(queue, short_at(*queue))
    prefixes = _Prefixes(queue, limits, shown_at)
    guided = Guided(complete=queue.complete, decide=prefixes.decide)
    try:
        first_illegal = guided.find_first_illegal()
    except _UndecidedError:
        return None
    return outcome_of(
        calls, start, end, None if first_illegal is None else start + first_illegal, ENGINE
    )


@dataclass(frozen=True, slots=True)
class _Prefixes:
    """Decides prefixes of a key.

    Attributes:
        queue: its calls.
        limits: the key's limits.
        shown_at: the first completion by which counting shows something wrong.
    """

    queue: Queue
    limits: Limits
    shown_at: int

    def decide(self, cut: int) -> tuple[bool, int]:
        """Return whether a prefix is legal, and if not, by when one perhaps already is not."""
        if self.shown_at <= cut:
            return False, self.shown_at
        lines = lines_of(self.queue, cut)
        count = len(lines.starts) - 1
        if count > _MOST_LINES:
            raise _UndecidedError
        heuristic = heuristic_of(lines)
        capacity = self.limits.memory_bytes // (_STATE_BYTES * heuristic.width)
        left = int(self.limits.seconds * _STEPS_A_SECOND) // (count + 1)
        verdict, reached = search(lines, heuristic, capacity, left)
        if verdict == GAVE_UP:
            raise _UndecidedError
        return verdict == LEGAL, reached
