"""Log in at other nodes: the frames of this node's own logins, and its TLS context."""

from typing import Final

from kraftproof.node.core.security.client_dialog import ClientDialog
from kraftproof.node.core.security.login_policy import ClientLogin
from kraftproof.node.properties.listener_security import PLAINTEXT_PEERS, PeerSecurity
from kraftproof.node.properties.tls_contexts import client_context
from kraftproof.node.server.console import say
from kraftproof.node.wire.codec import decode_response, encode_request, header_versions
from kraftproof.node.wire.frames import frame
from kraftproof.node.wire.headers import RequestHeader, encode_request_header, split_response
from kraftproof.node.wire.schema import Message

LOGIN_ID: Final = -1
"""The correlation id of the requests of a login; those of the node count from 0."""
CLIENT_ID: Final = "kraft-login"


class PeerLogin:
    """The frames of one login."""

    __slots__ = ("_asked", "_dialog")

    def __init__(self, login: ClientLogin) -> None:
        self._dialog = ClientDialog(login)
        self._asked: tuple[Message, int] = self._dialog.start()

    @property
    def lifetime_ms(self) -> int:
        """Return the time after which the node must log in again; 0 for no limit."""
        return self._dialog.lifetime_ms

    def first(self) -> bytes:
        """Return the first frame."""
        return self._frame()

    def answered(self, payload: bytes) -> bytes | None:
        """Return the frame that follows an answer; None at the end of the login.

        Raises:
            LoginError: the login failed.
            WireError: the bytes are no answer.
        """
        message, version = self._asked
        _, body = split_response(payload, message.API_KEY, version)
        following = self._dialog.answered(decode_response(message.API_KEY, version, body))
        if following is None:
            return None
        self._asked = following
        return self._frame()

    def _frame(self) -> bytes:
        message, version = self._asked
        header = RequestHeader(
            api_key=message.API_KEY,
            version=version,
            correlation_id=LOGIN_ID,
            client_id=CLIENT_ID,
        )
        header_version, _ = header_versions(message.API_KEY, version)
        return frame(
            encode_request_header(header, header_version), encode_request(message, version)
        )


class PeerCredentials:
    """The security of connections to one kind of listeners."""

    __slots__ = ("_failed", "_login", "tls")

    def __init__(self, security: PeerSecurity = PLAINTEXT_PEERS) -> None:
        """Make the TLS context.

        Raises:
            ConfigError: the key does not fit its certificate, or a text is no PEM.
        """
        self._login = security.login
        self.tls = None if security.tls is None else client_context(security.tls)
        self._failed = 0

    def begin(self) -> PeerLogin | None:
        """Return a new login; None for a listener without logins."""
        return None if self._login is None else PeerLogin(self._login)

    def report(self, reason: str) -> None:
        """Say at 1, 10, 100 and so on that a connection has failed for its security."""
        self._failed += 1
        if str(self._failed).strip("0") == "1":
            say(f"{self._failed} connections to other nodes failed, this one {reason}")
