"""One request of the comparison with real Kafka, as data. No tests here."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from kraftproof.node.wire.schema import Message
from kraftproof.node.wire.types import ZERO_UUID, Uuid

BROKER = "broker"
CONTROLLER = "controller"


@dataclass(slots=True)
class Context:
    """What requests have to know of the system that they are sent to.

    Attributes:
        cluster_id: The cluster's id, the same on both sides.
        leader_epoch: The epoch of the metadata quorum's leader.
        version: The version of the request that is being made.
        topic_ids: The id of each topic that CreateTopics has made, by name.
        broker_epochs: The epoch of each broker that a request has registered.
    """

    cluster_id: str
    leader_epoch: int = 0
    version: int = 0
    topic_ids: dict[str, Uuid] = field(default_factory=dict)
    broker_epochs: dict[int, int] = field(default_factory=dict)

    def topic_id(self, name: str) -> Uuid:
        """Return the id of a topic; the zero id if its creation failed."""
        return self.topic_ids.get(name, ZERO_UUID)


Maker = Callable[[Context], Message]


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A request, and where it goes.

    Attributes:
        name: Unique; docs/differences.md names it.
        message: The request, or the function that makes it.
        to: The listener.
        versions: The versions to send it in, one after the other.
        drawn: Fields that chance decides in this answer, by name.
        is_settled: Whether the broker's image has to hold all that was asked before.
    """

    name: str
    message: Message | Maker
    versions: Sequence[int]
    to: str = BROKER
    drawn: frozenset[str] = frozenset()
    is_settled: bool = False

    def make(self, context: Context) -> Message:
        """Return the request for one system."""
        return self.message if isinstance(self.message, Message) else self.message(context)


def every_version(message: type[Message]) -> tuple[int, ...]:
    """Return all versions of a message that our codec knows."""
    return tuple(range(message.MIN_VERSION, message.MAX_VERSION + 1))
