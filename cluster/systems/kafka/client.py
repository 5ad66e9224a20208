"""Base of the clients over Kafka's protocol: a connection, and the operations lost with it.

Each operation is one request over the one open connection, never repeated. After a lost
connection, and after a controller that says it is not the active one, the next connection goes to
the next node. Not: the requests (topics.py, registration.py).
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from random import Random
from typing import ClassVar, Final, TypeVar

from typing_extensions import override

from kraftproof.cluster.connection import Connection, ConnectionFailed, OutcomeUnknown
from kraftproof.cluster.protocol import Cluster
from kraftproof.cluster.systems.errors import ErrorTable
from kraftproof.cluster.systems.kafka.connection import PORT, connect
from kraftproof.cluster.systems.kafka.errors import error_name
from kraftproof.cluster.systems.system import Client, Completion, Outcome, Value
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.schema import Message

T = TypeVar("T")

OPERATION_TIMEOUT_NS: Final = 2_000_000_000
OPERATION_TIMEOUT_MS: Final = OPERATION_TIMEOUT_NS // 1_000_000


class KafkaClient(Client, ABC):
    """The connection and its outcome; subclasses know the requests, those of a system its errors.

    Attributes:
        errors: What the errors of the system say about an operation.
        port: The name of the nodes' port for these requests.
    """

    errors: ClassVar[ErrorTable]
    port: ClassVar[str] = PORT

    def __init__(self, cluster: Cluster, nodes: Sequence[int], random: Random) -> None:
        self._cluster = cluster
        self._nodes = list(nodes)
        random.shuffle(self._nodes)
        self._place = 0
        self._connection: Connection[Message] | None = None

    @property
    @override
    def node(self) -> int | None:
        return self._nodes[self._place]

    @override
    async def open(self) -> None:
        if self._connection is not None:
            return
        node_id = self._nodes[self._place]
        try:
            self._connection = await connect(
                self._cluster, node_id, OPERATION_TIMEOUT_NS, port=self.port
            )
        except ConnectionFailed:
            self._turn_away()
            raise

    @override
    async def invoke(self, f: str, key: str, value: Value) -> Completion:
        connection = self._connection
        assert connection is not None, "open the client first"
        message, version = self._request(f, key, value)
        try:
            answer = await connection.call(message, version, OPERATION_TIMEOUT_NS)
            completion = self._completion(f, answer)
        except ConnectionFailed as error:
            self._turn_away()
            return Completion(outcome=Outcome.FAIL, error=str(error), connected=False)
        except OutcomeUnknown as error:
            self._turn_away()
            return Completion(outcome=self.errors.of_silence(f), error=str(error), connected=False)
        if completion.error == ErrorCode.NOT_CONTROLLER.name:
            self._next_node_if_controller()
        return completion

    @override
    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _refused(self, f: str, error_code: int) -> Completion:
        """Return the completion of an error that is no observation."""
        return Completion(outcome=self.errors.of(f, error_code), error=error_name(error_code))

    def _next_node_if_controller(self) -> None:
        """A broker forwards to whoever leads, so only clients of controllers move on."""

    def _turn_away(self) -> None:
        self.close()
        self._place = (self._place + 1) % len(self._nodes)

    @abstractmethod
    def _request(self, f: str, key: str, value: Value) -> tuple[Message, int]:
        """Return the request of an operation and its version."""

    @abstractmethod
    def _completion(self, f: str, answer: Message) -> Completion:
        """Return what the answer says."""


def first_of(parts: Sequence[T]) -> T:
    """Return the part of an answer that a request with one part has asked for.

    Raises:
        OutcomeUnknown: the answer has no part, as an answer of Kafka 3.7.0 to a Metadata request
            for the id of a topic had under kills and pauses.
    """
    if not parts:
        raise OutcomeUnknown("the answer lacks the part that was asked for")
    return parts[0]


def answered(outcome: str, **fields: object) -> Completion:
    """Return an ok with this outcome in its value."""
    return Completion(outcome=Outcome.OK, value={"outcome": outcome, **fields})
