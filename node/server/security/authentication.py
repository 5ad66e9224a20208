"""Take the frames of a login on a connection: order, times and errors (KIP-43, KIP-152, KIP-368).

Before the end of the login a client may send one ApiVersions, one SaslHandshake, and the messages
of the mechanism; anything else ends the connection. The decisions are in node/core/security.
"""

import asyncio
import secrets
from collections.abc import Callable, Mapping
from enum import Enum
from typing import Final

from msgspec import Struct
from typing_extensions import override

from kraftproof.node.core.base.types import (
    NANOSECONDS_PER_MS,
    Instant,
    Monotonic,
    Offset,
    milliseconds,
)
from kraftproof.node.core.broker.answers import api_versions
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.core.security.login_error import LoginError
from kraftproof.node.core.security.login_policy import LoginPolicy
from kraftproof.node.core.security.sasl_state import RAW_TOKENS, LoginStep, SaslSession
from kraftproof.node.server.connection import Connection, Login, Slot
from kraftproof.node.server.requests import Request, answer_frame, parse_request
from kraftproof.node.wire.errors import ErrorCode, WireError
from kraftproof.node.wire.frames import frame
from kraftproof.node.wire.messages.generated.api_versions_request import ApiVersionsRequest
from kraftproof.node.wire.messages.generated.sasl_authenticate_request import (
    SaslAuthenticateRequest,
)
from kraftproof.node.wire.messages.generated.sasl_authenticate_response import (
    SaslAuthenticateResponse,
)
from kraftproof.node.wire.messages.generated.sasl_handshake_request import SaslHandshakeRequest
from kraftproof.node.wire.messages.generated.sasl_handshake_response import SaslHandshakeResponse
from kraftproof.node.wire.principal import Principal
from kraftproof.node.wire.schema import Message

LOGIN_KEYS: Final = frozenset(
    request.API_KEY
    for request in (ApiVersionsRequest, SaslHandshakeRequest, SaslAuthenticateRequest)
)
LEAST_REAUTHENTICATION_NS: Final = milliseconds(1000)
"""Minimum time between two logins on a connection, as in Kafka."""
_NANOSECONDS_PER_SECOND: Final = 1_000_000_000
_KEY_BYTES: Final = 2


class LoginState(Enum):
    """The progress of a login."""

    BEGIN = "begin"
    VERSIONS_KNOWN = "versions known"
    MESSAGES = "messages"
    COMPLETE = "complete"
    FAILED = "failed"


class LoginContext(Struct, frozen=True, kw_only=True):
    """The surroundings of the logins of a listener.

    Attributes:
        policy: The rules of the listener.
        is_controller: Whether the listener is a controller's.
        served: Returns the API versions that the listener advertises at present.
        published: Returns the committed image that the node has published, and its offset.
        now: Reads the clocks.
        failed_delay_ms: The pause before a failed login is answered.
        on_login: Told the principal at the end of a login.
        draw_nonce: Returns a nonce that never repeats.
    """

    policy: LoginPolicy
    is_controller: bool
    served: Callable[[], Mapping[int, tuple[int, int]]]
    published: Callable[[], tuple[MetadataImage, Offset]]
    now: Callable[[], Instant]
    failed_delay_ms: int
    on_login: Callable[[Connection, Principal], None]
    draw_nonce: Callable[[], str] = lambda: secrets.token_urlsafe(24)


