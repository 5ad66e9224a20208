"""CreateTopics and DeleteTopics (KIP-631 "Topic Identifiers", "RemoveTopic").

Pure: (image, request, random) -> Outcome. Each topic of a request stands or falls alone. Not:
partitions added later, reassignment, changes of configuration.

Simplification: names that differ only in `.` and `_` are not refused, there are no metrics whose
names would collide.
"""

from collections import Counter
from typing import TYPE_CHECKING, Final

from node.core.config import NodeConfig
from node.core.controller.assignment import (
    Replicas,
    TopicError,
    assign,
    topic_records,
    validate_configs,
    validate_name,
)
from node.core.controller.outcome import Outcome
from node.core.metadata.image import MetadataImage, Topic
from node.wire.errors import ErrorCode
from node.wire.messages import (
    create_topics_request,
    create_topics_response,
    delete_topics_request,
    delete_topics_response,
)
from node.wire.messages import metadata as records
from node.wire.messages.batch import Record
from node.wire.types import UUID_BYTES, ZERO_UUID, Uuid, format_uuid

if TYPE_CHECKING:
    from random import Random

CreatableTopic = create_topics_request.CreatableTopic
TopicResult = create_topics_response.CreatableTopicResult
TopicState = delete_topics_request.DeleteTopicState
DeleteResult = delete_topics_response.DeletableTopicResult

MAX_PARTITIONS_PER_REQUEST: Final = 10_000
"""What one request may add, since its records go into one batch."""
_RESERVED_IDS: Final = 1 << 64
"""Smaller ids are Kafka's own: zero, and the metadata topic's."""


def create_topics(
    image: MetadataImage,
    request: create_topics_request.CreateTopicsRequest,
    config: NodeConfig,
    random: "Random",
) -> Outcome:
    """Create topics, or with validate_only say whether they could be."""
    times = Counter(topic.name for topic in request.topics)
    room = MAX_PARTITIONS_PER_REQUEST
    results: list[TopicResult] = []
    written: list[Record] = []
    for topic in request.topics:
        try:
            _check_once(times, topic)
            replicas = _validate(image, topic, config, random, room)
        except TopicError as refused:
            results.append(
                TopicResult(name=topic.name, error_code=refused.error, error_message=refused.reason)
            )
            continue
        room -= len(replicas)
        topic_id = ZERO_UUID if request.validate_only else _new_id(image, random)
        if not request.validate_only:
            written += topic_records(image, topic, topic_id, replicas)
        results.append(_created(topic, topic_id, replicas))
    reply = create_topics_response.CreateTopicsResponse(topics=tuple(results))
    return Outcome(reply=reply, records=tuple(written))


def _check_once(times: Counter[str], topic: CreatableTopic) -> None:
    if times[topic.name] > 1:
        raise TopicError(ErrorCode.INVALID_REQUEST, "the topic is named more than once")


def _validate(
    image: MetadataImage, topic: CreatableTopic, config: NodeConfig, random: "Random", room: int
) -> list[Replicas]:
    validate_name(topic.name)
    if topic.name in image.topic_ids:
        raise TopicError(ErrorCode.TOPIC_ALREADY_EXISTS, f"topic {topic.name} exists")
    validate_configs(topic)
    return assign(image, topic, config, random, room)


def _created(topic: CreatableTopic, topic_id: Uuid, replicas: list[Replicas]) -> TopicResult:
    return TopicResult(
        name=topic.name,
        topic_id=topic_id,
        num_partitions=len(replicas),
        replication_factor=len(replicas[0]),
    )


def _new_id(image: MetadataImage, random: "Random") -> Uuid:
    """A random id that no topic has (631-67)."""
    while True:
        number = random.getrandbits(8 * UUID_BYTES)
        topic_id = Uuid(number.to_bytes(UUID_BYTES, "big"))
        if number >= _RESERVED_IDS and topic_id not in image.topics:
            return topic_id


def delete_topics(
    image: MetadataImage, request: delete_topics_request.DeleteTopicsRequest
) -> Outcome:
    """Delete topics by name or by id."""
    states = (*request.topics, *(TopicState(name=name) for name in request.topic_names))
    found = [_find(image, state) for state in states]
    times = Counter(topic.topic_id for topic in found if isinstance(topic, Topic))
    results: list[DeleteResult] = []
    written: list[Record] = []
    for state, topic in zip(states, found, strict=True):
        problem = topic if isinstance(topic, TopicError) else None
        if isinstance(topic, Topic) and times[topic.topic_id] > 1:
            problem = TopicError(ErrorCode.INVALID_REQUEST, "the topic is named more than once")
        if problem is not None:
            results.append(_not_deleted(state, problem))
        elif isinstance(topic, Topic):
            results.append(DeleteResult(name=topic.name, topic_id=topic.topic_id))
            written.append(records.RemoveTopicRecord(topic_id=topic.topic_id))
    reply = delete_topics_response.DeleteTopicsResponse(responses=tuple(results))
    return Outcome(reply=reply, records=tuple(written))


def _find(image: MetadataImage, state: TopicState) -> Topic | TopicError:
    if (state.name is None) == (state.topic_id == ZERO_UUID):
        return TopicError(ErrorCode.INVALID_REQUEST, "a name or an id is wanted, one of the two")
    if state.name is not None:
        return image.topic_named(state.name) or TopicError(
            ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, f"there is no topic {state.name[:260]}"
        )
    return image.topics.get(state.topic_id) or TopicError(
        ErrorCode.UNKNOWN_TOPIC_ID, f"there is no topic {format_uuid(state.topic_id)}"
    )


def _not_deleted(state: TopicState, refused: TopicError) -> DeleteResult:
    return DeleteResult(
        name=state.name,
        topic_id=state.topic_id,
        error_code=refused.error,
        error_message=refused.reason,
    )
