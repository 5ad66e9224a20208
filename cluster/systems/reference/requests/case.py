"""A case: frames that clients send on a few connections, as data.

A case can be written to a file, read again, played to any cluster and made smaller; see
case_file.py, player.py and kraftproof/fuzz.
"""

from enum import Enum
from itertools import pairwise

from msgspec import Struct


class Expects(Enum):
    """The answers that a frame may get."""

    ANSWER = "answer"
    """An answer: the frame is a well-formed request in a version that the listener serves."""
    EITHER = "either"
    """An answer, or the end of the connection: the frame is no request, or an unknown one."""
    NOTHING = "nothing"
    """Nothing until the rest of the frame arrives; or the end of the connection."""


class Send(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A frame, or a part of one, that a client sends."""

    connection: int
    """Index of the connection in the case."""
    frame: bytes
    """The bytes, beginning with the frame's size."""
    expects: Expects
    about: str
    """A few words for the reader."""
    within_ms: int | None = None
    """Time in which the request itself lets the node answer; None: no bound that can be waited."""
    after_ms: int = 0
    """Pause before the frame, in milliseconds."""
    cuts: tuple[int, ...] = ()
    """Positions at which the frame is cut into segments that are sent one after the other."""

    @property
    def segments(self) -> tuple[bytes, ...]:
        """The pieces in which the frame is sent."""
        places = sorted({0, len(self.frame), *(at for at in self.cuts if at < len(self.frame))})
        return tuple(self.frame[start:stop] for start, stop in pairwise(places))


class Case(Struct, frozen=True, kw_only=True):
    """The sends of some clients, in order."""

    nodes: tuple[int, ...]
    """The node of each connection."""
    sends: tuple[Send, ...]
