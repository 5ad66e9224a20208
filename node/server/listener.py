"""A listening socket: its connections and their limits. Not: what the node makes of a request.

A connection is unproven until the end of its TLS handshake and of its login. Unproven connections
have a time limit, a smaller limit of their frames, and make room for new connections: the oldest is
ended first, so that nobody can keep clients out without being one.
"""

import asyncio
import ssl
from collections.abc import Callable, Mapping
from functools import partial
from typing import Final

from kraftproof.node.core.base.types import Instant, Offset, milliseconds
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.core.quotas.connection_rates import ConnectionRates
from kraftproof.node.core.security.credentials import user_principal
from kraftproof.node.core.security.mapping_rules import map_name
from kraftproof.node.core.served import served_versions
from kraftproof.node.properties.listeners import Binding
from kraftproof.node.server.clocks import read_clocks
from kraftproof.node.server.connection import Connection, Slot
from kraftproof.node.server.console import say
from kraftproof.node.server.idle_connections import IdleConnections
from kraftproof.node.server.large_messages import LARGE_BYTES
from kraftproof.node.server.metrics.clients import ClientMetrics, Software, named_software
from kraftproof.node.server.requests import Request, parse_request
from kraftproof.node.wire.principal import Principal

RequestHandler = Callable[[Binding, Connection, Request, Slot], None]
PROVING_SECONDS: Final = 30.0
"""Maximum time from the connection to the end of its login."""

_OF_CONTROLLERS: Final = served_versions(on_controller_listener=True)


def _controller_versions() -> Mapping[int, tuple[int, int]]:
    return _OF_CONTROLLERS


class Logins:
    """The surroundings of the logins on all listeners of a process."""

    __slots__ = ("client_versions", "failed_delay_ms", "now", "published")

    def __init__(
        self,
        published: Callable[[], tuple[MetadataImage, Offset]],
        now: Callable[[], Instant],
        failed_delay_ms: int,
        client_versions: Callable[[], Mapping[int, tuple[int, int]]],
    ) -> None:
        self.client_versions = client_versions
        self.published = published
        self.now = now
        self.failed_delay_ms = failed_delay_ms


