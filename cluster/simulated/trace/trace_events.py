"""The events kept by a recorder (recorder.py) and shown by a diagram (diagram.py)."""

from enum import StrEnum

from msgspec import Struct


class State(StrEnum):
    """The state of a node's process."""

    UP = "up"
    LEADS = "leads"
    PAUSED = "paused"
    DOWN = "down"


class Kind(StrEnum):
    """The kind of a trace event."""

    REQUEST = "request"
    RESPONSE = "response"
    LOST = "lost"
    """The sender of a request has given up waiting for the response."""
    STEP = "step"
    """A change within one node."""
    FAULT = "fault"
    VIOLATION = "violation"


class TraceEvent(Struct, frozen=True, kw_only=True):
    """One event of a run; a message has a source and a target, other events only a target."""

    time_ns: int
    event: int
    """Number of scheduler events of the run before this event."""
    kind: Kind
    target: int
    text: str
    source: int | None = None
    also: tuple[int, ...] = ()
    """The further targets of a fault."""
    api: str = ""
    subject: str = ""
    """The text of the request of a response."""
    sent_ns: int | None = None
    states: tuple[State, ...] = ()
    """The state of each node, by node id from 1."""
