"""What a recorder keeps (recorder.py) and a diagram shows (diagram.py): one thing that happened."""

from enum import StrEnum

from msgspec import Struct


class State(StrEnum):
    """How a node's process is at a moment."""

    UP = "up"
    LEADS = "leads"
    PAUSED = "paused"
    DOWN = "down"


class Kind(StrEnum):
    """What a moment is."""

    REQUEST = "request"
    RESPONSE = "response"
    LOST = "lost"
    """The sender of a request gives up waiting for its answer."""
    STEP = "step"
    """Something within one node."""
    FAULT = "fault"
    VIOLATION = "violation"


class TraceEvent(Struct, frozen=True, kw_only=True):
    """One thing that happened; a message has a source, anything else only a target."""

    time_ns: int
    event: int
    """How many events of the run had happened."""
    kind: Kind
    target: int
    text: str
    source: int | None = None
    also: tuple[int, ...] = ()
    """The other nodes of a fault."""
    api: str = ""
    subject: str = ""
    """What a response answers."""
    sent_ns: int | None = None
    states: tuple[State, ...] = ()
    """Of all nodes by their ids, 1 first."""
