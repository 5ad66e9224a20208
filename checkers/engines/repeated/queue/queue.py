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

That leaves a choice between values. What shows by counting is not searched for: elements that are
short, or left over, by some completion (`checkers.engines.repeated.counting`), and places for which
no number of elements of some values is left (`checkers.engines.repeated.queue.bounds`). The search
is one of bounded width, which is turned back and widened where no state is left
(`checkers.engines.repeated.queue.search`). Time O(n c^2) where it is not; the question is
NP-complete, and past a number of states there is no answer. Memory O(n c), a few bytes. The first
stuck completion is that by which counting shows something, that beyond which no state came, or is
found by bisection.
"""

from dataclasses import dataclass
from typing import Final

from kraftproof.checkers.calls.containers import ContainerCalls
from kraftproof.checkers.engines.kernels.bisection import Guided, outcome_of
from kraftproof.checkers.engines.repeated.counting import short_at
from kraftproof.checkers.engines.repeated.queue.bounds import out_of_bounds_at
from kraftproof.checkers.engines.repeated.queue.heuristic import guide_of
from kraftproof.checkers.engines.repeated.queue.layout import Queue, lines_of, queue_of
from kraftproof.checkers.engines.repeated.queue.search import GAVE_UP, LEGAL, search
from kraftproof.checkers.engines.types import Outcome
from kraftproof.checkers.options import Limits

ENGINE: Final = "queue-repeated"

_STEPS_A_SECOND: Final = 10_000_000
"""So few lines of states on any machine; so that what a key may cost is counted, not timed."""
_MOST_LINES: Final = 512
_STATE_BYTES: Final = 256
"""What a kept state costs for each number: with those that follow it, in tables that just grew."""


class _UndecidedError(Exception):
    """A decision takes more than a key may cost."""


def decide_repeated(calls: ContainerCalls, start: int, end: int, limits: Limits) -> Outcome | None:
    """Returns the outcome of one queue, None if that takes more than its limits."""
    queue = queue_of(calls, start, end)
    shown_at = out_of_bounds_at(queue, short_at(*queue))
    prefixes = _Prefixes(queue, limits, shown_at)
    guided = Guided(complete=queue.complete, decide=prefixes.decide)
    try:
        stuck = guided.first_stuck()
    except _UndecidedError:
        return None
    return outcome_of(calls, start, end, None if stuck is None else start + stuck, ENGINE)


@dataclass(frozen=True, slots=True)
class _Prefixes:
    """Decides prefixes of one key.

    Attributes:
        queue: its calls.
        limits: what the key may cost.
        shown_at: the first completion by which counting shows something wrong.
    """

    queue: Queue
    limits: Limits
    shown_at: int

    def decide(self, cut: int) -> tuple[bool, int]:
        """Says whether a prefix is legal, and if not, by when one perhaps already is not."""
        if self.shown_at <= cut:
            return False, self.shown_at
        lines = lines_of(self.queue, cut)
        count = len(lines.starts) - 1
        if count > _MOST_LINES:
            raise _UndecidedError
        guide = guide_of(lines)
        room = self.limits.memory_bytes // (_STATE_BYTES * guide.width)
        left = int(self.limits.seconds * _STEPS_A_SECOND) // (count + 1)
        verdict, reached = search(lines, guide, room, left)
        if verdict == GAVE_UP:
            raise _UndecidedError
        return verdict == LEGAL, reached
