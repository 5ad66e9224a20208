"""NoInternalError: answers in which a node admits a mistake, judged.

Under a fault and shortly after, the answer says little; without a fault the answer is a bug.
"""

from collections.abc import Iterator, Sequence
from typing import Final

from msgspec import Struct

from kraftproof.checkers.run_outcome import ViolatedInvariant
from kraftproof.checkers.text import shortened
from kraftproof.run.health.promises import NO_INTERNAL_ERROR, InForce, violation

RECOVERY_NS: Final = 5_000_000_000
"""Time after a fault, which does not count."""


class InternalError(Struct, frozen=True, kw_only=True):
    """An operation with an internal error as answer."""

    node_id: int | None
    time_ns: int
    f: str
    key: str
    error: str


def internal_errors(
    answers: Sequence[InternalError], faults: Sequence[InForce]
) -> Iterator[ViolatedInvariant]:
    """Find the first internal error of each kind of operation without a fault in force."""
    found: set[tuple[str, str]] = set()
    for one in answers:
        if (one.f, one.error) in found or any(
            fault.begin_ns <= one.time_ns <= fault.end_ns + RECOVERY_NS for fault in faults
        ):
            continue
        found.add((one.f, one.error))
        yield violation(
            NO_INTERNAL_ERROR,
            node=one.node_id,
            time_ns=one.time_ns,
            detail=f"{one.f} of {shortened(one.key)} was answered by {one.error}",
        )
