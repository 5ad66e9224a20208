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
from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.acls import Operation, ResourceKind
from kraftproof.node.core.metadata.image import MetadataImage, Partition, Topic
from kraftproof.node.core.metadata.names import INTERNAL_TOPICS, is_legal_name
from kraftproof.node.core.security.authorizer import Authorizer
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import metadata_request, metadata_response
from kraftproof.node.wire.types import ZERO_UUID, Uuid

_TOPIC_IDS_FROM: Final = 12
"""The first version of Metadata whose answers may leave the name of a topic out."""
_NO_PARTITIONS: Final[Map[int, Partition]] = Map()

AskedTopic = metadata_request.MetadataRequestTopic
TopicAnswer = metadata_response.MetadataResponseTopic


class MetadataAnswers:
    """The answers of a broker to Metadata."""

    __slots__ = ("_active", "_answers", "_config")

    def __init__(self, config: NodeConfig) -> None:
        self._config = config
        self._active: frozenset[NodeId] = frozenset()
        """The active brokers of the kept answers."""
        self._answers: dict[Uuid, tuple[Map[int, Partition], TopicAnswer]] = {}
        """By topic: the partitions, and the answer with these partitions."""

    def answer(
        self,
        image: MetadataImage,
        request: metadata_request.MetadataRequest,
        event: Received,
        authorizer: Authorizer | None,
    ) -> metadata_response.MetadataResponse:
        """Return the active brokers and the requested topics that the client may see (631-38)."""
        self._forget(image)
        listed = [
            metadata_response.MetadataResponseBroker(
                node_id=broker.broker_id, host=endpoint.host, port=endpoint.port, rack=broker.rack
            )
            for broker, endpoint in listed_brokers(
                self._config, image, event.listener, include_fenced=False
            )
        ]
        topics = self._requested(image, request, event.version)
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

    def _forget(self, image: MetadataImage) -> None:
        """Drop the answers of deleted topics; drop every answer if other brokers are active."""
        active = frozenset(
            broker.broker_id for broker in image.brokers.values() if not broker.fenced
        )
        if active != self._active:
            self._active = active
            self._answers.clear()
        elif len(self._answers) > len(image.topics):
            for topic_id in [each for each in self._answers if each not in image.topics]:
                del self._answers[topic_id]

    def _requested(
        self, image: MetadataImage, request: metadata_request.MetadataRequest, version: int
    ) -> list[TopicAnswer]:
        if request.topics is None or _asks_for_all(request, version):
            return [self._topic(image, topic) for topic in image.sorted_topics()]
        if _is_malformed(request, version):
            return list(map(_refused_topic, request.topics))
        return [self._asked_topic(image, asked) for asked in dict.fromkeys(request.topics)]

    def _asked_topic(self, image: MetadataImage, asked: AskedTopic) -> TopicAnswer:
        name = None if _has_id(asked) else asked.name
        topic = image.topics.get(asked.topic_id) if name is None else image.topic_named(name)
        if topic is not None:
            return self._topic(image, topic)
        if name is None:
            error = ErrorCode.UNKNOWN_TOPIC_ID
        elif is_legal_name(name):
            error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        else:
            error = ErrorCode.INVALID_TOPIC_EXCEPTION
        return TopicAnswer(error_code=error, name=name, topic_id=asked.topic_id)

    def _topic(self, image: MetadataImage, topic: Topic) -> TopicAnswer:
        partitions = image.partitions.get(topic.topic_id, _NO_PARTITIONS)
        kept = self._answers.get(topic.topic_id)
        if kept is not None and kept[0] is partitions:
            return kept[1]
        answer = TopicAnswer(
            name=topic.name,
            topic_id=topic.topic_id,
            is_internal=topic.name in INTERNAL_TOPICS,
            partitions=tuple(
                [
                    _partition(partition, self._active)
                    for partition in image.partitions_of(topic.topic_id)
                ]
            ),
        )
        self._answers[topic.topic_id] = (partitions, answer)
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
    is_by_id = any(each.name is None for each in request.topics or ())
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
    partition: Partition, active: frozenset[NodeId]
) -> metadata_response.MetadataResponsePartition:
    replicas = partition.replicas
    offline: tuple[NodeId, ...] = ()
    if not active.issuperset(replicas):
        offline = tuple(replica for replica in replicas if replica not in active)
    leaderless = partition.leader == NO_NODE
    return metadata_response.MetadataResponsePartition(
        error_code=ErrorCode.LEADER_NOT_AVAILABLE if leaderless else ErrorCode.NONE,
        partition_index=partition.index,
        leader_id=partition.leader,
        leader_epoch=partition.leader_epoch,
        replica_nodes=replicas,
        isr_nodes=partition.isr,
        offline_replicas=offline,
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
