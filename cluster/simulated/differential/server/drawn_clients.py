"""Frames of clients at a listener, and the model of one client's connection."""

import asyncio
from random import Random
from typing import Final

from msgspec import Struct
from typing_extensions import override

from kraftproof.cluster.simulated.differential.server.virtual_loop import VirtualLoop, VirtualSocket
from kraftproof.node.core.base.config import QuotaPolicy
from kraftproof.node.core.base.secret import Secret
from kraftproof.node.core.base.security import SecurityProtocol
from kraftproof.node.core.base.types import Monotonic, milliseconds
from kraftproof.node.core.quotas.connection_rates import ConnectionRates
from kraftproof.node.core.security.login_policy import LoginPolicy
from kraftproof.node.properties.listener_security import ListenerSecurity
from kraftproof.node.server.connection import Slot
from kraftproof.node.wire import codec, headers
from kraftproof.node.wire.frames import frame
from kraftproof.node.wire.messages import (
    Message,
    api_versions_request,
    metadata_request,
    sasl_authenticate_request,
    sasl_handshake_request,
)

VERSIONS: Final = api_versions_request.ApiVersionsRequest()
METADATA: Final = metadata_request.MetadataRequest(topics=())
_VERSION_OF: Final = {
    api_versions_request.ApiVersionsRequest: 0,
    metadata_request.MetadataRequest: 9,
    sasl_handshake_request.SaslHandshakeRequest: 1,
    sasl_authenticate_request.SaslAuthenticateRequest: 2,
}
SIZE_BYTES: Final = 4
USERS: Final = {"ann": "secret of ann", "bob": "secret of bob"}
PLAIN, OTHER = "PLAIN", "SCRAM-SHA-256"
LOGIN_BYTES: Final = 200
"""Largest frame before the login."""
PROVING_NS: Final = milliseconds(30_000)
"""Time in which a client must log in."""
NEVER_NS: Final = 1 << 62


def with_logins(reauth_ms: int) -> ListenerSecurity:
    """Return the security of a listener that asks for a login, and maybe for later ones."""
    return ListenerSecurity(
        protocol=SecurityProtocol.SASL_PLAINTEXT,
        login=LoginPolicy(
            mechanisms=(PLAIN, OTHER),
            plain_users={user: Secret(password) for user, password in USERS.items()},
            max_receive_bytes=LOGIN_BYTES,
            max_reauth_ms=reauth_ms,
        ),
    )


def handshake(mechanism: str) -> Message:
    """Return a SaslHandshake."""
    return sasl_handshake_request.SaslHandshakeRequest(mechanism=mechanism)


def authenticate(user: str, password: str) -> Message:
    """Return a SaslAuthenticate of PLAIN."""
    data = f"\0{user}\0{password}".encode()
    return sasl_authenticate_request.SaslAuthenticateRequest(auth_bytes=data)


def framed(message: Message, client_id: str = "") -> bytes:
    """Return the frame of a request; a long client id makes a large frame."""
    version = _VERSION_OF[type(message)]
    header_version, _ = codec.header_versions(message.API_KEY, version)
    header = headers.RequestHeader(
        api_key=message.API_KEY, version=version, correlation_id=7, client_id=client_id
    )
    head = headers.encode_request_header(header, header_version)
    return frame(head, codec.encode_request(message, version))


class DrawnClient(Struct, kw_only=True):
    """A connection, and its state by the rules."""

    socket: VirtualSocket
    protocol: asyncio.Protocol
    opened_ns: int
    active_ns: int
    is_counted: bool = True
    """Whether the connection is among those of the listener; not above the rate of its address."""
    is_proven: bool = False
    user: str | None = None
    mechanism: str = ""
    logs_in: bool = False
    """Whether the messages of the mechanism are expected."""
    knows_versions: bool = False
    since_ns: int | None = None
    """The time of the last login."""
    session_ends_ns: int | None = None
    failed_at_ns: int | None = None
    """The time at which the connection ends after a failed login, or for its rate."""
    open: list[Slot] = []
    """The requests of the node without an answer."""
    is_over: bool = False

    @property
    def goes_on(self) -> bool:
        """Return whether the connection takes requests, now and later."""
        return not self.is_over and self.failed_at_ns is None

    def end_ns(self, *, has_login: bool) -> int:
        """Return the time of the end of the connection without further requests."""
        if self.is_over:
            return NEVER_NS
        is_unproven = has_login and not self.is_proven and self.is_counted
        proof_ns = self.opened_ns + PROVING_NS if is_unproven else NEVER_NS
        return min(proof_ns, NEVER_NS if self.failed_at_ns is None else self.failed_at_ns)

    def is_idle(self, since_ns: int) -> bool:
        """Return whether a listener may end the connection, which has rested since a time."""
        waits = bool(self.open) or self.failed_at_ns is not None
        return self.is_counted and not waits and self.active_ns <= since_ns

    def send(self, data: bytes, random: Random) -> None:
        """Send bytes in one piece, or in two."""
        cut = random.randrange(len(data)) if random.random() < 0.4 else 0
        for piece in filter(None, (data[:cut], data[cut:])):
            self.socket.receive(piece)

    def read(self, loop: VirtualLoop, message: Message) -> Message | None:
        """Return the answer to a request of a login, if there is one."""
        loop.run()
        written, self.socket.written = self.socket.written, b""
        if not written:
            return None
        version = _VERSION_OF[type(message)]
        _, body = headers.split_response(written[SIZE_BYTES:], message.API_KEY, version)
        return codec.decode_response(message.API_KEY, version, body)


class DrawnRates(ConnectionRates):
    """Rates of addresses that the comparison draws."""

    def __init__(self) -> None:
        super().__init__(QuotaPolicy())
        self.next_wait_ms = 0

    @override
    def wait_ms(self, host: str, now: Monotonic) -> int:
        return self.next_wait_ms
