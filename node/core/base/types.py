"""Identifiers and instants of the core. Not: anything that reads a clock."""

from typing import NewType

from msgspec import Struct

NodeId = NewType("NodeId", int)
Epoch = NewType("Epoch", int)
Offset = NewType("Offset", int)
Monotonic = NewType("Monotonic", int)
"""Nanoseconds that never jump: sessions, elections and leases use this one only."""
WallClock = NewType("WallClock", int)
"""Nanoseconds since 1970 that may jump: record timestamps and tokens only."""

NO_NODE = NodeId(-1)
AT_ONCE = Monotonic(0)
"""The deadline of work that is only waiting for other events to have their turn."""
NANOSECONDS_PER_MS = 1_000_000
LARGEST_EPOCH = Epoch((1 << 31) - 1)
"""The last that fits the wire. A stranger's Vote can name it: nobody stands in a later one."""
LARGEST_OFFSET = Offset(1 << 62)
"""No log grows to this; a peer that names more is wrong."""


class Instant(Struct, frozen=True, gc=False):
    """The two clocks read together, as the shell hands them to a step."""

    monotonic: Monotonic
    wall: WallClock


def earliest(*times: Monotonic | None) -> Monotonic | None:
    """Return the first of these times; None stands for never."""
    first: Monotonic | None = None
    for time in times:
        if time is not None and (first is None or time < first):
            first = time
    return first


def milliseconds(value_ms: int) -> int:
    """Return a duration given in milliseconds as nanoseconds."""
    return value_ms * NANOSECONDS_PER_MS
