"""State which topics a broker creates: the topics that clients name, and the topic of groups."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from msgspec import Struct

from kraftproof.cluster.simulated.differential.brokers.membership_model import MS, NOBODY
from kraftproof.cluster.simulated.differential.brokers.shown_rights import NOT_ASKED
from kraftproof.cluster.simulated.differential.difference import same
from kraftproof.cluster.simulated.differential.door.data_requests import GROUP_TOPIC
from kraftproof.cluster.simulated.differential.door.own_answers import (
    cluster_bits,
    listed,
    topic_error,
)
from kraftproof.cluster.simulated.differential.door.view import CREATE, View
from kraftproof.cluster.simulated.invariants.security.authorized_answers import DESCRIBE, TOPIC
from kraftproof.node.core.effects import Forward, Send
from kraftproof.node.core.events import Received
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import create_topics_request, metadata_request

CREATE_VERSION: Final = 7
MOST: Final = 1_000
"""Maximum of the creations under way."""
NAMES: Final = ("a", "b", "c", "b2", "no such", GROUP_TOPIC)
ILLEGAL: Final = "no such"
MANY: Final = (MOST - 1, MOST, MOST + 1)


class Creation(Struct, kw_only=True):
    """A creation of topics at a controller; for a client or for the broker itself."""

    names: tuple[str, ...]
    leader: int
    client: Received | None


class CreationModel:
    """The topics whose creation is under way."""

    def __init__(self) -> None:
        self._under_way: set[str] = set()
        self.sent: list[Creation] = []
        """The expected creations of the step."""

    def create(self, names: Iterable[str], leader: int, client: Received | None) -> None:
        """Create the topics that are not under way, as far as there is room."""
        fresh = [name for name in dict.fromkeys(names) if name not in self._under_way]
        chosen = fresh[: max(MOST - len(self._under_way), 0)]
        if chosen and leader != NOBODY:
            self._under_way |= set(chosen)
            self.sent.append(Creation(names=tuple(chosen), leader=leader, client=client))

    def answered(self, creation: Creation) -> None:
        """Allow another attempt for each topic after any answer."""
        self._under_way -= set(creation.names)


def same_creation(sent: Send | Forward, due: Creation, request_ns: int) -> None:
    """Compare a creation on its way.

    Raises:
        DifferenceError: another client, another time or other topics.
    """
    message = sent.message
    assert isinstance(message, create_topics_request.CreateTopicsRequest), "chosen by its type"
    same("the created topics", tuple(topic.name for topic in message.topics), due.names)
    same("whether a creation is only validated", message.validate_only, False)  # noqa: FBT003 - a value
    times = (message.timeout_ms, sent.timeout_ns)
    same("the time-outs of a creation", times, (max(request_ns // MS, 1), request_ns))
    same("the controller and the version", (sent.destination, sent.version), (due.leader, 7))
    client = due.client
    if isinstance(sent, Forward) and client is not None:
        found = (sent.principal, sent.client_host, sent.client_id, sent.client_correlation)
        expected = (client.principal, client.client_host, client.client_id, client.correlation_id)
        same("the client of a creation", (*found, sent.connect_ns), (*expected, request_ns))
    same("a client asks for a creation", isinstance(sent, Forward), client is not None)


def draw_metadata(view: View) -> metadata_request.MetadataRequest:
    """Return a Metadata request for topics, existing and missing ones; seldom for very many."""
    random = view.random
    names: Sequence[str] = random.choices(NAMES, k=random.randint(0, 4))
    if random.random() < 0.01:
        names = [f"n{place}" for place in range(random.choice(MANY))]
    return metadata_request.MetadataRequest(
        topics=tuple(metadata_request.MetadataRequestTopic(name=name) for name in names),
        allow_auto_topic_creation=random.random() < 0.8,
        include_cluster_authorized_operations=random.random() < 0.3,
    )


def metadata_errors(view: View, event: Received) -> tuple[dict[str, ErrorCode], list[str]]:
    """Return the error of each topic of a Metadata request, and the topics to be created."""
    request = event.message
    assert isinstance(request, metadata_request.MetadataRequest), "the only request with creations"
    errors: dict[str, ErrorCode] = {}
    created = []
    creates = view.config.auto_creates_topics and request.allow_auto_topic_creation
    for topic in request.topics or ():
        name = topic.name or ""
        error = topic_error(view, event, DESCRIBE, name)
        if error is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION and name == ILLEGAL:
            error = ErrorCode.INVALID_TOPIC_EXCEPTION
        if error is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION and creates:
            if _may_create(view, event, name):
                created.append(name)
            else:
                error = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        errors[name] = error
    return errors, created


def _may_create(view: View, event: Received, name: str) -> bool:
    is_on_cluster = view.rights.allows_on_cluster(event, CREATE)
    return is_on_cluster or view.allows(event, CREATE, TOPIC, name)


def judge_metadata(
    view: View,
    event: Received,
    errors: dict[str, ErrorCode],
    answer: Any,  # noqa: ANN401 - of many
) -> None:
    """Compare an answer to Metadata.

    Raises:
        DifferenceError: other topics, other brokers or another cluster.
    """
    shown = {topic.name: topic.error_code for topic in answer.topics}
    same("the topics of Metadata", shown, {name: int(error) for name, error in errors.items()})
    brokers = [(one.node_id, one.host, one.port, False) for one in answer.brokers]
    same("the brokers of Metadata", brokers, listed(view, event, with_fenced=False))
    request: Any = event.message
    wanted = request.include_cluster_authorized_operations
    bits = cluster_bits(view, event) if wanted else NOT_ASKED
    found = (answer.cluster_id, answer.cluster_authorized_operations)
    same("the cluster of Metadata", found, (view.config.cluster_id, bits))