class Authenticator(Login):
    """The login of one connection, and each later login on the connection."""

    __slots__ = ("_connection", "_context", "_ends", "_has_headers", "_session", "_since", "_state")

    def __init__(self, connection: Connection, context: LoginContext) -> None:
        self._connection = connection
        self._context = context
        self._state = LoginState.BEGIN
        self._session = SaslSession(context.policy, context.draw_nonce)
        self._has_headers = True
        """Whether the messages of the mechanism have headers (SaslHandshake from version 1)."""
        self._ends: Monotonic | None = None
        """The end of the session; later requests end the connection."""
        self._since = Monotonic(0)
        """The time of the last complete login."""

    @override
    def takes(self, payload: bytes) -> bool:
        if self._state is not LoginState.COMPLETE:
            return True
        if _key(payload) == SaslHandshakeRequest.API_KEY and self._has_headers:
            now = self._context.now().monotonic
            return now - self._since >= LEAST_REAUTHENTICATION_NS
        if self._ends is not None and self._context.now().monotonic > self._ends:
            raise WireError("the session is over, and the client has not logged in again")
        return False

    @override
    def receive(self, payload: bytes, slot: Slot) -> None:
        if self._state is LoginState.MESSAGES and not self._has_headers:
            self._take_token(payload, slot, None)
            return
        key = _key(payload)
        if key not in LOGIN_KEYS:
            raise WireError(f"api key {key} before the end of the login")
        request = parse_request(payload, on_controller_listener=self._context.is_controller)
        if isinstance(request, bytes):
            slot.respond(request)  # the versions of ApiVersions that would do
            return
        match request.message:
            case ApiVersionsRequest():
                self._answer_versions(request, slot)
            case SaslHandshakeRequest():
                self._shake_hands(request, request.message, slot)
            case SaslAuthenticateRequest():
                self._take_message(request, request.message, slot)
            case _:
                raise AssertionError("the key says so")

    def _answer_versions(self, request: Request, slot: Slot) -> None:
        if self._state is not LoginState.BEGIN:
            raise WireError("a second ApiVersions, or one after SaslHandshake")
        self._state = LoginState.VERSIONS_KNOWN
        image, offset = self._context.published()
        assert isinstance(request.message, ApiVersionsRequest), "the caller has looked"
        answer = api_versions(
            image,
            offset,
            request.message,
            request.header.version,
            self._context.served(),
        )
        slot.respond(answer_frame(request, answer, None))

    def _shake_hands(self, request: Request, message: SaslHandshakeRequest, slot: Slot) -> None:
        if self._state is LoginState.MESSAGES:
            self._fail(slot, request, _illegal(message))
            return
        if self._state is LoginState.COMPLETE:
            self._begin_again(message.mechanism)
        answer = self._session.handshake(message.mechanism)
        if answer.error_code:
            self._fail(slot, request, answer)
            return
        self._state = LoginState.MESSAGES
        self._has_headers = request.header.version != RAW_TOKENS
        slot.respond(answer_frame(request, answer, None))

    def _begin_again(self, mechanism: str) -> None:
        """Begin a new login; the mechanism must stay the same (KIP-368)."""
        before = self._session
        if mechanism != before.mechanism:
            raise WireError("a client logs in again with another mechanism")
        self._session = SaslSession(self._context.policy, self._context.draw_nonce)

    def _take_message(self, request: Request, message: SaslAuthenticateRequest, slot: Slot) -> None:
        if self._state is not LoginState.MESSAGES:
            raise WireError("SaslAuthenticate before SaslHandshake")
        self._take_token(message.auth_bytes, slot, request)

    def _take_token(self, data: bytes, slot: Slot, request: Request | None) -> None:
        """Take a message of the mechanism; `request` is None for a message without header."""
        image, _ = self._context.published()
        now = self._context.now()
        try:
            step = self._session.receive(data, image, now)
        except LoginError as error:
            self._fail(slot, request, _failure(str(error)))
            return
        if step.principal is not None and not self._complete(step, step.principal, now):
            raise WireError("a client logs in again as somebody else")
        if request is None:
            slot.respond(frame(step.answer))
            return
        answer = SaslAuthenticateResponse(
            auth_bytes=step.answer, session_lifetime_ms=step.lifetime_ms
        )
        slot.respond(answer_frame(request, answer, None))

    def _complete(self, step: LoginStep, principal: Principal, now: Instant) -> bool:
        """End the login; return False for another principal than before."""
        if self._since and principal != self._connection.principal:
            return False
        self._state = LoginState.COMPLETE
        self._since = now.monotonic
        self._ends = None
        if step.lifetime_ms:
            self._ends = Monotonic(now.monotonic + step.lifetime_ms * NANOSECONDS_PER_MS)
        self._context.on_login(self._connection, principal)
        return True

    def _fail(self, slot: Slot, request: Request | None, answer: Message) -> None:
        """Answer after a pause, which slows down guessing, and end the connection."""
        self._state = LoginState.FAILED
        connection = self._connection
        connection.hold()

        def answer_and_close() -> None:
            if request is not None:
                slot.respond(answer_frame(request, answer, None))
            connection.close()

        delay_s = milliseconds(self._context.failed_delay_ms) / _NANOSECONDS_PER_SECOND
        asyncio.get_running_loop().call_later(delay_s, answer_and_close)


def _key(payload: bytes) -> int:
    return int.from_bytes(payload[:_KEY_BYTES], "big", signed=True) if payload else -1


def _failure(reason: str) -> SaslAuthenticateResponse:
    return SaslAuthenticateResponse(
        error_code=ErrorCode.SASL_AUTHENTICATION_FAILED, error_message=reason
    )


def _illegal(_: SaslHandshakeRequest) -> SaslHandshakeResponse:
    return SaslHandshakeResponse(error_code=ErrorCode.ILLEGAL_SASL_STATE)
