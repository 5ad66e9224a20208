"""Connections of our clients: over a socket through node.wire's codec, or in memory.

One request at a time, in order. Not: retries, or finding another node.
"""

import asyncio
from typing import Protocol, runtime_checkable

from typing_extensions import override

from kraftproof.cluster.connection import Connection, ConnectionFailed, OutcomeUnknown
from kraftproof.cluster.protocol import Cluster
from kraftproof.cluster.systems.reference.server_properties import PORT
from kraftproof.node.wire import codec, headers
from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.frames import frame
from kraftproof.node.wire.schema import Message

NS_PER_S = 1_000_000_000
CLIENT_ID = "kraftproof"
SIZE_BYTES = 4
MOST_ANSWER_BYTES = 64 * 1024 * 1024


class SocketConnection(Connection[Message]):
    """One TCP connection."""

    __slots__ = ("_correlation", "_reader", "_writer")

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._correlation = 0

    @override
    async def call(self, message: Message, version: int, timeout_ns: int) -> Message:
        if self._writer.is_closing() or self._reader.at_eof():
            raise ConnectionFailed("the connection is closed")
        try:
            async with asyncio.timeout(timeout_ns / NS_PER_S):
                return await self._exchange(message, version)
        except (TimeoutError, OSError, EOFError, WireError) as error:
            self.close()
            raise OutcomeUnknown(f"{type(error).__name__}: {error}".rstrip(": ")) from error
        except asyncio.CancelledError:
            self.close()
            raise

    @override
    def close(self) -> None:
        self._writer.close()

    async def _exchange(self, message: Message, version: int) -> Message:
        self._correlation += 1
        header = headers.RequestHeader(
            api_key=message.API_KEY,
            version=version,
            correlation_id=self._correlation,
            client_id=CLIENT_ID,
        )
        header_version, _ = codec.header_versions(message.API_KEY, version)
        head = headers.encode_request_header(header, header_version)
        self._writer.write(frame(head, codec.encode_request(message, version)))
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
class ConnectsInMemory(Protocol):
    """A cluster whose nodes take messages as objects and have no addresses."""

    async def connect(self, node_id: int, timeout_ns: int) -> Connection[Message]:
        """Open a connection.

        Raises:
            ConnectionFailed: refused or no answer.
        """
        ...


async def connect(cluster: Cluster, node_id: int, timeout_ns: int) -> Connection[Message]:
    """Open a connection: to a controller's controller listener, a broker's client one.

    Raises:
        ConnectionFailed: refused or no answer.
    """
    if isinstance(cluster, ConnectsInMemory):
        return await cluster.connect(node_id, timeout_ns)
    address = cluster.address(node_id, PORT)
    return await connect_to(address.host, address.port, timeout_ns)


async def connect_to(host: str, port: int, timeout_ns: int) -> SocketConnection:
    """Open a connection.

    Raises:
        ConnectionFailed: refused, unreachable or no answer in time.
    """
    try:
        async with asyncio.timeout(timeout_ns / NS_PER_S):
            reader, writer = await asyncio.open_connection(host, port)
    except (TimeoutError, OSError) as error:
        raise ConnectionFailed(f"{host}:{port}: {type(error).__name__}") from error
    return SocketConnection(reader, writer)
