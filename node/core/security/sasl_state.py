"""Follow the login of one connection: handshake, messages of the mechanism, principal (KIP-43).

The shell frames the messages and keeps the times; each step here is decided from the message, the
rules of the listener and the image.
"""

from collections.abc import Callable
from typing import Final

from msgspec import Struct

from kraftproof.node.core.base.types import NANOSECONDS_PER_MS, Instant
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.core.security.credentials import (
    is_expired,
    parse_principal,
    scram_credential,
    token_named,
    user_principal,
)
from kraftproof.node.core.security.login_error import LoginError
from kraftproof.node.core.security.login_policy import LoginPolicy
from kraftproof.node.core.security.mechanisms import PLAIN, SCRAM_NUMBERS
from kraftproof.node.core.security.plain import judge_plain
from kraftproof.node.core.security.scram import ScramKeys, ScramLogin, keys_of, token_keys
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import sasl_handshake_response
from kraftproof.node.wire.principal import Principal

RAW_TOKENS: Final = 0
"""The version of SaslHandshake after which the messages come without headers."""


class LoginStep(Struct, frozen=True, kw_only=True):
    """The result of one message of a mechanism."""

    answer: bytes = b""
    principal: Principal | None = None
    """The principal, at the end of the login."""
    lifetime_ms: int = 0
    """The time after which the client must log in again; 0 for no limit."""


class SaslSession:
    """The login of a connection; a failed login is never continued."""

    __slots__ = ("_draw_nonce", "_image", "_now", "_policy", "_scram", "mechanism", "principal")

    def __init__(self, policy: LoginPolicy, draw_nonce: Callable[[], str]) -> None:
        self._policy = policy
        self._draw_nonce = draw_nonce
        self._scram: ScramLogin | None = None
        self._image: MetadataImage | None = None
        self._now: Instant | None = None
        self.mechanism: str | None = None
        self.principal: Principal | None = None
        """The principal; None before the end of the login."""

    @property
    def login_name(self) -> str:
        """Return the name that a client of SCRAM claims; with a token, the id of the token."""
        return "" if self._scram is None else self._scram.user

    def handshake(self, mechanism: str) -> sasl_handshake_response.SaslHandshakeResponse:
        """Choose the mechanism; an unknown mechanism fails the login."""
        enabled = self._policy.mechanisms
        if mechanism not in enabled:
            error = ErrorCode.UNSUPPORTED_SASL_MECHANISM
            return sasl_handshake_response.SaslHandshakeResponse(
                error_code=error, mechanisms=enabled
            )
        self.mechanism = mechanism
        self._scram = None
        return sasl_handshake_response.SaslHandshakeResponse(mechanisms=enabled)

    def receive(self, data: bytes, image: MetadataImage, now: Instant) -> LoginStep:
        """Take a message of the mechanism.

        Raises:
            LoginError: the login failed.
        """
        assert self.mechanism is not None, "the handshake comes first"
        if self.mechanism == PLAIN:
            user = judge_plain(self._policy.plain_users, data)
            return self._complete(user_principal(user), None, b"", now)
        self._image, self._now = image, now
        scram = self._scram
        if scram is None:
            scram = ScramLogin(self.mechanism, self._draw_nonce(), self._find)
            self._scram = scram
        answer = scram.receive(data)
        if not scram.is_complete:
            return LoginStep(answer=answer)
        if not scram.is_token:
            return self._complete(user_principal(scram.user), None, answer, now)
        token = token_named(image, scram.user)
        owner = None if token is None else parse_principal(token.owner)
        if token is None or owner is None or is_expired(token, now.wall):
            raise LoginError("Authentication failed: the delegation token has expired")
        principal = Principal(type=owner.type, name=owner.name, token_authenticated=True)
        ends_ms = min(token.expiration_timestamp, token.max_timestamp)
        return self._complete(principal, ends_ms, answer, now)

    def _find(self, user: str, is_token: bool) -> ScramKeys | None:  # noqa: FBT001 - see FindKeys
        assert self._image is not None, "a message comes with an image"
        assert self._now is not None, "a message comes with the time"
        number = SCRAM_NUMBERS[self.mechanism or ""]
        if not is_token:
            credential = scram_credential(self._image, user, number)
            return None if credential is None else keys_of(credential)
        token, secret = token_named(self._image, user), self._policy.token_secret
        if token is None or secret is None or is_expired(token, self._now.wall):
            return None
        return token_keys(number, secret, token.token_id)

    def _complete(
        self, principal: Principal, ends_ms: int | None, answer: bytes, now: Instant
    ) -> LoginStep:
        self.principal = principal
        lifetime_ms = self._policy.max_reauth_ms
        if ends_ms is not None:
            # A lifetime of 0 would be no limit, also in the last millisecond of a token.
            left_ms = max(1, ends_ms - now.wall // NANOSECONDS_PER_MS)
            lifetime_ms = min(lifetime_ms, left_ms) if lifetime_ms else left_ms
        return LoginStep(answer=answer, principal=principal, lifetime_ms=lifetime_ms)
