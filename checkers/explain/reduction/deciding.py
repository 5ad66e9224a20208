"""Decides whether a reduced history is invalid, with the quickest method first."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final

from kraftproof.checkers.engines.wgl.plan import Plan, plan_of
from kraftproof.checkers.explain.reduction.update_order import update_order
from kraftproof.checkers.explain.subhistory import SubHistory
from kraftproof.checkers.explain.verify.budget import Budget
from kraftproof.checkers.explain.verify.engine_verdicts import engine_verdict
from kraftproof.checkers.models import SequentialModel
from kraftproof.checkers.verdict import Verdict

SHORT: Final = 64
"""Up to this number of calls, one candidate may use all the remaining time."""

_DECISION_BYTES: Final = 40_000_000
"""Memory limit of one decision; memory, not the clock, ends a hopeless search."""
_PLAIN: Final = 5_000
"""Calls of a candidate, up to which a little search comes before a compiled engine is loaded."""
_PLAIN_MOST: Final = 8
"""Little searches that give up on longer candidates before compiled engines come first."""
_QUICK_BYTES: Final = 500_000
"""Memory limit of the first search, which decides most candidates.

Then optional calls are made reusable (a refutation), or the memory limit grows.
"""
_LONG_SHARE: Final = 0.25
"""Share of the remaining time for one longer candidate: other candidates may be easier."""


@dataclass(slots=True, kw_only=True)
class Deciding:
    """Decides candidates for a sub-history of one history within a common time limit.

    Attributes:
        model: the model.
        recorded: the history's calls as they were recorded, by the index of the operation.
        budget: the time.
        is_cut_short: whether a candidate was not decided since this was last made false.
        given_up: how many little searches of longer candidates have given up.
    """

    model: SequentialModel
    recorded: Mapping[int, Hashable]
    budget: Budget
    is_cut_short: bool = False
    given_up: int = 0

    def has_time(self) -> bool:
        """Return whether time is left; if not, set `is_cut_short`."""
        has_time = self.budget.has_time()
        self.is_cut_short |= not has_time
        return has_time

    def if_invalid(self, candidate: SubHistory | None) -> SubHistory | None:
        """Return a candidate if it is surely invalid."""
        return candidate if candidate is not None and self.is_invalid(candidate) else None

    def is_invalid(self, sub: SubHistory) -> bool:
        """Return whether a sub-history is surely invalid; an undecided case sets `is_cut_short`."""
        return self._verdict(sub) is Verdict.INVALID

    def is_possible(self, sub: SubHistory) -> bool:
        """Return whether the sub-history surely has a legal order.

        An undecided case sets `is_cut_short`.
        """
        return self._verdict(sub) is Verdict.VALID

    def _verdict(self, sub: SubHistory) -> Verdict:
        if not self.has_time():
            return Verdict.UNKNOWN
        plan = plan_of(self.model, list(sub.entries))
        if len(sub.starts) == 1 and update_order(self.model, plan, sub.starts[0]) is not None:
            return Verdict.VALID
        verdict = self._soon(sub, plan)
        if verdict is Verdict.UNKNOWN:
            share = 1.0 if len(sub) <= SHORT else _LONG_SHARE
            starts = sub.starts
            found = self.budget.searched(self.model, plan, starts, _DECISION_BYTES, share=share)
            verdict = found.verdict
        self.is_cut_short |= verdict is Verdict.UNKNOWN
        return verdict

    def _soon(self, sub: SubHistory, plan: Plan) -> Verdict:
        """Return the verdict of an engine, a small search, or the relaxed search.

        Short candidates are searched first, because an engine has to read all operations anew.
        Longer candidates are searched first, too, until some searches have given up: a compiled
        engine takes long to load.
        """
        search = partial(self.budget.searched, self.model, plan, sub.starts, _QUICK_BYTES)
        is_plain = len(sub) <= _PLAIN and self.given_up < _PLAIN_MOST
        is_first = len(sub) <= SHORT or is_plain
        verdict = search().verdict if is_first else self._by_engine(sub)
        if verdict is Verdict.UNKNOWN:
            self.given_up += is_first and len(sub) > SHORT
            verdict = self._by_engine(sub) if is_first else search().verdict
        if verdict is not Verdict.UNKNOWN:
            return verdict
        is_refuted = self.budget.is_refuted(self.model, plan, sub.starts)
        return Verdict.INVALID if is_refuted else Verdict.UNKNOWN

    def _by_engine(self, sub: SubHistory) -> Verdict:
        """Return the verdict of a compiled engine, if the required calls are unreduced."""
        required = (one for one in sub.entries if one.is_required)
        if any(one.call != self.recorded[one.operation.index] for one in required):
            return Verdict.UNKNOWN
        return engine_verdict(self.model, sub, self.budget.limits())
