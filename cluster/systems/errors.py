"""A table of a system's errors: what an error says about an operation.

Only an error that says for certain that nothing was done is `fail`. Any other error is `info` for
an operation that changes state. A failed read is always `fail`, since a read changes no state.
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

from kraftproof.cluster.systems.outcome import Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class ErrorTable:
    """The errors of one system.

    Attributes:
        reads: The operations that change nothing.
        refusals: By operation, the errors after which it is certain that nothing was done.
    """

    reads: Collection[str] = frozenset()
    refusals: Mapping[str, Collection[object]] = field(default_factory=dict)

    def of(self, f: str, error: object) -> Outcome:
        """Return the outcome of an operation that was answered by an error."""
        if f in self.reads or error in self.refusals.get(f, ()):
            return Outcome.FAIL
        return Outcome.INFO

    def of_silence(self, f: str) -> Outcome:
        """Return the outcome of an operation that was sent and not answered."""
        return Outcome.FAIL if f in self.reads else Outcome.INFO
