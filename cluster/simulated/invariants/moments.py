"""Moments of a process in true time and in its running time, and the slack of its clock.

A deadline of a node counts its running time only, without pauses and waits for its disk.
"""

from typing import Final

from msgspec import Struct

from kraftproof.cluster.simulated.invariants.invariant import ProcessView
from kraftproof.node.core.base.types import milliseconds

SLACK_NS: Final = milliseconds(100)
"""Time of a step beyond its deadline."""
ROUNDING_NS: Final = milliseconds(1)
"""Rounding of a node's clock within a time-out."""


class Moment(Struct, frozen=True, kw_only=True, gc=False):
    """An instant in true time and in the running time of a process."""

    true_ns: int
    running_ns: int


def moment(process: ProcessView) -> Moment:
    """Return the present instant of a process."""
    return Moment(true_ns=process.now_ns(), running_ns=process.running_ns())


def held_ns(at: Moment) -> int:
    """Return how long a process was paused or waited for its disk, up to a moment."""
    return at.true_ns - at.running_ns
