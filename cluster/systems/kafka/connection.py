"""Connections of our clients: over a socket through node.wire's codec, or in memory.

One request at a time, in order. Not: retries, or finding another node.
"""

import asyncio
import ssl
from contextlib import suppress
from typing import Final, Protocol, runtime_checkable

from typing_extensions import override

from kraftproof.cluster.answer_watch import AnswerWatch, Silence, WatchesAnswers
from kraftproof.cluster.connection import Connection, ConnectionFailed, OutcomeUnknown
from kraftproof.cluster.protocol import Cluster
from kraftproof.cluster.systems.kafka.login import AsksForLogin, log_in
from kraftproof.node.core.security.login_policy import ClientLogin
from kraftproof.node.wire import codec, headers
from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.frames import frame
from kraftproof.node.wire.schema import Message

NS_PER_S = 1_000_000_000
CLIENT_ID = "kraftproof"
PORT: Final = "kafka"
"""The name of a node's port for clients; a lone controller's is that of its controllers."""
SASL_PORT: Final = "sasl"
"""The name of a broker's port for clients that log in."""
SIZE_BYTES = 4
TLS_END_S: Final = 1.0
"""Longest wait for the node's end of a TLS connection, in seconds."""
MOST_ANSWER_BYTES = 64 * 1024 * 1024


class SocketConnection(Connection[Message]):
    """One TCP connection, whose answers may be watched."""

    __slots__ = (
        "_client_id",
        "_correlation",
        "_is_held",
        "_node_id",
        "_reader",
        "_watch",
        "_writer",
    )

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        node_id: int = 0,
        watch: AnswerWatch | None = None,
        client_id: str = CLIENT_ID,
    ) -> None:
        self._client_id = client_id
        self._reader = reader
        self._writer = writer
        self._correlation = 0
        self._node_id = node_id
        self._watch = watch
        self._is_held = False
        """Whether the watch holds the connection, and closes the connection later."""

    @override
    async def call(self, message: Message, version: int, timeout_ns: int) -> Message:
        self._check_open()
        asked_ns = 0 if self._watch is None else self._watch.now()
        try:
            async with asyncio.timeout(timeout_ns / NS_PER_S):
                return await self._exchange(message, version)
        except (TimeoutError, OSError, EOFError, WireError) as error:
            about = f"{type(message).__name__} v{version}"
            if self._watch is not None and isinstance(error, TimeoutError):
                self._hold(self._watch, asked_ns, timeout_ns, about)
            else:
                self.close()
            if self._watch is not None and isinstance(error, WireError):
                self._watch.report(self._node_id, f"{error}: {about}")
            raise OutcomeUnknown(f"{type(error).__name__}: {error}".rstrip(": ")) from error
        except asyncio.CancelledError:
            self.close()
            raise

    async def post(self, message: Message, version: int) -> None:
        """Send a request to which the node sends no answer.

        Raises:
            ConnectionFailed: the connection is closed.
        """
        self._check_open()
        self._write(message, version)
        try:
            await self._writer.drain()
        except OSError as error:
            self.close()
            raise OutcomeUnknown(f"{type(error).__name__}: {error}") from error

    @override
    def close(self) -> None:
        if not self._is_held:
            self._writer.close()

    def _check_open(self) -> None:
        if self._is_held or self._writer.is_closing() or self._reader.at_eof():
            raise ConnectionFailed("the connection is closed")

    def _hold(self, watch: AnswerWatch, asked_ns: int, timeout_ns: int, about: str) -> None:
        """Close the connection once the node has answered the request, or has hung up."""
        silence = Silence(
            node_id=self._node_id,
            asked_ns=asked_ns,
            until_ns=asked_ns,
            timeout_ns=timeout_ns,
            about=about,
        )
        self._is_held = True
        watch.hold(silence, self._heard(), self._writer.close)

    async def _heard(self) -> None:
        """Wait until the node sends something, or ends the connection."""
        with suppress(OSError):
            await self._reader.read(1)

    def _write(self, message: Message, version: int) -> None:
        self._correlation += 1
        header = headers.RequestHeader(
            api_key=message.API_KEY,
            version=version,
            correlation_id=self._correlation,
            client_id=self._client_id,
        )
        header_version, _ = codec.header_versions(message.API_KEY, version)
        head = headers.encode_request_header(header, header_version)
        self._writer.write(frame(head, codec.encode_request(message, version)))

    async def _exchange(self, message: Message, version: int) -> Message:
        self._write(message, version)
        await self._writer.drain()
        size = int.from_bytes(await self._reader.readexactly(SIZE_BYTES), "big", signed=True)
        if not 0 <= size <= MOST_ANSWER_BYTES:
            raise WireError(f"an answer of {size} bytes")
        payload = await self._reader.readexactly(size)
        correlation, body = headers.split_response(payload, message.API_KEY, version)
        if correlation != self._correlation:
            raise WireError(f"answer {correlation} to request {self._correlation}")
        return codec.decode_response(message.API_KEY, version, body)


