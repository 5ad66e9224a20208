"""What an engine says of one key."""

from dataclasses import dataclass, replace

from kraftproof.checkers.verdict import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The outcome of one key's check.

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
            was not decided: an earlier operation may be stuck already, not a later one.
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
        """Returns the same with rows that count from another one, such as its key's first."""
        return (
            self
            if self.first_illegal_row is None
            else replace(self, first_illegal_row=self.first_illegal_row - start)
        )
