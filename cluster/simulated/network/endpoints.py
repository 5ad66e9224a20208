"""Who is at either end of a simulated connection. Not: the connection itself (network.py)."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from kraftproof.cluster.simulated.network.transport import Arrived
from kraftproof.node.wire.messages import Message

if TYPE_CHECKING:
    from kraftproof.cluster.simulated.network.network import Call, Connection


class ServerEndpoint(Protocol):
    """A process that takes requests."""

    def accepts(self) -> bool:
        """Whether its listener is open."""
        ...

    def serve(self, call: "Call", arrived: Arrived) -> None:
        """Take a request; `call.answer` sends what comes of it."""
        ...

    def crashed(self, error: Exception) -> None:
        """A request can't be read: an exception out of the codec."""
        ...


class ClientEndpoint(Protocol):
    """A process that sends requests; what it hears waits while it is paused."""

    def hear(self, action: Callable[[], None], connection: "Connection") -> None:
        """Do it when the process next reads this connection's socket."""
        ...

    def is_answered(self, asked: Message, answered: Message) -> None:
        """Hear which request an answer resumes, and which request was answered."""
        ...
