"""Partial-order reduction: the open calls that a search has to try before a return.

Two calls *commute* if, from every state, either order is legal exactly if the other is, and both
lead to the same state. Take the returning call, and add every open call that does not commute with
a member, until nothing changes. Some legal order passes the return if and only if one does that
begins with calls of this set: all other calls commute with the whole set, so members before the
return can move to the front, and the others can be delayed until after it, while they are still
open. (Godefroid, "Partial-order methods", 1996, calls the set persistent.) Pure calls count as
well: a call is not tried merely because it may enable a pure call.
"""

from collections.abc import Callable, Hashable
from typing import Final

from kraftproof.checkers.engines.wgl.plan import Plan

_MOST_KNOWN: Final = 500_000
"""So many pairs of calls are remembered: some 100 MB."""


class Dependence:
    """Finds the calls that a search need try; remembers which commute."""

    def __init__(
        self,
        plan: Plan,
        commutes: Callable[[Hashable, Hashable], bool],
        spend: Callable[[int], None],
    ) -> None:
        """Take a plan, what the model says, and who is told of the questions asked."""
        self._plan = plan
        self._commutes = commutes
        self._spend = spend
        self._known: dict[tuple[Hashable, Hashable], bool] = {}

    def calls(self, position: int, linearized: int) -> frozenset[Hashable]:
        """Return the calls to try where so many completions were passed and those have a place."""
        plan = self._plan
        open_here = (*plan.open_updates[position], *plan.open_pure[position])
        left = {plan.calls[n] for n in open_here if not linearized & plan.bits[n]}
        available = plan.indeterminate_before[position]
        left.update(call for call, places in plan.indeterminate if places[0] < available)
        found = [plan.calls[plan.returns[position]]]
        left.discard(found[0])
        for call in found:
            self._spend(len(left))
            drawn_in = [other for other in left if not self._commute(call, other)]
            found.extend(drawn_in)
            left.difference_update(drawn_in)
        return frozenset(found)

    def _commute(self, one: Hashable, other: Hashable) -> bool:
        known = self._known.get((one, other))
        if known is None:
            if len(self._known) >= _MOST_KNOWN:
                self._known.clear()
            known = self._known[one, other] = self._commutes(one, other)
        return known
