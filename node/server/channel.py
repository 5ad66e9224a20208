"""One connection that this node opens to a voter, made when there is something to send.

Not: retries, which are the core's. Requests are answered in order; whatever goes wrong, a
time-out too, drops the connection, and with it everything in flight is lost (595-57). What was
never written to a connection is told apart: nobody can have carried it out.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from functools import partial

from typing_extensions import override

from kraftproof.node.wire.codec import decode_response, encode_request, header_versions
from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.frames import FrameSplitter, frame
from kraftproof.node.wire.headers import RequestHeader, encode_request_header, split_response
from kraftproof.node.wire.schema import Message

NANOSECONDS_PER_SECOND = 1_000_000_000
AnswerHandler = Callable[[Message | None], None]
UnsentHandler = Callable[[], None]


class _InFlight:
    """A request that waits for its answer."""

    __slots__ = (
        "_on_unsent",
        "api_key",
        "correlation_id",
        "is_sent",
        "on_answer",
        "timer",
        "version",
    )

    def __init__(
        self,
        header: RequestHeader,
        on_answer: AnswerHandler,
        on_unsent: UnsentHandler | None,
        timer: asyncio.TimerHandle,
    ) -> None:
        self.api_key = header.api_key
        self.version = header.version
        self.correlation_id = header.correlation_id
        self.on_answer = on_answer
        self.timer = timer
        self.is_sent = False
        self._on_unsent = on_unsent

    def lose(self) -> None:
        """There will be no answer."""
        self.timer.cancel()
        if self._on_unsent is not None and not self.is_sent:
            self._on_unsent()
        else:
            self.on_answer(None)


class Channel:
    """Requests to one address, in order."""

    __slots__ = (
        "_attempt",
        "_client_id",
        "_connecting",
        "_correlation_id",
        "_host",
        "_in_flight",
        "_link",
        "_port",
        "_unsent",
    )

    def __init__(self, host: str, port: int, client_id: str) -> None:
        self._host = host
        self._port = port
        self._client_id = client_id
        self._correlation_id = 0
        self._in_flight: deque[_InFlight] = deque()
        self._unsent: list[bytes] = []
        self._connecting: asyncio.Task[None] | None = None
        self._attempt = 0
        self._link: _Link | None = None

    def request(
        self,
        message: Message,
        version: int,
        timeout_ns: int,
        on_answer: AnswerHandler,
        on_unsent: UnsentHandler | None = None,
        connect_ns: int | None = None,
    ) -> None:
        """Send a request; `on_answer` gets its answer, or None once it is lost.

        `on_unsent` is called instead, if given, when not a byte of it has left, which is after
        `connect_ns` at the latest.
        """
        self._correlation_id = (self._correlation_id + 1) & 0x7FFFFFFF
        header = RequestHeader(
            api_key=message.API_KEY,
            version=version,
            correlation_id=self._correlation_id,
            client_id=self._client_id,
        )
        request_version, _ = header_versions(header.api_key, version)
        data = frame(
            encode_request_header(header, request_version), encode_request(message, version)
        )
        loop = asyncio.get_running_loop()
        timer = loop.call_later(timeout_ns / NANOSECONDS_PER_SECOND, self.drop)
        request = _InFlight(header, on_answer, on_unsent, timer)
        self._in_flight.append(request)
        if self._link is not None:
            request.is_sent = True
            self._link.transport.write(data)
            return
        self._unsent.append(data)
        if connect_ns is not None:
            loop.call_later(connect_ns / NANOSECONDS_PER_SECOND, self._drop_unsent, request)
        if self._connecting is None:
            self._connecting = loop.create_task(self._connect())

    def _drop_unsent(self, request: _InFlight) -> None:
        """Give up a connection that takes too long for this request."""
        if request in self._in_flight and not request.is_sent:
            self.drop()

    def drop(self) -> None:
        """End the connection; everything in flight is lost."""
        self._attempt += 1
        if self._connecting is not None:
            self._connecting.cancel()
            self._connecting = None
        link, self._link = self._link, None
        if link is not None:
            link.transport.abort()
        self._unsent.clear()
        lost, self._in_flight = self._in_flight, deque()
        for request in lost:
            request.lose()

    def connected(self, link: "_Link") -> None:
        """Send what waits for the connection, unless it was given up while it was made."""
        if link.attempt != self._attempt:
            link.transport.abort()
            return
        self._link = link
        self._connecting = None
        for request in self._in_flight:
            request.is_sent = True
        link.transport.writelines(self._unsent)
        self._unsent.clear()

    def ended(self, link: "_Link") -> None:
        """The peer, or the network, has ended the connection."""
        if link is self._link:
            self.drop()

    def answered(self, link: "_Link", payload: bytes) -> None:
        """Hand an answer over; one that does not belong to the oldest request is a fault."""
        if link is not self._link:
            return
        message = _decode(self._in_flight[0], payload) if self._in_flight else None
        if message is None:
            self.drop()
            return
        request = self._in_flight.popleft()
        request.timer.cancel()
        request.on_answer(message)

    async def _connect(self) -> None:
        loop = asyncio.get_running_loop()
        try:
            link = partial(_Link, self, self._attempt)
            await loop.create_connection(link, self._host, self._port)
        except OSError:
            self._connecting = None
            self.drop()


def _decode(request: _InFlight, payload: bytes) -> Message | None:
    """The answer to the request, or None if the bytes are anything else."""
    try:
        correlation_id, body = split_response(payload, request.api_key, request.version)
        if correlation_id != request.correlation_id:
            return None
        return decode_response(request.api_key, request.version, body)
    except WireError:
        return None


class _Link(asyncio.Protocol):
    """The socket of a channel, while it lives."""

    __slots__ = ("_channel", "_splitter", "attempt", "transport")

    def __init__(self, channel: Channel, attempt: int) -> None:
        self._channel = channel
        self.attempt = attempt
        self._splitter = FrameSplitter()
        self.transport: asyncio.Transport

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self.transport = transport
        self._channel.connected(self)

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._channel.ended(self)

    @override
    def data_received(self, data: bytes) -> None:
        try:
            for payload in self._splitter.feed(data):
                self._channel.answered(self, payload)
        except WireError:
            self.transport.abort()
