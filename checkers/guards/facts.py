"""The facts that the guards work on: what was asked of a run, and how the harness says it went."""

from typing import Annotated, Final

import msgspec

from kraftproof.checkers.history.faults import FaultEvent
from kraftproof.checkers.run_outcome import RunOutcome

SECOND_NS: Final = 1_000_000_000


class GuardBounds(msgspec.Struct, frozen=True, kw_only=True):
    """Minimum amounts for a run to prove anything; run.json has the values used for the run.

    Attributes:
        fewest_bitten: the least number of effective faults of each kind that was asked for.
        quiet_share: the least part of the run's time that has to be quiet.
        settle_ns: how long after a heal a quiet window opens.
    """

    fewest_bitten: Annotated[int, msgspec.Meta(ge=0)] = 2
    quiet_share: Annotated[float, msgspec.Meta(ge=0, le=1)] = 0.3
    settle_ns: Annotated[int, msgspec.Meta(ge=0, le=1 << 62)] = 3 * SECOND_NS


class RunFacts(msgspec.Struct, frozen=True, kw_only=True):
    """The facts of a run besides its operations and its nodes' tables.

    Attributes: outcome: the harness's report on the run; None without a report.
        is_ours: whether Kraftproof made the run; others' runs need no outcome.json.
        nemeses: the kinds of faults that were asked for.
        bounds: how much the run has to do.
        faults: the fault events.
        nodes: the ids of the nodes; empty if run.json has none.
        events: the number of events in the history; None if the history is not read.
    """

    outcome: RunOutcome | None
    is_ours: bool
    nemeses: tuple[str, ...] = ()
    bounds: GuardBounds = GuardBounds()
    faults: tuple[FaultEvent, ...] = ()
    nodes: tuple[int, ...] = ()
    events: int | None = None

    @property
    def is_damaged(self) -> bool:
        """Whether the history has other events than its harness recorded."""
        recorded = None if self.outcome is None else self.outcome.events
        return None not in {recorded, self.events} and recorded != self.events

    @property
    def is_discounted(self) -> bool:
        """Whether no finding counts: the history is damaged, or mixes two runs."""
        return self.is_damaged or (self.outcome is not None and self.outcome.is_contaminated)

    @property
    def span(self) -> tuple[int, int] | None:
        """The times of invocations and faults; None for a run without operations."""
        outcome = self.outcome
        if outcome is None or outcome.started_ns is None or outcome.ended_ns is None:
            return None
        return outcome.started_ns, outcome.ended_ns
