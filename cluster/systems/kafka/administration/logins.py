"""Logins of the harness with SCRAM: as a user, or with a delegation token (KIP-84, KIP-48)."""

from random import Random
from typing import Final

from kraftproof.cluster.connection import Connection, ConnectionFailed, OutcomeUnknown
from kraftproof.cluster.protocol import Cluster
from kraftproof.cluster.systems.kafka.connection import SASL_PORT, connect
from kraftproof.cluster.systems.kafka.login import LoginResult, try_login
from kraftproof.node.core.base.secret import Secret
from kraftproof.node.core.security.login_policy import ClientLogin
from kraftproof.node.core.security.scram import token_password
from kraftproof.node.wire.schema import Message

MECHANISM: Final = "SCRAM-SHA-256"
MECHANISM_NUMBER: Final = 1
_NONCE_BITS: Final = 120


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
        nonce = f"{random.getrandbits(_NONCE_BITS):x}"
        return connection, await try_login(connection, login, timeout_ns, nonce)
    except (ConnectionFailed, OutcomeUnknown):
        connection.close()
        raise
