"""The node's listener for byte streams: its own connections, frames and requests, no sockets."""

from collections import Counter
from collections.abc import Callable
from typing import Any, Final

from typing_extensions import override

from kraftproof.cluster.simulated.network.byte_stream import ServerSocket
from kraftproof.node.properties.listeners import Binding
from kraftproof.node.server.connection import Connection, ConnectionOwner, Slot
from kraftproof.node.server.pending_requests import (
    PendingRequest,
    RequestReceiver,
    end_request,
    receive_request,
    respond,
)
from kraftproof.node.server.requests import parse_request
from kraftproof.node.shell.node_shell import NodeShell
from kraftproof.node.wire.frames import MAX_FRAME_BYTES
from kraftproof.node.wire.messages import Message

MOST_IN_FLIGHT: Final = 100
"""Largest number of requests of a connection that a node works on at a time."""


class StreamCall:
    """A request that came as bytes, and whose answer goes back as bytes."""

    __slots__ = ("_on_answer", "_pending", "_socket")

    def __init__(
        self, pending: PendingRequest, socket: ServerSocket, on_answer: Callable[[], None]
    ) -> None:
        self._pending = pending
        self._socket = socket
        self._on_answer = on_answer

    def answer(self, message: Message) -> None:
        """Send the answer, after the answers to earlier requests of the connection."""
        self._on_answer()
        respond(self._pending, message)

    def mute(self, duration_ns: int) -> None:
        """Take no further request of the connection for a time."""
        self._pending.slot.mute(duration_ns)

    def end(self, *, closes_connection: bool, by_right: bool) -> None:
        """End the request without an answer, and maybe the connection, by right or not."""
        self._on_answer()
        self._socket.ends_by_right = by_right
        end_request(self._pending, closes_connection=closes_connection)


class StreamListener(ConnectionOwner, RequestReceiver):
    """The open listener of one process."""

    def __init__(
        self,
        shell: NodeShell[Any, Any],
        *,
        is_controller: bool,
        call_later: Callable[[int, Callable[[], None]], object],
        on_excess: Callable[[int], None],
    ) -> None:
        self.frame_bytes = MAX_FRAME_BYTES
        self._shell = shell
        self._binding = Binding(name="STREAM", host="", port=0, is_controller=is_controller)
        self._call_later = call_later
        self._on_excess = on_excess
        self._in_flight: Counter[Connection] = Counter()
        """Requests without an answer, by connection."""
        self._sockets: dict[Connection, ServerSocket] = {}
        self._connection: Connection | None = None
        """The connection whose request is being handled."""

    def accept(self, socket: ServerSocket) -> Connection:
        """Take in a client."""
        connection = Connection(self)
        self._sockets[connection] = socket
        connection.connection_made(socket)
        return connection

    @override
    def opened(self, connection: Connection) -> bool:
        return True

    @override
    def closed(self, connection: Connection) -> None:
        self._in_flight.pop(connection, None)
        self._sockets.pop(connection, None)

    @override
    def refused(self, reason: str) -> None:
        """The client's judge tells whether the end of a connection was right."""

    @override
    def call_soon(self, action: Callable[[], None]) -> None:
        self._call_later(0, action)

    @override
    def call_later(self, delay_ns: int, action: Callable[[], None]) -> None:
        self._call_later(delay_ns, action)

    @override
    def handle(self, connection: Connection, payload: bytes, slot: Slot) -> None:
        binding = self._binding
        request = parse_request(payload, on_controller_listener=binding.is_controller)
        if isinstance(request, bytes):
            slot.respond(request)
        else:
            self._connection = connection
            receive_request(self, binding, connection.host, request, slot)

    @override
    def receive(self, client: PendingRequest, **request: Any) -> None:
        connection = self._connection
        assert connection is not None, "a request comes from a connection"
        self._in_flight[connection] += 1
        if self._in_flight[connection] > MOST_IN_FLIGHT:
            self._on_excess(self._in_flight[connection])

        def answered() -> None:
            if connection in self._in_flight:
                self._in_flight[connection] -= 1

        socket = self._sockets[connection]
        self._shell.receive(StreamCall(client, socket, answered), **request)
