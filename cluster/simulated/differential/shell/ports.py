"""What the ports of a compared shell hand out: pending work, timers and connections."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from kraftproof.cluster.simulated.differential.difference import check
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import NodeId
from kraftproof.node.core.effects import (
    Forward,
    Send,
)


class Pending(NamedTuple):
    """Work that has begun."""

    kind: str
    log: LogId | None
    finish: Callable[[], None]
    fail: Callable[[OSError], None]


class Timer:
    """One delayed call."""

    def __init__(self, due_ns: int, action: Callable[[], None]) -> None:
        self.due_ns = due_ns
        self.action: Callable[[], None] | None = action

    def cancel(self) -> None:
        """Do without the call."""
        self.action = None


class Connection:
    """One connection to a peer, as the transport gives it out."""

    def __init__(
        self,
        owner: Any,  # noqa: ANN401 - see rig.py
        on_close: Callable[["Connection"], None],
        destination: NodeId,
        *,
        is_to_broker: bool,
    ) -> None:
        self.owner = owner
        self.on_close = on_close
        self.listener = (destination, is_to_broker)
        """The node, and whether its listener is that of a broker."""
        self.traffic = ""
        """The kind of the requests, from the first request on."""
        self.may_close = False
        """Whether the peer has ended the connection, or has sent what is no answer."""
        self.is_established = False
        self.is_closed = False
        self.sent: dict[int, Send | Forward] = {}

    def close(self) -> None:
        """End the connection."""
        check("a connection is closed once", not self.is_closed)
        self.is_closed = True
        self.on_close(self)


class Port:
    """A port whose methods are those of the rig with a prefix."""

    def __init__(self, rig: Any, **fields: object) -> None:  # noqa: ANN401 - see rig.py
        self.rig = rig
        self.__dict__.update(fields)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return partial(self.rig.call, name)
