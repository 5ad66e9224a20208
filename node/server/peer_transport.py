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
from kraftproof.node.core.security.login_error import LoginError
from kraftproof.node.server.large_messages import LARGE_BYTES
from kraftproof.node.server.peer_frames import decode_answer, encode_frame
from kraftproof.node.server.security.peer_credentials import (
    LOGIN_ID,
    PeerCredentials,
    PeerLogin,
)
from kraftproof.node.shell.ports import ConnectionOwner, PeerConnection, Transport
from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.frames import FrameSplitter
from kraftproof.node.wire.records.metadata import BrokerEndpoint
from kraftproof.node.wire.schema import Message

RENEWED_AT = 0.85
"""The part of a session's lifetime after which the node logs in again, as Kafka's clients do."""
MS_PER_S = 1000
CORRELATION_ID_BYTES = 4


class PeerSocket(asyncio.Protocol, PeerConnection):
    """One connection to a peer, from the attempt to its end."""

    __slots__ = (
        "_answers",
        "_attempt",
        "_client_id",
        "_credentials",
        "_is_decoding",
        "_is_established",
        "_login",
        "_owner",
        "_renewal",
        "_sent",
        "_splitter",
        "_transport",
        "_unsent",
    )

    def __init__(
        self,
        owner: "ConnectionOwner[PeerSocket, Send | Forward]",
        client_id: str,
        credentials: PeerCredentials,
    ) -> None:
        self._owner = owner
        self._client_id = client_id
        self._credentials = credentials
        self._login: PeerLogin | None = None
        """The login under way; requests wait for its end."""
        self._renewal: asyncio.TimerHandle | None = None
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

    def open(self, host: str, address: str, port: int) -> None:
        """Begin to connect to an address; the certificate must name the host."""
        connecting = self._connect(host, address, port)
        self._attempt = asyncio.get_running_loop().create_task(connecting)

    async def _connect(self, host: str, address: str, port: int) -> None:
        loop = asyncio.get_running_loop()
        tls = self._credentials.tls
        try:
            await loop.create_connection(
                lambda: self, address, port, ssl=tls, server_hostname=None if tls is None else host
            )
        # The errors of TLS are OSErrors, too; a name such as "a..b" has no encoding in DNS.
        except (OSError, ValueError) as error:
            self._attempt = None
            if tls is not None:
                self._credentials.report(f"{host}:{port}: {error}")
            self._owner.ended(self)

    def send(self, correlation_id: int, request: Send | Forward) -> None:
        """Send a request now, or as soon as the connection is established."""
        data = encode_frame(request, correlation_id, self._client_id)
        self._sent[correlation_id] = request
        if self._transport is None or self._login is not None:
            self._unsent.append(data)
        else:
            self._transport.write(data)

    @override
    def close(self) -> None:
        self._unsent.clear()
        if self._renewal is not None:
            self._renewal.cancel()
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
        self._begin_login()

    def _begin_login(self) -> None:
        """Log in, if the listener asks for a login, and send the requests that have waited."""
        self._login = self._credentials.begin()
        if self._login is None:
            self._end_login(0)
        else:
            self._write(self._login.first())

    def _end_login(self, lifetime_ms: int) -> None:
        assert self._transport is not None, "a login ends on a connection that was made"
        self._login = None
        self._is_established = True
        self._transport.writelines(self._unsent)
        self._unsent.clear()
        if lifetime_ms:
            delay_s = lifetime_ms * RENEWED_AT / MS_PER_S
            self._renewal = asyncio.get_running_loop().call_later(delay_s, self._begin_login)

    def _write(self, data: bytes) -> None:
        assert self._transport is not None, "bytes go over a connection that was made"
        self._transport.write(data)

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        if self._renewal is not None:
            self._renewal.cancel()
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
            if self._login is not None and correlation_id == LOGIN_ID:
                self._take_login_answer(self._login, payload)
                continue
            request = self._sent.pop(correlation_id, None)
            if request is not None and len(payload) > LARGE_BYTES:
                self._decode_apart(correlation_id, request, payload)
            else:
                read = partial(decode_answer, payload=payload)
                self._owner.answered(self, correlation_id, read)

    def _take_login_answer(self, login: PeerLogin, payload: bytes) -> None:
        """Continue the login; a failed login ends the connection."""
        try:
            following = login.answered(payload)
        except LoginError as error:
            self._credentials.report(str(error))
            raise WireError("the login has failed") from error
        if following is None:
            self._end_login(login.lifetime_ms)
        else:
            self._write(following)

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
        loop.run_in_executor(None, decode_answer, request, payload).add_done_callback(decoded)


class PeerTransport(Transport[PeerSocket]):
    """Connections to the voters' controller listeners, and to the brokers' inter-broker listeners.

    Voters are configured; the addresses of brokers come from the last published image.
    """

    __slots__ = (
        "_client_id",
        "_hosts",
        "_inter_broker_listener",
        "_to_brokers",
        "_to_controllers",
        "_voters",
        "image",
    )

    def __init__(
        self,
        config: NodeConfig,
        hosts: Mapping[str, str],
        inter_broker_listener: str,
        *,
        to_controllers: PeerCredentials | None = None,
        to_brokers: PeerCredentials | None = None,
    ) -> None:
        self._to_controllers = to_controllers or PeerCredentials()
        self._to_brokers = to_brokers or PeerCredentials()
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
        credentials = self._to_brokers if is_to_broker else self._to_controllers
        connection = PeerSocket(owner, self._client_id, credentials)
        address = self._broker(destination) if is_to_broker else self._voters[destination]
        if address is None:
            asyncio.get_running_loop().call_soon(owner.ended, connection)
        else:
            host = address.host
            connection.open(host, self._hosts.get(host, host), address.port)
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
