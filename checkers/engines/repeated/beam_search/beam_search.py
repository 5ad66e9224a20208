"""Strings and registers whose values come again: a search by returns that keeps the best.

It passes one return after the other, as `checkers.engines.register.search.frontier` does, with all
configurations that may lead on, or the best of them if they are too many. A configuration is

    (done, used, values, lost)

`done` marks the open calls that have a place in the order, `used` those of them that made the
values what they are, `lost` counts the indeterminate calls that were used, by kind. What is done
and not used has a place where it makes no difference, and may be given another one: it can still be
used, until it returns. (After Lowe, "Testing for linearizability", 2017, who waits with each call
until one has to return; and the frontier of registers, which has reads and writes only.) So it is
with

- a call that is legal now and leaves what is there, or where nobody finds what is there: it comes
  now. A value is NOTHING if nobody finds it, nor what becomes of it by appending: who still might
  was invoked before the first return of a call that is not done and finds something else there.
- a call that finds nothing and whose values another one replaces: it comes just before that one.

At a return, a call that is not used is used by some updates that end with it. Which updates need be
tried: of equal ones that are done, or that are not, the first to return; one that finds nothing
only if another open call finds what it leaves, or may be hidden in part. Neither loses an order:
the others can be exchanged, or moved behind the return.

One configuration covers another with the same values (or with NOTHING where it has one) if it has
done no less and used no more. One is doomed if a call finds what is not there and what nothing that
is left could leave. As long as none is dropped for want of room this is exact: if none passes a
return, no order does. Otherwise it only ever finds orders: of too many those stay that have used
the fewest and have the least to make yet for the calls that are open, a beam search (Lowerre, "The
Harpy speech recognition system", 1976) by what was spent and what has to be at least (Hart, Nilsson
and Raphael, "A formal basis for the heuristic determination of minimum cost paths", 1968); and one
covers another then if it has used no more indeterminate calls, of any kinds. When none is left, it
may be shown that none can be (`checkers.engines.repeated.beam_search.refute`); else it starts again
from a place some returns before, then twice as many, with twice as much room. What is `unknown` in
the end is so by work counted, not by time.

A prefix has to find a place for what returns by its end; whatever is open then may be used. Time
O(n c^2) at the least and exponential at worst, c the calls open at a time: the problem is
NP-complete. Memory: the input laid out, some 100 bytes a call, and a number of configurations that
does not depend on the length, of 16 bytes and 8 for each register and kind of indeterminate calls.
"""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from kraftproof.checkers.calls import Calls
from kraftproof.checkers.engines.kernels.bisection import Guided, outcome_of
from kraftproof.checkers.engines.repeated.beam_search.order import order_of
from kraftproof.checkers.engines.repeated.beam_search.refute import Refuter
from kraftproof.checkers.engines.repeated.beam_search.run import Run, UndecidedError
from kraftproof.checkers.engines.repeated.layout import NEVER_THERE, Facts, Ints, Layout, lay_out
from kraftproof.checkers.engines.types import Outcome
from kraftproof.checkers.history.columns import NEVER
from kraftproof.checkers.options import Limits
from kraftproof.checkers.verdict import Verdict

ENGINE: Final = "beam"


def decide_repeated(
    calls: Calls, start: int, end: int, facts: Facts, limits: Limits, illegal: int = NEVER
) -> Outcome | None:
    """Returns the outcome of one key, None if too many calls are open at a time.

    Args:
        calls: all calls.
        start: the key's first call.
        end: the next key's first call.
        facts: what the key's calls found and left.
        limits: what the key may cost.
        illegal: an event by which no order is known to exist; NEVER if none is known.
    """
    complete = calls.complete[start:end]
    layout = lay_out(facts)
    if layout is None:
        return _by(calls, start, end, illegal)
    refuter = Refuter(layout, limits.memory_bytes // 4)
    prefixes = _Prefixes(layout=layout, limits=limits, refuter=refuter, illegal=illegal)
    guided = Guided(complete=complete, decide=prefixes.decide, illegal=illegal)
    try:
        stuck = guided.first_stuck()
    except UndecidedError as error:
        known = _by(calls, start, end, min(prefixes.illegal, guided.illegal))
        return known or Outcome(verdict=Verdict.UNKNOWN, engine=ENGINE, reason=str(error))
    return outcome_of(calls, start, end, None if stuck is None else start + stuck, ENGINE)


def _by(calls: Calls, start: int, end: int, illegal: int) -> Outcome | None:
    """Returns the outcome of a key that has no order by an event, or earlier; None for NEVER."""
    if illegal == NEVER:
        return None
    complete = calls.complete[start:end]
    stuck = int(np.argmax(np.where(complete <= illegal, complete, -1)))
    return replace(outcome_of(calls, start, end, start + stuck, ENGINE), linearizable=None)


def ordered(
    facts: Facts, cut: int, limits: Limits, *, are_lost_finders: bool = True
) -> Ints | None:
    """Returns the updates of a key up to an event in a legal order, by number; None if unknown.

    Args:
        facts: what the key's calls found and left.
        cut: the event.
        limits: what the key may cost.
        are_lost_finders: as `lay_out` has it.
    """
    layout = lay_out(facts, are_lost_finders=are_lost_finders)
    if layout is None:
        return None
    run = Run(layout=layout, cut=cut, limits=limits, refuter=None, is_logged=True)
    try:
        is_found = run.stuck() is None
    except UndecidedError:
        return None
    return layout.number[order_of(layout, run.places)] if is_found else None


@dataclass(slots=True, kw_only=True)
class _Prefixes:
    """Decides prefixes of one key.

    Attributes:
        layout: its calls.
        limits: what the key may cost.
        refuter: shows that none of its orders passes a return.
        spent: the work done so far.
        legal: the last event of the longest prefix that is known to be legal.
        illegal: that of the shortest that is known not to be.
    """

    layout: Layout
    limits: Limits
    refuter: Refuter
    spent: int = 0
    legal: int = -1
    illegal: int = NEVER

    def decide(self, cut: int) -> tuple[bool, int]:
        """Says whether a prefix is legal, and if not, by when one perhaps already is not."""
        if cut <= self.legal or cut >= self.illegal:
            return cut <= self.legal, self.illegal
        layout = self.layout
        absurd = layout.complete[(layout.find == NEVER_THERE).any(axis=1)].min(initial=NEVER)
        if absurd <= cut:
            return False, int(absurd)
        run = Run(
            layout=layout,
            cut=cut,
            limits=self.limits,
            refuter=self.refuter,
            spent=self.spent,
        )
        stuck = run.stuck()
        self.spent = run.spent
        self.legal = cut if stuck is None else max(self.legal, run.legal)
        self.illegal = min(self.illegal, run.illegal)
        return stuck is None, NEVER if stuck is None else stuck
