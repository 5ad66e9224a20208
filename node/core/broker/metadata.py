"""Answer Metadata from the node's committed image (KIP-631 "Networking", KIP-516 for topic ids).

The broker keeps the answer for each topic until the topic's partitions or the active brokers
change: many clients request every topic at once after a failover.
"""

from typing import Final

from immutables import Map
from msgspec.structs import replace

from kraftproof.node.core.base.config import NodeConfig
from kraftproof.node.core.base.types import NO_NODE, NodeId
from kraftproof.node.core.broker.answers import contact, listed_brokers
from kraftproof.node.core.broker.operations import cluster_operations, with_operations
from kraftproof.node.core.broker.reach import Reach, reach_of
from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.acls import Operation, ResourceKind
from kraftproof.node.core.metadata.image import (
    BrokerRegistration,
    MetadataImage,
    Partition,
    Topic,
)
from kraftproof.node.core.metadata.names import INTERNAL_TOPICS, is_legal_name
from kraftproof.node.core.security.authorizer import Authorizer
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import metadata_request, metadata_response
from kraftproof.node.wire.types import ZERO_UUID, Uuid

_TOPIC_IDS_FROM: Final = 12
"""The first version of Metadata whose answers may leave the name of a topic out."""
_LISTENERS_FROM: Final = 6
"""The first version of Metadata with an error for a leader without the client's listener."""
_VIEWS: Final = (0, 1, _LISTENERS_FROM)
"""The first version of each range with equal answers; version 0 leaves unreachable replicas out."""
_NO_PARTITIONS: Final[Map[int, Partition]] = Map()

AskedTopic = metadata_request.MetadataRequestTopic
TopicAnswer = metadata_response.MetadataResponseTopic


class _View:
    """The answers for the clients of a listener and of a range of versions."""

    __slots__ = ("kept", "reach", "version")

    def __init__(self, reach: Reach, version: int) -> None:
        self.reach = reach
        self.version = version
        """The first version of the range."""
        self.kept: dict[Uuid, tuple[Map[int, Partition], TopicAnswer]] = {}
        """By topic: the partitions, and the answer with these partitions."""


class MetadataAnswers:
    """The answers of a broker to Metadata."""

    __slots__ = ("_brokers", "_config", "_views")

    def __init__(self, config: NodeConfig) -> None:
        self._config = config
        self._brokers: Map[NodeId, BrokerRegistration] = Map()
        """The registrations of the views."""
        self._views: dict[tuple[str, int], _View] = {}
        """By listener and first version."""

    def answer(
        self,
        image: MetadataImage,
        request: metadata_request.MetadataRequest,
        event: Received,
        authorizer: Authorizer | None,
    ) -> metadata_response.MetadataResponse:
        """Return the active brokers and the requested topics that the client may see (631-38)."""
        view = self._view(image, event)
        listed = [
            metadata_response.MetadataResponseBroker(
                node_id=broker.broker_id, host=endpoint.host, port=endpoint.port, rack=broker.rack
            )
            for broker, endpoint in listed_brokers(
                self._config, image, event.listener, include_fenced=False
            )
        ]
        topics = _requested(view, image, request, event.version)
        if authorizer is not None and not _is_malformed(request, event.version):
            is_listing = _asks_for_all(request, event.version)
            topics = _visible(topics, authorizer, event, is_listing=is_listing)
        if request.include_topic_authorized_operations:
            topics = [with_operations(topic, authorizer, event) for topic in topics]
        return metadata_response.MetadataResponse(
            brokers=tuple(listed),
            cluster_authorized_operations=cluster_operations(
                authorizer, event, wanted=request.include_cluster_authorized_operations
            ),
            cluster_id=self._config.cluster_id,
            controller_id=contact(self._config, [broker.node_id for broker in listed]),
            topics=tuple(topics),
        )

    def _view(self, image: MetadataImage, event: Received) -> _View:
        """Return the answers for a client; after a change of brokers, without any answer."""
        if image.brokers is not self._brokers:
            self._brokers = image.brokers
            self._views.clear()
        listener = self._config.client_listener(event.listener)
        first = max(one for one in _VIEWS if one <= event.version)
        view = self._views.get((listener, first))
        if view is None:
            view = self._views[listener, first] = _View(reach_of(image, listener), first)
        elif len(view.kept) > len(image.topics):
            for topic_id in [each for each in view.kept if each not in image.topics]:
                del view.kept[topic_id]
        return view


def _requested(
    view: _View, image: MetadataImage, request: metadata_request.MetadataRequest, version: int
) -> list[TopicAnswer]:
    """Return the requested topics, each once; with any id, those without an id are ignored."""
    if request.topics is None or _asks_for_all(request, version):
        return [_topic(view, image, topic) for topic in image.sorted_topics()]
    if _is_malformed(request, version):
        return list(map(_refused_topic, request.topics))
    asked = dict.fromkeys((each.name, each.topic_id) for each in request.topics)
    ids = dict.fromkeys(topic_id for _, topic_id in asked if topic_id != ZERO_UUID)
    by_id: list[tuple[str | None, Uuid]] = [(None, topic_id) for topic_id in ids]
    return [_asked_topic(view, image, name, topic_id) for name, topic_id in by_id or asked]


