"""Byte streams over sockets, for the player of cases."""

import asyncio
import time
from collections.abc import Callable, Mapping

from typing_extensions import override

from kraftproof.cluster.connection import ConnectionFailed
from kraftproof.cluster.systems.reference.requests.player import ByteStream, OpensStreams

Place = tuple[str, int]
"""Host and port of a listener."""


def _nothing() -> None:
    """Wake nobody: the client does not wait."""


class SocketStream(asyncio.Protocol, ByteStream):
    """The client's end of a TCP connection."""

    def __init__(self, node_id: int) -> None:
        self.node_id = node_id
        self._transport: asyncio.Transport | None = None
        self._arrived = bytearray()
        self._end: bool | None = None
        self._change: Callable[[], None] = _nothing

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport), "TCP reads and writes"
        self._transport = transport

    @override
    def data_received(self, data: bytes) -> None:
        self._arrived += data
        self._change()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._end = True
        self._change()

    @property
    @override
    def end(self) -> bool | None:
        return self._end

    @override
    def now_ns(self) -> int:
        return time.monotonic_ns()

    @override
    def on_change(self, action: Callable[[], None]) -> None:
        self._change = action

    @override
    def write(self, data: bytes) -> None:
        if self._transport is not None and self._end is None:
            self._transport.write(data)

    @override
    def take(self) -> bytes:
        data = bytes(self._arrived)
        self._arrived.clear()
        return data

    @override
    def close(self) -> None:
        self._change = _nothing
        if self._transport is not None:
            self._transport.abort()


class SocketStreams(OpensStreams):
    """The listeners of a live cluster, by node."""

    def __init__(self, places: Mapping[int, Place]) -> None:
        self._places = places

    @override
    async def open_stream(self, node_id: int, timeout_ns: int) -> SocketStream:
        host, port = self._places[node_id]
        loop = asyncio.get_running_loop()
        try:
            async with asyncio.timeout(timeout_ns / 1e9):
                _, stream = await loop.create_connection(lambda: SocketStream(node_id), host, port)
        except (TimeoutError, OSError) as error:
            raise ConnectionFailed(f"{host}:{port}: {type(error).__name__}") from error
        return stream
