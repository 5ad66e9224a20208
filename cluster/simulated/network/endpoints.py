"""The two ends of a simulated connection: the server and the client."""

import asyncio
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from kraftproof.cluster.simulated.network.transport import Arrived
from kraftproof.node.wire.messages import Message

if TYPE_CHECKING:
    from kraftproof.cluster.simulated.network.byte_stream import ServerSocket, SimulatedStream
    from kraftproof.cluster.simulated.network.network import Call, Connection


class ServerEndpoint(Protocol):
    """A process that takes requests."""

    def accepts(self) -> bool:
        """Return whether the listener of the process is open."""
        ...

    def serve(self, call: "Call", arrived: Arrived) -> None:
        """Handle a request; `call.answer` sends the response."""
        ...

    def accept_stream(self, socket: "ServerSocket") -> asyncio.Protocol:
        """Take in a client that sends bytes, and return the reader of the bytes."""
        ...

    def read_stream(self, action: Callable[[], None], stream: "SimulatedStream") -> None:
        """Run `action` when the process next reads the stream."""
        ...

    def crashed(self, error: Exception) -> None:
        """Handle an exception of the codec, which cannot read a request."""
        ...

    def running_ns(self) -> int:
        """Return the running time of the process, without pauses and waits for the disk."""
        ...


class ClientEndpoint(Protocol):
    """A process that sends requests; responses wait while the process is paused."""

    def hear(self, action: Callable[[], None], connection: "Connection") -> None:
        """Run `action` when the process next reads the socket of the connection."""
        ...

    def is_answered(self, asked: Message, answered: Message) -> None:
        """Hear which request an answer resumes, and which request was answered."""
        ...
