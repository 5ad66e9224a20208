"""Limits the cost of an explanation in CPU time, independent of the machine's load."""

import math
from collections.abc import Hashable, Sequence
from typing import Final

from kraftproof.checkers.compiling import thread_seconds
from kraftproof.checkers.engines.wgl.plan import Plan
from kraftproof.checkers.engines.wgl.search import Found, search
from kraftproof.checkers.engines.wgl.trace import Trace
from kraftproof.checkers.models import SequentialModel
from kraftproof.checkers.options import Limits
from kraftproof.checkers.verdict import Verdict

_PATIENCE: Final = 3
"""A search looks at the clock on the wall, which on a busy machine may run so many times faster."""
_FIRST_BYTES: Final = 2_000_000
_ENDLESS_BYTES: Final = 500_000
_GROWTH: Final = 4


class Budget:
    """CPU time of this thread from now on, without compilation."""

    def __init__(self, seconds: float) -> None:
        """Start with so many seconds; infinitely many are never over."""
        self._end = math.inf if math.isinf(seconds) else thread_seconds() + seconds

    def has_time(self) -> bool:
        """Return whether time is left."""
        return thread_seconds() < self._end

    def is_refuted(self, model: SequentialModel, plan: Plan, starts: Sequence[Hashable]) -> bool:
        """Return whether a history stays invalid even if optional calls are reusable without limit.

        The search is quick and uses little memory: without a refutation, nothing is known.
        """
        limits = self.limits(_ENDLESS_BYTES)
        found = search(model, plan, limits, starts, is_relaxed=True)
        return found.verdict is Verdict.INVALID

    def limits(self, memory_bytes: int = _FIRST_BYTES) -> Limits:
        """Return the limits of one decision: the remaining time, and some memory."""
        left = max(0.0, self._end - thread_seconds())
        return Limits(seconds=left * _PATIENCE, memory_bytes=memory_bytes)

    def searched(
        self,
        model: SequentialModel,
        plan: Plan,
        starts: Sequence[Hashable],
        memory_bytes: int,
        trace: Trace | None = None,
        share: float = 1.0,
    ) -> Found:
        """Search with little memory, then with ever larger limits while time remains.

        Args:
            model: the model.
            plan: the calls to decide.
            starts: the possible initial states.
            memory_bytes: the most that may be remembered. Memory bounds a search equally on every
                machine; the previous search predicts the time of the next.
            trace: to be filled with the last search's choices.
            share: the maximum share of the remaining time.
        """
        memory = min(_FIRST_BYTES, memory_bytes)
        while True:
            begun = thread_seconds()
            left = max(0.0, self._end - begun) * share
            limits = self.limits(memory)
            chosen = None if trace is None else Trace()
            found = search(model, plan, limits, starts, chosen)
            took = thread_seconds() - begun
            if trace is not None and chosen is not None:
                trace.parents, trace.furthest = chosen.parents, chosen.furthest
            is_enough = found.verdict is not Verdict.UNKNOWN or memory >= memory_bytes
            if is_enough or took * (1 + _GROWTH) > left:
                return found
            memory = min(memory * _GROWTH, memory_bytes)
