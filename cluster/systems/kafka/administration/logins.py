"""Logins of the harness with SCRAM: as a user, or with a delegation token (KIP-84, KIP-48)."""

import re
from random import Random
from typing import Final

from msgspec import Struct

from kraftproof.cluster.connection import Connection, ConnectionFailed, OutcomeUnknown
from kraftproof.cluster.protocol import Cluster
from kraftproof.cluster.systems.kafka.connection import SASL_PORT, connect
from kraftproof.node.core.base.secret import Secret
from kraftproof.node.core.security.client_dialog import ClientDialog
from kraftproof.node.core.security.login_error import LoginError
from kraftproof.node.core.security.login_policy import ClientLogin
from kraftproof.node.core.security.scram import token_password
from kraftproof.node.wire.messages import sasl_authenticate_response
from kraftproof.node.wire.schema import Message

MECHANISM: Final = "SCRAM-SHA-256"
MECHANISM_NUMBER: Final = 1
_ITERATIONS: Final = re.compile(rb"(?:^|,)i=([0-9]+)")
_NONCE_BITS: Final = 120


class LoginResult(Struct, frozen=True):
    """The result of a login, and the iterations that the node named."""

    is_accepted: bool
    iterations: int | None


def password_of(user: str) -> str:
    """Return the password that a workload gives to a user of its own."""
    return f"password of {user}"


def user_login(user: str, password: str) -> ClientLogin:
    """Return the login of a user."""
    return ClientLogin(mechanism=MECHANISM, username=user, password=Secret(password))


def token_login(token_id: str, secret: str) -> ClientLogin:
    """Return the login with a token, whose password follows from the secret of the cluster."""
    password = Secret(token_password(Secret(secret), token_id))
    return ClientLogin(mechanism=MECHANISM, username=token_id, password=password, is_token=True)


async def log_in(
    connection: Connection[Message], login: ClientLogin, random: Random, timeout_ns: int
) -> LoginResult:
    """Log in over a new connection; a refused login ends the connection.

    Raises:
        ConnectionFailed: the connection is closed.
        OutcomeUnknown: an answer is missing.
    """
    dialog = ClientDialog(login, nonce=f"{random.getrandbits(_NONCE_BITS):x}")
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
        except LoginError:
            connection.close()
            return LoginResult(is_accepted=False, iterations=iterations)
    return LoginResult(is_accepted=True, iterations=iterations)


async def connect_as(
    cluster: Cluster, node_id: int, login: ClientLogin, random: Random, timeout_ns: int
) -> tuple[Connection[Message], LoginResult]:
    """Open a connection to the SASL listener of a broker, and log in.

    Raises:
        ConnectionFailed: the node can't be reached.
        OutcomeUnknown: an answer is missing.
    """
    connection = await connect(cluster, node_id, timeout_ns, port=SASL_PORT)
    try:
        return connection, await log_in(connection, login, random, timeout_ns)
    except (ConnectionFailed, OutcomeUnknown):
        connection.close()
        raise