@runtime_checkable
class PostsMessages(Protocol):
    """A connection that sends requests to which no node answers, as those with acks=0."""

    async def post(self, message: Message, version: int) -> None:
        """Send a request without waiting for an answer.

        Raises:
            ConnectionFailed: the request was not sent.
        """
        ...


@runtime_checkable
class ExpectsTls(Protocol):
    """A cluster whose listeners may expect TLS."""

    @property
    def tls(self) -> ssl.SSLContext | None:
        """Return the TLS context of clients; None for plain connections."""
        ...


@runtime_checkable
class ConnectsInMemory(Protocol):
    """A cluster whose nodes take messages as objects and have no addresses."""

    async def connect(
        self, node_id: int, timeout_ns: int, *, port: str = PORT, client_id: str = ""
    ) -> Connection[Message]:
        """Open a connection to a port of a node.

        Raises:
            ConnectionFailed: refused or no answer.
        """
        ...


async def connect(
    cluster: Cluster,
    node_id: int,
    timeout_ns: int,
    *,
    port: str = PORT,
    client_id: str | None = None,
) -> Connection[Message]:
    """Open a connection to a port of a node, maybe with a client id of its own.

    Raises:
        ConnectionFailed: refused or no answer.
    """
    if isinstance(cluster, ConnectsInMemory):
        return await cluster.connect(node_id, timeout_ns, port=port, client_id=client_id or "")
    address = cluster.address(node_id, port)
    watch = cluster.answers if isinstance(cluster, WatchesAnswers) else None
    opened = await connect_to(
        address.host,
        address.port,
        timeout_ns,
        node_id=node_id,
        watch=watch,
        client_id=client_id or CLIENT_ID,
        tls=cluster.tls if isinstance(cluster, ExpectsTls) else None,
    )
    if isinstance(cluster, AsksForLogin) and isinstance(cluster.login, ClientLogin):
        await log_in(opened, cluster.login, timeout_ns)
    return opened


async def connect_to(
    host: str,
    port: int,
    timeout_ns: int,
    *,
    node_id: int = 0,
    watch: AnswerWatch | None = None,
    client_id: str = CLIENT_ID,
    tls: ssl.SSLContext | None = None,
) -> SocketConnection:
    """Open a connection; a watched one is that to a node of the run.

    Raises:
        ConnectionFailed: refused, unreachable, no answer in time, or a failed TLS handshake.
    """
    try:
        async with asyncio.timeout(timeout_ns / NS_PER_S):
            reader, writer = await asyncio.open_connection(
                host, port, ssl=tls, ssl_shutdown_timeout=None if tls is None else TLS_END_S
            )
    except (TimeoutError, OSError) as error:
        raise ConnectionFailed(f"{host}:{port}: {type(error).__name__}") from error
    return SocketConnection(reader, writer, node_id, watch, client_id)
