"""Define identifiers and instants of the core."""

from typing import NewType

from msgspec import Struct

NodeId = NewType("NodeId", int)
Epoch = NewType("Epoch", int)
Offset = NewType("Offset", int)
Monotonic = NewType("Monotonic", int)
"""Nanoseconds of a clock that never jumps, for sessions, elections and leases."""
WallClock = NewType("WallClock", int)
"""Nanoseconds since 1970 of a clock that may jump, for record timestamps and tokens."""

NO_NODE = NodeId(-1)
AT_ONCE = Monotonic(0)
"""The deadline of work that only waits for other events in between."""
NANOSECONDS_PER_MS = 1_000_000
LARGEST_EPOCH = Epoch((1 << 31) - 1)
"""The last epoch that fits the wire format. A foreign Vote can name this epoch; no candidacy
follows."""
LARGEST_OFFSET = Offset(1 << 62)
"""No log grows to this offset, so a peer with a larger offset is wrong."""


class Instant(Struct, frozen=True, gc=False):
    """A reading of both clocks at a step."""

    monotonic: Monotonic
    wall: WallClock


def earliest(*times: Monotonic | None) -> Monotonic | None:
    """Return the earliest of the times; None stands for never."""
    first: Monotonic | None = None
    for time in times:
        if time is not None and (first is None or time < first):
            first = time
    return first


def milliseconds(value_ms: int) -> int:
    """Return the nanoseconds of a duration in milliseconds."""
    return value_ms * NANOSECONDS_PER_MS
