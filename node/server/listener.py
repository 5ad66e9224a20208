"""A listening socket: its connections and their limit. Not: what the node makes of a request."""

import asyncio
from collections.abc import Callable
from functools import partial

from kraftproof.node.properties.listeners import Binding
from kraftproof.node.server.connection import Connection, Slot
from kraftproof.node.server.console import say
from kraftproof.node.server.large_messages import LARGE_BYTES
from kraftproof.node.server.requests import Request, parse_request
from kraftproof.node.wire.principal import DEFAULT_PRINCIPALS, PrincipalBuilder

RequestHandler = Callable[[Binding, str, Request, Slot], None]


class Listener:
    """One binding of the node while it is open."""

    __slots__ = (
        "_binding",
        "_connections",
        "_on_request",
        "_principals",
        "_refused",
        "_server",
        "frame_bytes",
        "limit",
    )

    def __init__(
        self,
        binding: Binding,
        *,
        limit: int,
        frame_bytes: int,
        on_request: RequestHandler,
        principals: PrincipalBuilder = DEFAULT_PRINCIPALS,
    ) -> None:
        self._principals = principals
        self._binding = binding
        self.limit = limit
        self._on_request = on_request
        self._connections: dict[int, Connection] = {}
        self._refused = 0
        self._server: asyncio.Server | None = None
        self.frame_bytes = frame_bytes

    async def open(self) -> None:
        """Bind and listen.

        Raises:
            OSError: the address can't be had.
        """
        loop = asyncio.get_running_loop()
        host, port = self._binding.host, self._binding.port
        self._server = await loop.create_server(lambda: Connection(self), host or None, port)

    def close(self) -> None:
        """Stop listening, and end all connections once their answers are sent."""
        if self._server is not None:
            self._server.close()
        for connection in tuple(self._connections.values()):
            connection.close()

    def opened(self, connection: Connection) -> bool:
        """Take a connection in, unless the listener is full."""
        if len(self._connections) >= self.limit:
            return False
        self._connections[id(connection)] = connection
        return True

    def handle(self, connection: Connection, payload: bytes, slot: Slot) -> None:
        """Pass a request on to the node; a thread decodes a large one."""
        is_controller = self._binding.is_controller
        read = partial(
            parse_request,
            payload,
            on_controller_listener=is_controller,
            principals=self._principals,
        )
        if len(payload) < LARGE_BYTES:
            self._take(connection, slot, read())
            return

        def decoded(future: "asyncio.Future[Request | bytes]") -> None:
            if not future.cancelled():
                connection.release(lambda: self._take(connection, slot, future.result()))

        connection.hold()
        asyncio.get_running_loop().run_in_executor(None, read).add_done_callback(decoded)

    def _take(self, connection: Connection, slot: Slot, request: Request | bytes) -> None:
        """Pass a request on to the node; one of an unknown version is answered here."""
        if isinstance(request, bytes):
            slot.respond(request)
        else:
            self._on_request(self._binding, connection.host, request, slot)

    def closed(self, connection: Connection) -> None:
        """Forget a connection."""
        self._connections.pop(id(connection), None)

    def call_soon(self, action: Callable[[], None]) -> None:
        """Call `action` in the next turn of the event loop."""
        asyncio.get_running_loop().call_soon(action)

    def refused(self, reason: str) -> None:
        """Count a connection ended for what it sent; say so at 1, 10, 100 and so on."""
        self._refused += 1
        if str(self._refused).strip("0") == "1":
            say(f"{self._binding.name}: {self._refused} connections refused, this one {reason}")
