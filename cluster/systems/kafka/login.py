"""Log the harness's clients in at clusters whose listeners ask for a login (KIP-43, KIP-152)."""

from typing import Protocol, runtime_checkable

from kraftproof.cluster.connection import Connection, ConnectionFailed, OutcomeUnknown
from kraftproof.node.core.security.client_dialog import ClientDialog
from kraftproof.node.core.security.login_error import LoginError
from kraftproof.node.core.security.login_policy import ClientLogin
from kraftproof.node.wire.schema import Message


@runtime_checkable
class AsksForLogin(Protocol):
    """A cluster whose listeners may ask for a login."""

    @property
    def login(self) -> object | None:
        """Return the credentials of the harness; None without a login."""
        ...


async def log_in(connection: Connection[Message], login: ClientLogin, timeout_ns: int) -> None:
    """Log in on a new connection, as every client of Kafka does first.

    Raises:
        ConnectionFailed: the login is refused or has no answer; nothing else was sent.
    """
    dialog = ClientDialog(login)
    following: tuple[Message, int] | None = dialog.start()
    try:
        while following is not None:
            message, version = following
            following = dialog.answered(await connection.call(message, version, timeout_ns))
    except (LoginError, OutcomeUnknown) as error:
        connection.close()
        raise ConnectionFailed(f"login as {login.username}: {error}") from error
