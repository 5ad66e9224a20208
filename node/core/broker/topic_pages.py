"""Answer DescribeTopicPartitions: topics in order of names, page by page (KIP-966).

A page has a bounded number of partitions. The cursor names the first partition of the next page,
so that a client may describe a large cluster without one large answer. Eligible leader replicas
are shown as they are stored.
"""

from collections.abc import Iterable
from typing import Final

from kraftproof.node.core.broker.operations import topic_operations
from kraftproof.node.core.broker.reach import Reach, reach_of
from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.image import MetadataImage, Partition, Topic
from kraftproof.node.core.metadata.names import INTERNAL_TOPICS, is_legal_name
from kraftproof.node.core.security.authorizer import Authorizer
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    describe_topic_partitions_request,
    describe_topic_partitions_response,
)

MOST_PARTITIONS: Final = 2000
"""The value of max.request.partition.size.limit."""
Request = describe_topic_partitions_request.DescribeTopicPartitionsRequest
Response = describe_topic_partitions_response.DescribeTopicPartitionsResponse
TopicAnswer = describe_topic_partitions_response.DescribeTopicPartitionsResponseTopic
PartitionAnswer = describe_topic_partitions_response.DescribeTopicPartitionsResponsePartition
Cursor = describe_topic_partitions_response.Cursor


def describe_topic_partitions(
    image: MetadataImage,
    event: Received,
    request: Request,
    authorizer: Authorizer | None,
    listener: str,
) -> Response:
    """Return a page of the requested topics; without names, of all topics."""
    reach = reach_of(image, listener)
    cursor = request.cursor
    names = sorted({topic.name for topic in request.topics} or set(image.topic_ids))
    if cursor is not None:
        is_named = not request.topics or cursor.topic_name in names
        if cursor.partition_index < 0 or not is_named:
            return _refusal(request)
        names = [name for name in names if name >= cursor.topic_name]
    room = max(1, min(request.response_partition_limit, MOST_PARTITIONS))
    answers: list[TopicAnswer] = []
    for name in names:
        if room == 0:
            return Response(topics=tuple(answers), next_cursor=Cursor(topic_name=name))
        if authorizer is not None and not authorizer.allows_part(event, name):
            if request.topics:
                answers.append(
                    TopicAnswer(error_code=ErrorCode.TOPIC_AUTHORIZATION_FAILED, name=name)
                )
            continue
        topic = image.topic_named(name)
        if topic is None:
            answers.append(_unknown(name, topic_operations(authorizer, event, name)))
            continue
        first = cursor.partition_index if cursor and cursor.topic_name == name else 0
        partitions = [one for one in image.partitions_of(topic.topic_id) if one.index >= first]
        operations = topic_operations(authorizer, event, name)
        answers.append(_topic(reach, topic, partitions[:room], operations))
        if len(partitions) > room:
            following = Cursor(topic_name=name, partition_index=partitions[room].index)
            return Response(topics=tuple(answers), next_cursor=following)
        room -= len(partitions)
    return Response(topics=tuple(answers))


def _refusal(request: Request) -> Response:
    """Refuse a cursor that is on none of the requested topics."""
    return Response(
        topics=tuple(
            TopicAnswer(error_code=ErrorCode.INVALID_REQUEST, name=topic.name)
            for topic in request.topics
        )
    )


def _unknown(name: str, operations: int) -> TopicAnswer:
    is_legal = is_legal_name(name)
    error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION if is_legal else ErrorCode.INVALID_TOPIC_EXCEPTION
    return TopicAnswer(
        error_code=error,
        name=name,
        is_internal=name in INTERNAL_TOPICS,
        topic_authorized_operations=operations,
    )


def _topic(
    reach: Reach, topic: Topic, partitions: Iterable[Partition], operations: int
) -> TopicAnswer:
    return TopicAnswer(
        name=topic.name,
        topic_id=topic.topic_id,
        is_internal=topic.name in INTERNAL_TOPICS,
        partitions=tuple(_partition(partition, reach) for partition in partitions),
        topic_authorized_operations=operations,
    )


def _partition(partition: Partition, reach: Reach) -> PartitionAnswer:
    """Return the answer about a partition; without a leader, Kafka names no error either."""
    return PartitionAnswer(
        partition_index=partition.index,
        leader_id=reach.leader_of(partition),
        leader_epoch=partition.leader_epoch,
        replica_nodes=partition.replicas,
        isr_nodes=partition.isr,
        eligible_leader_replicas=partition.eligible_leader_replicas,
        last_known_elr=partition.last_known_elr,
        offline_replicas=reach.offline_replicas(partition),
    )
