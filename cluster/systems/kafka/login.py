"""Log the harness's clients in at nodes whose listeners ask for a login (KIP-43, KIP-152)."""

import re
from typing import Final, Protocol, runtime_checkable

from msgspec import Struct

from kraftproof.cluster.connection import Connection, ConnectionFailed, OutcomeUnknown
from kraftproof.node.core.security.client_dialog import ClientDialog
from kraftproof.node.core.security.login_error import LoginError
from kraftproof.node.core.security.login_policy import ClientLogin
from kraftproof.node.wire.messages import sasl_authenticate_response
from kraftproof.node.wire.schema import Message

_ITERATIONS: Final = re.compile(rb"(?:^|,)i=([0-9]+)")


@runtime_checkable
class AsksForLogin(Protocol):
    """A cluster whose listeners may ask for a login."""

    @property
    def login(self) -> object | None:
        """Return the credentials of the harness; None without a login."""
        ...


class LoginResult(Struct, frozen=True):
    """The result of a login, and the iterations that the node named."""

    iterations: int | None
    refusal: str | None = None
    """The reason of a refused login."""

    @property
    def is_accepted(self) -> bool:
        """Return whether the node took the login."""
        return self.refusal is None


async def try_login(
    connection: Connection[Message], login: ClientLogin, timeout_ns: int, nonce: str | None = None
) -> LoginResult:
    """Log in over a new connection; a refused login ends the connection.

    Without a nonce, SCRAM draws one.

    Raises:
        ConnectionFailed: the connection is closed.
        OutcomeUnknown: an answer is missing.
    """
    dialog = ClientDialog(login, nonce=nonce)
    following: tuple[Message, int] | None = dialog.start()
    iterations: int | None = None
    while following is not None:
        message, version = following
        answer = await connection.call(message, version, timeout_ns)
        if isinstance(answer, sasl_authenticate_response.SaslAuthenticateResponse):
            named = _ITERATIONS.search(answer.auth_bytes)
            iterations = iterations if named is None else int(named[1])
        try:
            following = dialog.answered(answer)
        except LoginError as error:
            connection.close()
            return LoginResult(iterations, refusal=str(error))
    return LoginResult(iterations)


async def log_in(connection: Connection[Message], login: ClientLogin, timeout_ns: int) -> None:
    """Log in on a new connection, as every client of Kafka does first.

    Raises:
        ConnectionFailed: the login is refused or has no answer; nothing else was sent.
    """
    try:
        result = await try_login(connection, login, timeout_ns)
    except OutcomeUnknown as error:
        connection.close()
        raise ConnectionFailed(f"login as {login.username}: {error}") from error
    if result.refusal is not None:
        raise ConnectionFailed(f"login as {login.username}: {result.refusal}")