class Listener:
    """One binding of the node while it is open."""

    __slots__ = (
        "_binding",
        "_connections",
        "_idle",
        "_logins",
        "_on_request",
        "_rates",
        "_refused",
        "_server",
        "_slowed",
        "_software",
        "_tls",
        "_unproven",
        "clients",
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
        logins: Logins | None = None,
        tls: ssl.SSLContext | None = None,
        rates: ConnectionRates | None = None,
        idle_ns: int | None = None,
    ) -> None:
        self._binding = binding
        self._software: dict[int, Software] = {}
        """The software that a connection has named, as counted by `clients`."""
        self.clients: ClientMetrics | None = None
        """The counts of connections by software; None without metrics."""
        self.limit = limit
        self._on_request = on_request
        self._logins = logins
        self._tls = tls
        self._rates = rates
        self._slowed: set[int] = set()
        """The connections above the rate of an address, until their end."""
        self._connections: dict[int, Connection] = {}
        self._idle = IdleConnections(idle_ns, self._connections.values)
        self._unproven: dict[int, asyncio.TimerHandle] = {}
        """The time limits of connections without a proven client, oldest first."""
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
        self._server = await loop.create_server(self._connection, host or None, port)
        self._idle.start()

    def _connection(self) -> asyncio.Protocol:
        """Return the protocol of a new socket."""
        connection = Connection(self)
        if self._tls is None:
            return connection
        # The import is here, since most nodes have no TLS.
        from kraftproof.node.server.security.tls_layer import TlsLayer

        return TlsLayer(
            self._tls,
            connection,
            on_secured=partial(self._secured, connection),
            on_failed=lambda reason: self.refused(f"{connection.host}: {reason}"),
        )

    def close(self) -> None:
        """Stop listening, and end all connections once their answers are sent."""
        if self._server is not None:
            self._server.close()
        self._idle.stop()
        for connection in tuple(self._connections.values()):
            connection.close()

    def opened(self, connection: Connection) -> bool:
        """Take a connection in, unless the listener is full of proven clients."""
        if len(self._connections) >= self.limit and not self._make_room():
            return False
        now = read_clocks().monotonic
        wait_ms = 0 if self._rates is None else self._rates.wait_ms(connection.host, now)
        if wait_ms > 0:
            return self._slow(connection, wait_ms)
        self._connections[id(connection)] = connection
        security = self._binding.security
        if security.protocol.has_tls or security.protocol.has_sasl:
            timer = asyncio.get_running_loop().call_later(PROVING_SECONDS, connection.abort)
            self._unproven[id(connection)] = timer
        if security.login is not None:
            self._begin_login(connection)
        return True

    def _slow(self, connection: Connection, wait_ms: int) -> bool:
        """Let a connection wait for its end; return False if too many wait already."""
        if len(self._slowed) >= self.limit:
            return False
        self._slowed.add(id(connection))
        connection.end_after(milliseconds(wait_ms))
        return True

    def _make_room(self) -> bool:
        """End the oldest unproven connection; return whether there was one."""
        for key, timer in self._unproven.items():
            timer.cancel()
            del self._unproven[key]
            self._connections.pop(key).abort()
            return True
        return False

    def _begin_login(self, connection: Connection) -> None:
        from kraftproof.node.server.security.authentication import Authenticator, LoginContext

        policy, logins = self._binding.security.login, self._logins
        assert policy is not None, "the listener has SASL"
        assert logins is not None, "the process knows its image"
        connection.limit_frames(min(policy.max_receive_bytes, self.frame_bytes))
        connection.login = Authenticator(
            connection,
            LoginContext(
                policy=policy,
                is_controller=self._binding.is_controller,
                served=_controller_versions
                if self._binding.is_controller
                else logins.client_versions,
                published=logins.published,
                now=logins.now,
                failed_delay_ms=logins.failed_delay_ms,
                on_login=self._proven,
            ),
        )

    def _secured(self, connection: Connection, certificate: bytes | None) -> None:
        """Take the end of a TLS handshake, which proves the client on a listener without SASL."""
        security = self._binding.security
        if security.protocol.has_sasl:
            return
        principal = connection.principal
        if certificate is not None and security.tls is not None:
            from kraftproof.node.server.security.distinguished_name import subject_of

            subject = subject_of(certificate)
            name = map_name(security.tls.mapping_rules, subject)
            if name is None:
                self.refused(f"{connection.host}: no rule maps the certificate {subject}")
                connection.abort()
                return
            principal = user_principal(name)
        self._proven(connection, principal)

    def _proven(self, connection: Connection, principal: Principal) -> None:
        connection.principal = principal
        timer = self._unproven.pop(id(connection), None)
        if timer is not None:
            timer.cancel()
        connection.limit_frames(self.frame_bytes)

    def handle(self, connection: Connection, payload: bytes, slot: Slot) -> None:
        """Pass a request on to the node; a thread decodes a large one."""
        login = connection.login
        if login is not None and login.takes(payload):
            login.receive(payload, slot)
            return
        is_controller = self._binding.is_controller
        read = partial(parse_request, payload, on_controller_listener=is_controller)
        if len(payload) < LARGE_BYTES:
            self._take(connection, slot, read())
            return

        def decoded(future: "asyncio.Future[Request | bytes]") -> None:
            if not future.cancelled():
                future.exception()  # asked for here, as a connection that has ended asks nothing
                connection.release(lambda: self._take(connection, slot, future.result()))

        connection.hold()
        asyncio.get_running_loop().run_in_executor(None, read).add_done_callback(decoded)

    def _take(self, connection: Connection, slot: Slot, request: Request | bytes) -> None:
        """Pass a request on to the node; one of an unknown version is answered here."""
        if self.clients is not None and isinstance(request, Request):
            self._note_software(self.clients, connection, request)
        if isinstance(request, bytes):
            slot.respond(request)
        else:
            self._on_request(self._binding, connection, request, slot)

    def closed(self, connection: Connection) -> None:
        """Forget a connection."""
        self._connections.pop(id(connection), None)
        self._slowed.discard(id(connection))
        software = self._software.pop(id(connection), None)
        if software is not None and self.clients is not None:
            self.clients.disconnected(software)
        timer = self._unproven.pop(id(connection), None)
        if timer is not None:
            timer.cancel()

    def _note_software(
        self, clients: ClientMetrics, connection: Connection, request: Request
    ) -> None:
        """Count the software that a client names in its first ApiVersions (KIP-511)."""
        software = named_software(request.message, request.header.version)
        if software is not None and id(connection) not in self._software:
            self._software[id(connection)] = clients.connected(software)

    def call_soon(self, action: Callable[[], None]) -> None:
        """Call `action` in the next turn of the event loop."""
        asyncio.get_running_loop().call_soon(action)

    def call_later(self, delay_ns: int, action: Callable[[], None]) -> None:
        """Call `action` after a time, in the event loop."""
        asyncio.get_running_loop().call_later(delay_ns / 1e9, action)

    def refused(self, reason: str) -> None:
        """Count a connection ended for what it sent; say so at 1, 10, 100 and so on."""
        self._refused += 1
        if str(self._refused).strip("0") == "1":
            say(f"{self._binding.name}: {self._refused} connections refused, this one {reason}")