def _asked_topic(
    view: _View, image: MetadataImage, name: str | None, topic_id: Uuid
) -> TopicAnswer:
    topic = image.topics.get(topic_id) if name is None else image.topic_named(name)
    if topic is not None:
        return _topic(view, image, topic)
    if name is None:
        error = ErrorCode.UNKNOWN_TOPIC_ID
    elif is_legal_name(name):
        error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    else:
        error = ErrorCode.INVALID_TOPIC_EXCEPTION
    return TopicAnswer(error_code=error, name=name, topic_id=topic_id)


def _topic(view: _View, image: MetadataImage, topic: Topic) -> TopicAnswer:
    partitions = image.partitions.get(topic.topic_id, _NO_PARTITIONS)
    kept = view.kept.get(topic.topic_id)
    if kept is not None and kept[0] is partitions:
        return kept[1]
    answer = TopicAnswer(
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=topic.name in INTERNAL_TOPICS,
        partitions=tuple(
            [
                _partition(partition, view, image)
                for partition in image.partitions_of(topic.topic_id)
            ]
        ),
    )
    view.kept[topic.topic_id] = (partitions, answer)
    return answer


def _asks_for_all(request: metadata_request.MetadataRequest, version: int) -> bool:
    return request.topics is None or (version == 0 and not request.topics)


def _visible(
    topics: list[TopicAnswer], authorizer: Authorizer, event: Received, *, is_listing: bool
) -> list[TopicAnswer]:
    """Leave out of a listing, or refuse, the topics that the client may not describe.

    A topic of a request by id keeps its id and loses its name.
    """
    visible: list[TopicAnswer] = []
    for topic in topics:
        if topic.name is None or authorizer.allows_part(event, topic.name, logs=not is_listing):
            visible.append(topic)
        elif not is_listing:
            visible.append(_hidden(topic, event))
    return visible


def _hidden(topic: TopicAnswer, event: Received) -> TopicAnswer:
    request = event.message
    assert isinstance(request, metadata_request.MetadataRequest), "only Metadata has topics"
    is_by_id = any(map(_has_id, request.topics or ()))
    return TopicAnswer(
        error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED,
        name=None if is_by_id else topic.name,
        topic_id=topic.topic_id if is_by_id else ZERO_UUID,
    )


def _has_id(asked: AskedTopic) -> bool:
    return asked.name is None or asked.topic_id != ZERO_UUID


def _is_malformed(request: metadata_request.MetadataRequest, version: int) -> bool:
    """Return whether a request has ids in a version whose answers need names; all may know that."""
    return version < _TOPIC_IDS_FROM and any(map(_has_id, request.topics or ()))


def _refused_topic(asked: AskedTopic) -> TopicAnswer:
    """Refuse a topic of a request with ids in a version whose answers need names."""
    return TopicAnswer(
        error_code=ErrorCode.INVALID_REQUEST, name=asked.name or "", topic_id=asked.topic_id
    )


def _partition(
    partition: Partition, view: _View, image: MetadataImage
) -> metadata_response.MetadataResponsePartition:
    replicas, isr, reach = partition.replicas, partition.isr, view.reach
    if view.version == 0:
        replicas = tuple([node for node in replicas if node in reach.active])
        isr = tuple([node for node in isr if node in reach.active])
    leader, error = reach.leader_of(partition), ErrorCode.NONE
    if leader == NO_NODE:
        is_registered = partition.leader in image.brokers
        has_name = is_registered and view.version >= _LISTENERS_FROM
        error = ErrorCode.LISTENER_NOT_FOUND if has_name else ErrorCode.LEADER_NOT_AVAILABLE
    elif len(replicas) < len(partition.replicas) or len(isr) < len(partition.isr):
        error = ErrorCode.REPLICA_NOT_AVAILABLE
    return metadata_response.MetadataResponsePartition(
        error_code=error,
        partition_index=partition.index,
        leader_id=leader,
        leader_epoch=partition.leader_epoch,
        replica_nodes=replicas,
        isr_nodes=isr,
        offline_replicas=reach.offline_replicas(partition),
    )


def missing_names(
    request: metadata_request.MetadataRequest, answer: metadata_response.MetadataResponse
) -> list[str]:
    """Return the legal names without a topic that a client has asked for."""
    if not request.topics:
        return []
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return [topic.name for topic in answer.topics if topic.error_code == unknown and topic.name]


def denied_creations(
    authorizer: Authorizer | None, event: Received, names: list[str]
) -> frozenset[str]:
    """Return the topics that the client may not create (CREATE on the cluster or the topic)."""
    if authorizer is None or authorizer.allows(event, Operation.CREATE, logs=False):
        return frozenset()
    kind = ResourceKind.TOPIC
    return frozenset(
        name for name in names if not authorizer.allows(event, Operation.CREATE, kind, name)
    )


def with_denials(
    answer: metadata_response.MetadataResponse, denied: frozenset[str]
) -> metadata_response.MetadataResponse:
    """Return an answer that refuses the topics which the client may not create."""
    if not denied:
        return answer
    error = ErrorCode.TOPIC_AUTHORIZATION_FAILED
    topics = tuple(
        TopicAnswer(error_code=error, name=topic.name, is_internal=topic.is_internal)
        if topic.name in denied
        else topic
        for topic in answer.topics
    )
    return replace(answer, topics=topics)
