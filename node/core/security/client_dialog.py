"""Log in at another node: the requests of a client in their order (KIP-43, KIP-152)."""

from typing import Final

from kraftproof.node.core.security.login_error import LoginError
from kraftproof.node.core.security.login_policy import ClientLogin
from kraftproof.node.core.security.mechanisms import PLAIN
from kraftproof.node.core.security.plain import plain_message
from kraftproof.node.core.security.scram import ScramClientLogin
from kraftproof.node.wire.errors import ErrorCode, error_name
from kraftproof.node.wire.messages import (
    Message,
    sasl_authenticate_request,
    sasl_authenticate_response,
    sasl_handshake_request,
    sasl_handshake_response,
)

HANDSHAKE_VERSION: Final = 1
"""The version of SaslHandshake after which the messages have headers."""
AUTHENTICATE_VERSION: Final = 2


class ClientDialog:
    """One login, from the handshake to the last answer."""

    __slots__ = ("_login", "_scram", "is_complete", "lifetime_ms")

    def __init__(self, login: ClientLogin, nonce: str | None = None) -> None:
        """Begin; without a nonce, SCRAM draws one."""
        self._login = login
        self._scram = (
            None
            if login.mechanism == PLAIN
            else ScramClientLogin(
                login.mechanism,
                login.username,
                login.password,
                is_token=login.is_token,
                nonce=nonce,
            )
        )
        self.is_complete = False
        self.lifetime_ms = 0
        """The time after which the client must log in again; 0 for no limit."""

    def start(self) -> tuple[Message, int]:
        """Return the first request and its version."""
        mechanism = self._login.mechanism
        return sasl_handshake_request.SaslHandshakeRequest(mechanism=mechanism), HANDSHAKE_VERSION

    def answered(self, message: Message) -> tuple[Message, int] | None:
        """Return the next request and its version; None at the end of the login.

        Raises:
            LoginError: the login failed.
        """
        match message:
            case sasl_handshake_response.SaslHandshakeResponse(error_code=ErrorCode.NONE):
                return _authenticate(self._first())
            case sasl_authenticate_response.SaslAuthenticateResponse(error_code=ErrorCode.NONE):
                self.lifetime_ms = message.session_lifetime_ms
                following = None
                if self._scram is not None:
                    following = self._scram.receive(message.auth_bytes)
                if following is not None:
                    return _authenticate(following)
                self.is_complete = True
                return None
            case sasl_handshake_response.SaslHandshakeResponse():
                offered = ", ".join(message.mechanisms) or "none"
                raise LoginError(f"{error_name(message.error_code)}: the node offers {offered}")
            case sasl_authenticate_response.SaslAuthenticateResponse():
                raise LoginError(f"{error_name(message.error_code)}: {message.error_message}")
            case _:
                raise LoginError(f"{type(message).__name__} is no answer to a login")

    def _first(self) -> bytes:
        if self._scram is not None:
            return self._scram.first()
        return plain_message(self._login.username, self._login.password)


def _authenticate(data: bytes) -> tuple[Message, int]:
    request = sasl_authenticate_request.SaslAuthenticateRequest(auth_bytes=data)
    return request, AUTHENTICATE_VERSION
