"""Base of the clients that log in: an administrator's connection, and connections of users.

The administrator's connection is plain and of a super user. A connection of a user goes to the
SASL listener of the same broker, and is kept until an answer is missing.
"""

import hashlib
from abc import abstractmethod
from random import Random
from typing import Final

from typing_extensions import override

from kraftproof.cluster.connection import Connection, ConnectionFailed, OutcomeUnknown
from kraftproof.cluster.protocol import Cluster
from kraftproof.cluster.systems.kafka.administration.logins import (
    MECHANISM_NUMBER,
    connect_as,
    password_of,
    user_login,
)
from kraftproof.cluster.systems.kafka.client import (
    OPERATION_TIMEOUT_NS,
    KafkaClient,
    answered,
    first_of,
)
from kraftproof.cluster.systems.kafka.login import LoginResult
from kraftproof.cluster.systems.system import Completion, Outcome, Value
from kraftproof.node.core.security.login_policy import ClientLogin
from kraftproof.node.core.security.mechanisms import MIN_ITERATIONS
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    alter_user_scram_credentials_request,
    alter_user_scram_credentials_response,
)
from kraftproof.node.wire.schema import Message

Altered = alter_user_scram_credentials_response.AlterUserScramCredentialsResponse
ALTER_VERSION: Final = 0
_SALT_BYTES: Final = 16
_HASH: Final = "sha256"
"""The hash of the mechanism."""


class SecureClient(KafkaClient):
    """One broker, as an administrator and as users."""

    def __init__(self, cluster: Cluster, random: Random) -> None:
        brokers = [node.node_id for node in cluster.nodes if node.has("broker")]
        super().__init__(cluster, brokers, random)
        self._random = Random(f"{random.random()}")
        self._as_user: dict[str, Connection[Message]] = {}
        """The open connections of users, by the name of the login."""

    @override
    async def invoke(self, f: str, key: str, value: Value) -> Completion:
        completion: Completion | None
        try:
            if f in {"final", "await"}:
                self._turn_away()
                await self.open()
            if f == "await":
                completion = await self._seen(key)
            else:
                completion = await self._as_a_user(f, key, value)
        except ConnectionFailed as error:
            self._turn_away()
            return Completion(outcome=Outcome.FAIL, error=str(error), connected=False)
        except OutcomeUnknown as error:
            self._turn_away()
            return Completion(outcome=self.errors.of_silence(f), error=str(error), connected=False)
        return await super().invoke(f, key, value) if completion is None else completion

    @override
    def close(self) -> None:
        for connection in self._as_user.values():
            connection.close()
        self._as_user.clear()
        super().close()

    @abstractmethod
    async def _as_a_user(self, f: str, key: str, value: Value) -> Completion | None:
        """Do an operation of a user; None leaves the operation to the administrator."""

    async def _seen(self, user: str) -> Completion:
        """Return ok once the broker knows the prepared credential of a user."""
        result = await self._log_in(user_login(user, password_of(user)))
        if result.is_accepted:
            return answered("seen")
        return Completion(outcome=Outcome.FAIL, error="the broker does not know the user yet")

    def _prepared(self, user: str) -> tuple[Message, int]:
        """Return the request that sets the credential of a user of the workload."""
        return self._credential(user, password_of(user)), ALTER_VERSION

    async def _log_in(self, login: ClientLogin) -> LoginResult:
        """Try a login on a connection of its own."""
        node = self._nodes[self._place]
        connection, result = await connect_as(
            self._cluster, node, login, self._random, OPERATION_TIMEOUT_NS
        )
        connection.close()
        return result

    async def _call_as(self, login: ClientLogin, message: Message, version: int) -> Message:
        """Send a request of a user.

        Raises:
            ConnectionFailed: the login is refused, or the node can't be reached.
            OutcomeUnknown: the answer is missing.
        """
        connection = self._as_user.get(login.username)
        if connection is None:
            node = self._nodes[self._place]
            connection, result = await connect_as(
                self._cluster, node, login, self._random, OPERATION_TIMEOUT_NS
            )
            if not result.is_accepted:
                raise ConnectionFailed(f"broker {node} refuses the login of {login.username}")
            self._as_user[login.username] = connection
        return await connection.call(message, version, OPERATION_TIMEOUT_NS)

    def _credential(self, user: str, password: str, iterations: int = MIN_ITERATIONS) -> Message:
        """Return the request that sets a credential with a drawn salt."""
        module = alter_user_scram_credentials_request
        salt = self._random.randbytes(_SALT_BYTES)
        salted = hashlib.pbkdf2_hmac(_HASH, password.encode(), salt, iterations)
        upsertion = module.ScramCredentialUpsertion(
            name=user,
            mechanism=MECHANISM_NUMBER,
            iterations=iterations,
            salt=salt,
            salted_password=salted,
        )
        return module.AlterUserScramCredentialsRequest(deletions=(), upsertions=(upsertion,))

    def _altered(self, f: str, answer: Altered) -> Completion:
        code = first_of(answer.results).error_code
        return answered("altered") if code == ErrorCode.NONE else self._refused(f, code)
