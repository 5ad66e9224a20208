"""Strings and registers with repeated values: a beam search over the completions.

The search passes one return (a completion) after the other, as
`checkers.engines.register.search.frontier` does, with all configurations, or with the best if there
are too many. A configuration is

    (done, used, values, indeterminate)

- `done` marks the open calls that have a place in the order.
- `used` marks the calls of `done` whose update the present values go back to.
- `indeterminate` counts the indeterminate calls that were used, by kind.

A call that is done and unused has a place where its effect makes no difference, and can still be
used until it returns. (Lowe, "Testing for linearizability", 2017, delays each call until a return
needs it; the frontier of registers does the same for reads and writes.) A call is therefore done

- at once, if it is legal now and leaves the present values, or leaves values that nobody finds. A
  value that nobody finds is NOTHING, and so is any value made of it by appending. The only calls
  that could still find a value were invoked before the first return of an unfinished call that
  finds another value there;
- just before another call that replaces its values, if it finds nothing itself.

At a return, an unused call is used by a sequence of updates that ends with it. Only these updates
are tried: of equal updates, the first to return; an update that finds nothing, only if another open
call finds its values or hides a part of them. Neither rule loses an order: equal calls can be
exchanged, and the other updates can be moved behind the return.

A configuration covers another with the same values (NOTHING stands for any) if it has done no less
and used no more. A configuration is doomed if a call finds a value that is absent and that no
remaining call could leave. As long as nothing is dropped for lack of capacity, the search is exact:
if no configuration passes a return, no order does. Otherwise the search only finds orders. It is
then a beam search (Lowerre, "The Harpy speech recognition system", 1976) that keeps the
configurations with the least cost: the updates used, plus a lower bound of the updates needed
(Hart, Nilsson and Raphael, "A formal basis for the heuristic determination of minimum cost paths",
1968). In the beam, a configuration also covers another if it used no more indeterminate calls in
total. If no configuration is left, `checkers.engines.repeated.beam_search.refute` may show that
none can be; otherwise the search restarts from an earlier checkpoint, with more capacity. Work is
counted, not timed, so that a history always gets the same verdict.

A prefix needs a place for each call that returns by its end; open calls may be used. Time is
O(n c^2) at least and exponential at worst, c being the open calls at a time: the problem is
NP-complete. Memory: the layout, about 100 bytes a call, and a number of configurations that does
not grow with the history, of 16 bytes and 8 for each register and each kind of indeterminate call.
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
    """Return the outcome of a key, None if too many calls are open at a time.

    Args:
        calls: all calls.
        start: the key's first call.
        end: the next key's first call.
        facts: what the key's calls found and left.
        limits: the key's limits.
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
        first_illegal = guided.find_first_illegal()
    except UndecidedError as error:
        known = _by(calls, start, end, min(prefixes.illegal, guided.illegal))
        return known or Outcome(verdict=Verdict.UNKNOWN, engine=ENGINE, reason=str(error))
    return outcome_of(
        calls, start, end, None if first_illegal is None else start + first_illegal, ENGINE
    )


def _by(calls: Calls, start: int, end: int, illegal: int) -> Outcome | None:
    """Return the outcome of a key that has no order by an event, or earlier; None for NEVER."""
    if illegal == NEVER:
        return None
    complete = calls.complete[start:end]
    first_illegal = int(np.argmax(np.where(complete <= illegal, complete, -1)))
    return replace(outcome_of(calls, start, end, start + first_illegal, ENGINE), linearizable=None)


def ordered(
    facts: Facts, cut: int, limits: Limits, *, are_indeterminate_finders: bool = True
) -> Ints | None:
    """Return the updates of a key up to an event in a legal order, by number; None if unknown.

    Args:
        facts: what the key's calls found and left.
        cut: the event.
        limits: the key's limits.
        are_indeterminate_finders: as `lay_out` has it.
    """
    layout = lay_out(facts, are_indeterminate_finders=are_indeterminate_finders)
    if layout is None:
        return None
    run = Run(layout=layout, cut=cut, limits=limits, refuter=None, is_logged=True)
    try:
        is_found = run.first_illegal() is None
    except UndecidedError:
        return None
    return layout.number[order_of(layout, run.places)] if is_found else None


@dataclass(slots=True, kw_only=True)
class _Prefixes:
    """Decides prefixes of a key.

    Attributes:
        layout: its calls.
        limits: the key's limits.
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
        """Return whether a prefix is legal, and if not, by when one perhaps already is not."""
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
        first_illegal = run.first_illegal()
        self.spent = run.spent
        self.legal = cut if first_illegal is None else max(self.legal, run.legal)
        self.illegal = min(self.illegal, run.illegal)
        return first_illegal is None, NEVER if first_illegal is None else first_illegal
