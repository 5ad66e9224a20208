"""A simulated TCP connection that carries bytes, with the node's own connection code at its end.

The client's end is what the player of random requests holds, the server's end is an asyncio
transport to node/server/connection.py. Messages as objects go over network.py instead.
"""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any

from typing_extensions import override

from kraftproof.cluster.protocol import Link
from kraftproof.cluster.simulated.network.endpoints import ServerEndpoint
from kraftproof.cluster.simulated.network.links import Links, Stream
from kraftproof.cluster.systems.reference.requests.player import ByteStream

PEER = ("127.0.0.1", 40_000)


def _nothing() -> None:
    """Wake nobody: the client does not wait."""


class SimulatedStream(ByteStream):
    """The client's end of a connection."""

    def __init__(
        self, links: Links, link: Link, lookup: Callable[[], ServerEndpoint | None]
    ) -> None:
        self.node_id = link.target
        self.server: ServerEndpoint | None = None
        self._links = links
        self._lookup = lookup
        self._forth = Stream(link)
        self._back = Stream(Link(link.target, link.source))
        self._socket: ServerSocket | None = None
        self._arrived = bytearray()
        self._end: bool | None = None
        self._is_closed = False
        self._change: Callable[[], None] = _nothing

    def open(self, on_open: Callable[[bool], None]) -> None:
        """Establish the connection; `on_open` gets whether a server listens."""
        self._links.send(self._forth, lambda: self._establish(on_open))

    @property
    @override
    def end(self) -> bool | None:
        return self._end

    @property
    def is_over(self) -> bool:
        """Whether either end has ended the connection."""
        return self._is_closed or self._end is not None

    @override
    def now_ns(self) -> int:
        return 0 if self.server is None else self.server.running_ns()

    @override
    def on_change(self, action: Callable[[], None]) -> None:
        self._change = action

    @override
    def write(self, data: bytes) -> None:
        if self._end is None and not self._is_closed:
            self._links.send(self._forth, lambda: self._deliver(data))

    @override
    def take(self) -> bytes:
        data = bytes(self._arrived)
        self._arrived.clear()
        return data

    @override
    def close(self) -> None:
        if not self._is_closed:
            self._is_closed = True
            if self._end is None:
                self._links.send(self._forth, self._lose)

    def send_back(self, data: bytes) -> None:
        """Carry bytes from the node to the client."""
        self._links.send(self._back, lambda: self._hear(data))

    def hang_up(self, *, by_right: bool) -> None:
        """Carry the end of the connection, by the node's own code, to the client.

        An end `by_right` is what the protocol asks for, so that the client has no complaint.
        """
        self._links.send(self._back, lambda: self._ended(by_node=not by_right))
        self._lose()

    def reset(self) -> None:
        """Carry the end of the server's process to the client."""
        self._links.send(self._back, lambda: self._ended(by_node=False))

    def _establish(self, on_open: Callable[[bool], None]) -> None:
        server = self._lookup()
        if server is not None and server.accepts():
            self.server = server
            self._socket = ServerSocket(self, server)
            server.read_stream(self._socket.open, self)
        self._links.send(self._back, lambda: on_open(self.server is not None))

    def _deliver(self, data: bytes) -> None:
        if self._socket is not None:
            self._socket.receive(data)

    def _lose(self) -> None:
        if self._socket is not None:
            self._socket.lose()

    def _hear(self, data: bytes) -> None:
        if not self._is_closed:
            self._arrived += data
            self._change()

    def _ended(self, *, by_node: bool) -> None:
        if self._end is None:
            self._end = by_node
            self._change()


class ServerSocket(asyncio.Transport):
    """The node's end of a connection, as asyncio shows a socket."""

    def __init__(self, stream: SimulatedStream, server: ServerEndpoint) -> None:
        super().__init__()
        self._stream = stream
        self._server = server
        self._protocol: asyncio.Protocol | None = None
        self._is_closing = False
        self.ends_by_right = False
        """Whether the protocol asks for the end of the connection that comes now."""
        self._is_reading = True
        self._unread: list[bytes] = []

    def open(self) -> None:
        """Let the process accept the connection."""
        self._protocol = self._server.accept_stream(self)

    def receive(self, data: bytes) -> None:
        """Hand bytes to the process when the process next reads."""
        self._server.read_stream(lambda: self._read(data), self._stream)

    def lose(self) -> None:
        """Report the end of the connection to the process."""
        self._server.read_stream(self._lost, self._stream)

    @override
    def get_extra_info(self, name: str, default: Any = None) -> Any:
        return PEER if name == "peername" else default

    @override
    def is_closing(self) -> bool:
        return self._is_closing

    @override
    def writelines(self, list_of_data: Iterable[Any]) -> None:
        if not self._is_closing:
            self._stream.send_back(b"".join(list_of_data))

    @override
    def close(self) -> None:
        self.abort()

    @override
    def abort(self) -> None:
        if not self._is_closing:
            self._is_closing = True
            self._stream.hang_up(by_right=self.ends_by_right)

    @override
    def pause_reading(self) -> None:
        self._is_reading = False

    @override
    def resume_reading(self) -> None:
        self._is_reading = True
        unread, self._unread = self._unread, []
        for data in unread:
            self.receive(data)

    def _read(self, data: bytes) -> None:
        if self._is_closing or self._protocol is None:
            return
        if self._is_reading and not self._unread:
            self._protocol.data_received(data)
        else:
            self._unread.append(data)

    def _lost(self) -> None:
        self._is_closing = True
        if self._protocol is not None:
            self._protocol.connection_lost(None)
            self._protocol = None
