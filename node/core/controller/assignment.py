"""Validate a topic of CreateTopics and build its records (KIP-631 "TopicRecord").

See topics.py for the whole request, and placement.py for the choice of brokers.
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from kraftproof.node.core.base.config import NodeConfig
from kraftproof.node.core.base.types import NodeId
from kraftproof.node.core.configs.values import InvalidConfigError, check_topic_configs
from kraftproof.node.core.controller.placement import Placement
from kraftproof.node.core.metadata.apply import TOPIC_RESOURCE
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.core.metadata.names import is_legal_name
from kraftproof.node.core.quotas.mutations import MutationCharge
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import create_topics_request
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Record
from kraftproof.node.wire.types import Uuid

if TYPE_CHECKING:
    from random import Random

CreatableTopic = create_topics_request.CreatableTopic
Replicas = tuple[NodeId, ...]

_DEFAULT: Final = -1


class TopicError(Exception):
    """A topic can't be created or deleted; carries the error code and the reason for the client."""

    def __init__(self, error: ErrorCode, reason: str) -> None:
        super().__init__(reason)
        self.error = error
        self.reason = reason


def charge_partitions(charge: MutationCharge | None, partitions: int) -> None:
    """Charge the client for created or deleted partitions (KIP-599).

    Raises:
        TopicError: the client has used up its budget.
    """
    if charge is not None and not charge.take(partitions):
        raise TopicError(
            ErrorCode.THROTTLING_QUOTA_EXCEEDED, "The throttling quota has been exceeded."
        )


def validate_name(image: MetadataImage, name: str) -> None:
    """Refuse a name that is no legal name for a new topic.

    Raises:
        TopicError: the name is malformed, or collides with the name of another topic.
    """
    if not is_legal_name(name):
        raise TopicError(
            ErrorCode.INVALID_TOPIC_EXCEPTION,
            f"{name[:260]!r} is no topic name: 1 to 249 of a-z A-Z 0-9 . _ - are, "
            "but for . and .. alone",
        )
    if image.collides(name):
        raise TopicError(
            ErrorCode.INVALID_TOPIC_EXCEPTION,
            f"{name} differs from another topic's name in dots and underscores only",
        )


def validate_configs(topic: CreatableTopic) -> dict[str, str]:
    """Return the topic's configurations; the last value of a repeated name counts.

    Raises:
        TopicError: a value is null, or illegal for the configuration.
    """
    configs: dict[str, str] = {}
    if not topic.configs:
        return configs
    for config in topic.configs:
        if config.value is None:
            raise TopicError(ErrorCode.INVALID_CONFIG, f"{config.name} has no value")
        configs[config.name] = config.value
    try:
        check_topic_configs(configs)
    except InvalidConfigError as error:
        raise TopicError(ErrorCode.INVALID_CONFIG, str(error)) from error
    return configs


def assign(
    placement: Placement, topic: CreatableTopic, config: NodeConfig, random: "Random"
) -> list[Replicas]:
    """Return the replicas of each partition, leader first, from the request or from the placement.

    Raises:
        TopicError: the counts or the manual assignment are illegal.
    """
    if topic.assignments:
        return _manual(placement, topic)
    partitions, factor = topic.num_partitions, topic.replication_factor
    if partitions == _DEFAULT:
        partitions = config.default_partitions
    if factor == _DEFAULT:
        factor = config.default_replication_factor
    if factor > 0 >= partitions:
        raise TopicError(ErrorCode.INVALID_PARTITIONS, f"{partitions} partitions: 1 is the least")
    if not 0 < factor <= len(placement.registered):
        raise TopicError(
            ErrorCode.INVALID_REPLICATION_FACTOR,
            f"replication factor {factor}: {len(placement.registered)} brokers are registered",
        )
    if not placement.active:
        raise TopicError(ErrorCode.INVALID_REPLICATION_FACTOR, "all brokers are fenced")
    return placement.place(partitions, factor, random)


def _manual(placement: Placement, topic: CreatableTopic) -> list[Replicas]:
    if topic.num_partitions != _DEFAULT or topic.replication_factor != _DEFAULT:
        raise TopicError(
            ErrorCode.INVALID_REQUEST,
            "with a manual assignment the partition count and the replication factor must be -1",
        )
    by_index = {
        entry.partition_index: tuple(map(NodeId, entry.broker_ids)) for entry in topic.assignments
    }
    if sorted(by_index) != list(range(len(topic.assignments))):
        raise TopicError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "the partitions of a manual assignment must be 0, 1, 2 and so on, each once",
        )
    replicas = [by_index[index] for index in sorted(by_index)]
    for index, assigned in enumerate(replicas):
        check_assigned(placement, index, assigned, len(replicas[0]))
    return replicas


def check_assigned(placement: Placement, index: int, assigned: Replicas, factor: int) -> None:
    """Refuse the replicas of a manual assignment.

    Raises:
        TopicError: the replicas are illegal, or all of them are fenced.
    """
    problem = None
    if not assigned:
        problem = "has no replicas"
    elif len(set(assigned)) != len(assigned):
        problem = "names a broker twice"
    elif len(assigned) != factor:
        problem = f"has {len(assigned)} replicas, partition 0 has {factor}"
    elif not placement.registered.issuperset(assigned):
        problem = "names a broker that is not registered"
    elif placement.active.isdisjoint(assigned):
        problem = "names fenced brokers only"
    if problem is not None:
        raise TopicError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, f"partition {index} {problem}")


def topic_records(
    placement: Placement,
    name: str,
    topic_id: Uuid,
    configs: Mapping[str, str],
    replicas: list[Replicas],
) -> tuple[Record, ...]:
    """Return the records that create the topic."""
    set_configs = (
        records.ConfigRecord(
            resource_type=TOPIC_RESOURCE, resource_name=name, name=key, value=value
        )
        for key, value in configs.items()
    )
    partitions = tuple(
        partition_record(placement, topic_id, index, assigned)
        for index, assigned in enumerate(replicas)
    )
    return (records.TopicRecord(name=name, topic_id=topic_id), *set_configs, *partitions)


def partition_record(
    placement: Placement, topic_id: Uuid, index: int, replicas: Replicas
) -> records.PartitionRecord:
    """Return the record of a new partition, led by the first active replica."""
    active = placement.active
    isr = replicas
    if not active.issuperset(replicas):
        isr = tuple(broker_id for broker_id in replicas if broker_id in active)
    return records.PartitionRecord(
        partition_id=index,
        topic_id=topic_id,
        replicas=replicas,
        isr=isr,
        leader=isr[0],
        leader_epoch=0,
        partition_epoch=0,
        directories=placement.directories(replicas),
    )
