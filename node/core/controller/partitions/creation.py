"""Decide CreatePartitions: more partitions for existing topics (KIP-195).

The new partitions have as many replicas as partition 0, those of a reassignment included. Each
topic succeeds or fails alone.
"""

from collections import Counter
from typing import TYPE_CHECKING, Final

from kraftproof.node.core.base.types import NodeId
from kraftproof.node.core.controller.assignment import (
    Replicas,
    TopicError,
    charge_partitions,
    check_assigned,
    partition_record,
)
from kraftproof.node.core.controller.outcome import Outcome
from kraftproof.node.core.controller.placement import Placement
from kraftproof.node.core.controller.refusals import refusal
from kraftproof.node.core.metadata.image import MetadataImage, Topic
from kraftproof.node.core.quotas.mutations import MutationCharge
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import create_partitions_request, create_partitions_response
from kraftproof.node.wire.records.batch import Record

if TYPE_CHECKING:
    from random import Random

Request = create_partitions_request.CreatePartitionsRequest
Asked = create_partitions_request.CreatePartitionsTopic
Result = create_partitions_response.CreatePartitionsTopicResult

MAX_PARTITIONS: Final = 10_000
"""Maximum number of new partitions of a request, Kafka's limit on the records."""


def create_partitions(
    image: MetadataImage,
    request: Request,
    random: "Random",
    charge: MutationCharge | None = None,
) -> Outcome:
    """Add partitions to topics; with validate_only, validate the request without records."""
    times = Counter(topic.name for topic in request.topics)
    tried = [topic for topic in request.topics if times[topic.name] == 1]
    if sum(_added(image, topic) for topic in tried) > MAX_PARTITIONS:
        reason = f"{MAX_PARTITIONS} partitions are the most that a request may add"
        return Outcome(reply=refusal(request, ErrorCode.POLICY_VIOLATION, reason))
    placement = Placement(image)
    results = [
        Result(
            name=name,
            error_code=ErrorCode.INVALID_REQUEST,
            error_message="the topic is named more than once",
        )
        for name, count in times.items()
        if count > 1
    ]
    written: list[Record] = []
    for asked in tried:
        try:
            made = _create(image, placement, asked, random)
            charge_partitions(charge, len(made))
        except TopicError as refused:
            results.append(
                Result(name=asked.name, error_code=refused.error, error_message=refused.reason)
            )
        else:
            written += made
            results.append(Result(name=asked.name))
    reply = create_partitions_response.CreatePartitionsResponse(results=tuple(results))
    return Outcome(reply=reply, records=() if request.validate_only else tuple(written))


def _added(image: MetadataImage, asked: Asked) -> int:
    topic = image.topic_named(asked.name)
    return 0 if topic is None else max(0, asked.count - len(image.partitions[topic.topic_id]))


def _create(
    image: MetadataImage, placement: Placement, asked: Asked, random: "Random"
) -> list[Record]:
    """Return the records of a topic's new partitions.

    Raises:
        TopicError: the topic is unknown, or the count or an assignment is illegal.
    """
    topic = image.topic_named(asked.name)
    if topic is None:
        reason = f"there is no topic {asked.name[:260]}"
        raise TopicError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, reason)
    present = image.partitions[topic.topic_id]
    if asked.count <= len(present):
        reason = f"the topic has {len(present)} partitions, and {asked.count} are no more"
        raise TopicError(ErrorCode.INVALID_PARTITIONS, reason)
    if not present:
        raise TopicError(ErrorCode.UNKNOWN_SERVER_ERROR, "the topic has no partition 0")
    first = max(present) + 1
    replicas = _assign(image, placement, topic, asked, random)
    return [
        partition_record(placement, topic.topic_id, first + place, assigned)
        for place, assigned in enumerate(replicas)
    ]


def _assign(
    image: MetadataImage, placement: Placement, topic: Topic, asked: Asked, random: "Random"
) -> list[Replicas]:
    present = image.partitions[topic.topic_id]
    factor = len(present[min(present)].replicas)
    added = asked.count - len(present)
    if asked.assignments is None:
        if not 0 < factor <= len(placement.registered) or not placement.active:
            raise TopicError(
                ErrorCode.INVALID_REPLICATION_FACTOR,
                f"replication factor {factor}: {len(placement.registered)} brokers are registered, "
                f"{len(placement.active)} of them active",
            )
        return placement.place(added, factor, random)
    if len(asked.assignments) != added:
        reason = f"{len(asked.assignments)} assignments for {added} new partitions"
        raise TopicError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, reason)
    replicas = [tuple(map(NodeId, entry.broker_ids)) for entry in asked.assignments]
    for place, assigned in enumerate(replicas):
        check_assigned(placement, len(present) + place, assigned, factor)
    return replicas
