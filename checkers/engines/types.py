"""The types that all engines share: the outcome of a key, and the protocol of an engine."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kraftproof.checkers.calls import Calls
from kraftproof.checkers.options import Limits
from kraftproof.checkers.verdict import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The outcome of a key's check.

    The first n completions being linearizable and the first n + 1 not, an `invalid` names the
    operation of completion n + 1; what is open at that moment may have taken effect with the answer
    that it got later.

    Attributes:
        verdict: valid, invalid, or unknown when a limit was reached.
        engine: the engine that decided.
        first_illegal_row: if invalid, the row (of `Columns`) of the first operation whose
        completion no
            legal order reaches.
        linearizable: if invalid, how many completions some legal order reaches: n. None if that
            was not decided: an earlier operation may be illegal already, not a later one.
        states: some states in which the longest legal orders end, in words, sorted.
        anomaly: if invalid, the anomaly's name, where the engine has one (list append, queues).
        reason: if unknown, which limit was reached.
    """

    verdict: Verdict
    engine: str
    first_illegal_row: int | None = None
    linearizable: int | None = 0
    states: tuple[str, ...] = ()
    anomaly: str | None = None
    reason: str | None = None

    def within(self, start: int) -> "Outcome":
        """Return the outcome with rows counted from another row, such as the key's first."""
        return (
            self
            if self.first_illegal_row is None
            else replace(self, first_illegal_row=self.first_illegal_row - start)
        )


Outcomes = Sequence[Outcome | None]
"""The outcome of each key, in the order of the keys; None for a key that the engine leaves."""


class Engine(Protocol):
    """An engine: decides whether calls have a legal order that keeps real time.

    Another distribution adds a class without parameters to the entry-point group
    `kraftproof.engines` (see `checkers.engines.registry`). `kraftproof list engines` prints the
    first line of its docstring, and the names in its attribute `models`, if it has one.
    """

    def accepts(self, calls: Calls) -> bool:
        """Return whether the engine knows calls of this kind."""
        ...

    def decide(self, calls: Calls, limits: Limits) -> Outcomes:
        """Return the outcome of each key, None for a key left to another engine.

        Args:
            calls: The calls of all keys, of a kind that the engine accepts.
            limits: Time and memory for a key; beyond them the outcome is unknown or None.
        """
        ...

    def order_of(self, calls: Calls, cut: int, limits: Limits) -> NDArray[np.int64] | None:
        """Return the calls of the only key up to an event in a legal order, None if unknown.

        An open or indeterminate call is in the order if another call needs it. A call outside the
        order fits in as soon as it is legal, or as late as possible. The order is a proposal: the
        caller replays it.
        """
        ...
