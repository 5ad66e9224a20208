"""The shell's Transport over sockets: connections that this node opens to voters and brokers.

A connection may be sent requests while it is being made; until then not a byte of them has left.
See node/shell/peer_lanes.py for time-outs, and for which request an answer belongs to.
"""

import asyncio
from collections import deque
from collections.abc import Mapping
from functools import partial

from typing_extensions import override

from kraftproof.node.core.base.config import NodeConfig
from kraftproof.node.core.base.types import NodeId
from kraftproof.node.core.effects import Forward, Send
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.server.envelope import open_response, wrap_request
from kraftproof.node.server.large_messages import LARGE_BYTES
from kraftproof.node.shell.ports import ConnectionOwner, PeerConnection, Transport
from kraftproof.node.wire.codec import decode_response, encode_request, header_versions
from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.frames import FrameSplitter, frame
from kraftproof.node.wire.headers import RequestHeader, encode_request_header, split_response
from kraftproof.node.wire.messages.generated.envelope_request import EnvelopeRequest
from kraftproof.node.wire.messages.generated.envelope_response import EnvelopeResponse
from kraftproof.node.wire.principal import DEFAULT_PRINCIPALS, PrincipalBuilder
from kraftproof.node.wire.records.metadata import BrokerEndpoint
from kraftproof.node.wire.schema import Message

ENVELOPE_VERSION = 0
CORRELATION_ID_BYTES = 4


class PeerSocket(asyncio.Protocol, PeerConnection):
    """One connection to a peer, from the attempt to its end."""

    __slots__ = (
        "_answers",
        "_attempt",
        "_client_id",
        "_is_decoding",
        "_is_established",
        "_owner",
        "_principals",
        "_sent",
        "_splitter",
        "_transport",
        "_unsent",
    )

    def __init__(
        self,
        owner: "ConnectionOwner[PeerSocket, Send | Forward]",
        client_id: str,
        principals: PrincipalBuilder = DEFAULT_PRINCIPALS,
    ) -> None:
        self._principals = principals
        self._owner = owner
        self._client_id = client_id
        self._splitter = FrameSplitter()
        self._attempt: asyncio.Task[None] | None = None
        self._transport: asyncio.Transport | None = None
        self._is_established = False
        self._unsent: list[bytes] = []
        self._sent: dict[int, Send | Forward] = {}
        self._answers: deque[bytes] = deque()
        """Answers behind a large answer in the thread."""
        self._is_decoding = False

    @property
    @override
    def is_established(self) -> bool:
        return self._is_established

    def open(self, host: str, port: int) -> None:
        """Begin to connect."""
        self._attempt = asyncio.get_running_loop().create_task(self._connect(host, port))

    async def _connect(self, host: str, port: int) -> None:
        loop = asyncio.get_running_loop()
        try:
            await loop.create_connection(lambda: self, host, port)
        except OSError:
            self._attempt = None
            self._owner.ended(self)

    def send(self, correlation_id: int, request: Send | Forward) -> None:
        """Send a request now, or as soon as the connection is established."""
        data = _encode(request, correlation_id, self._client_id, self._principals)
        self._sent[correlation_id] = request
        if self._transport is None:
            self._unsent.append(data)
        else:
            self._transport.write(data)

    @override
    def close(self) -> None:
        self._unsent.clear()
        if self._attempt is not None:
            self._attempt.cancel()
        if self._transport is not None:
            self._transport.abort()

    # asyncio's side

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        if self._attempt is not None and self._attempt.cancelling():
            transport.abort()  # the attempt was given up while it succeeded
            return
        self._transport = transport
        self._is_established = True
        transport.writelines(self._unsent)
        self._unsent.clear()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._owner.ended(self)

    @override
    def data_received(self, data: bytes) -> None:
        assert self._transport is not None, "bytes come over a connection that was made"
        try:
            self._answers.extend(self._splitter.feed(data))
            self._take_answers()
        except WireError:
            self._transport.abort()

    def _take_answers(self) -> None:
        """Report the answers in order, up to a large answer in the thread."""
        while self._answers and not self._is_decoding:
            payload = self._answers.popleft()
            if len(payload) < CORRELATION_ID_BYTES:
                raise WireError(f"an answer of {len(payload)} bytes")
            correlation_id = int.from_bytes(payload[:CORRELATION_ID_BYTES], "big", signed=True)
            request = self._sent.pop(correlation_id, None)
            if request is not None and len(payload) > LARGE_BYTES:
                self._decode_apart(correlation_id, request, payload)
            else:
                read = partial(_decode, payload=payload)
                self._owner.answered(self, correlation_id, read)

    def _decode_apart(self, correlation_id: int, request: Send | Forward, payload: bytes) -> None:
        """Decode a large answer in a thread; the event loop serves other connections meanwhile."""

        def decoded(future: asyncio.Future[Message | None]) -> None:
            self._is_decoding = False
            if future.cancelled() or self._transport is None or self._transport.is_closing():
                return
            self._owner.answered(self, correlation_id, lambda _: future.result())
            self.data_received(b"")

        self._is_decoding = True
        loop = asyncio.get_running_loop()
        loop.run_in_executor(None, _decode, request, payload).add_done_callback(decoded)


class PeerTransport(Transport[PeerSocket]):
    """Connections to the voters' controller listeners, and to the brokers' inter-broker listeners.

    Voters are configured; the addresses of brokers come from the last published image.
    """

    __slots__ = (
        "_client_id",
        "_hosts",
        "_inter_broker_listener",
        "_principals",
        "_voters",
        "image",
    )

    def __init__(
        self,
        config: NodeConfig,
        hosts: Mapping[str, str],
        inter_broker_listener: str,
        principals: PrincipalBuilder = DEFAULT_PRINCIPALS,
    ) -> None:
        self._principals = principals
        self._client_id = f"node-{config.node_id}"
        self._hosts = hosts
        self._inter_broker_listener = inter_broker_listener
        self._voters = {voter.node_id: voter for voter in config.voters}
        self.image = EMPTY_IMAGE

    @override
    def connect(
        self,
        destination: NodeId,
        owner: ConnectionOwner[PeerSocket, Send | Forward],
        *,
        is_to_broker: bool,
    ) -> PeerSocket:
        connection = PeerSocket(owner, self._client_id, self._principals)
        address = self._broker(destination) if is_to_broker else self._voters[destination]
        if address is None:
            asyncio.get_running_loop().call_soon(owner.ended, connection)
        else:
            connection.open(self._hosts.get(address.host, address.host), address.port)
        return connection

    def _broker(self, destination: NodeId) -> BrokerEndpoint | None:
        """Return the address of a broker's listener; None for an unknown broker or listener."""
        broker = self.image.brokers.get(destination)
        endpoints = () if broker is None else broker.endpoints
        named = (each for each in endpoints if each.name == self._inter_broker_listener)
        return next(named, None)

    @override
    def send(self, connection: PeerSocket, correlation_id: int, request: Send | Forward) -> None:
        connection.send(correlation_id, request)


def _encode(
    request: Send | Forward,
    correlation_id: int,
    client_id: str,
    principals: PrincipalBuilder = DEFAULT_PRINCIPALS,
) -> bytes:
    message: Message
    if isinstance(request, Forward):
        message, version = wrap_request(request, principals), ENVELOPE_VERSION
    else:
        message, version = request.message, request.version
    header = RequestHeader(
        api_key=message.API_KEY,
        version=version,
        correlation_id=correlation_id,
        client_id=client_id,
    )
    header_version, _ = header_versions(header.api_key, version)
    return frame(encode_request_header(header, header_version), encode_request(message, version))


def _decode(request: Send | Forward, payload: bytes) -> Message | None:
    """Return the answer to the request, or None if the bytes are anything else."""
    try:
        if not isinstance(request, Forward):
            return _response(payload, request.message.API_KEY, request.version)
        envelope = _response(payload, EnvelopeRequest.API_KEY, ENVELOPE_VERSION)
        assert isinstance(envelope, EnvelopeResponse), "the key says so"
        return open_response(envelope, request)
    except WireError:
        return None


def _response(payload: bytes, api_key: int, version: int) -> Message:
    _, body = split_response(payload, api_key, version)
    return decode_response(api_key, version, body)
