"""What an image must hold, from the committed records alone: the same rules told a second time.

A plain dictionary for each kind of entity; slow, apart from node/core/metadata, and for the end
of a run. Not: derived parts of an image (final_checks.py has them rebuilt).
"""

from collections.abc import Iterable
from typing import TypeAlias

from node.core.metadata.image import MetadataImage
from node.wire.messages import metadata as records
from node.wire.messages.batch import Batch, Record

Fields: TypeAlias = dict[str, object]
Entities: TypeAlias = dict[tuple[object, ...], Fields]
UNCHANGED = -2
TOPIC_RESOURCE = 2


def entities_of_log(batches: Iterable[Batch], before: Entities | None = None) -> Entities:
    """Return every broker, topic, partition, configuration and feature that batches leave.

    A change of what is not there leaves nothing; that a node must not go on is its own affair.
    """
    entities = {} if before is None else {key: dict(was) for key, was in before.items()}
    for batch in batches:
        tell(entities, batch)
    return entities


def tell(entities: Entities, batch: Batch) -> None:
    """Change the entities in place as one more batch says."""
    for record in () if batch.is_control else batch.records:
        _apply_to_brokers(entities, record)
        _apply_to_topics(entities, record)
        _apply_to_configs(entities, record)


def _apply_to_brokers(entities: Entities, record: Record) -> None:
    match record:
        case records.RegisterBrokerRecord():
            entities["broker", record.broker_id] = {
                "epoch": record.broker_epoch,
                "incarnation": record.incarnation_id,
                "fenced": record.fenced,
                "leaving": record.in_controlled_shutdown,
            }
        case records.UnregisterBrokerRecord():
            entities.pop(("broker", record.broker_id), None)
        case records.BrokerRegistrationChangeRecord():
            broker = entities.get(("broker", record.broker_id), {})
            if record.fenced:
                broker["fenced"] = record.fenced > 0
            if record.in_controlled_shutdown:
                broker["leaving"] = record.in_controlled_shutdown > 0
        case _:
            return


def _apply_to_topics(entities: Entities, record: Record) -> None:
    match record:
        case records.TopicRecord():
            entities["topic", record.topic_id] = {"name": record.name}
        case records.RemoveTopicRecord():
            topic = entities.get(("topic", record.topic_id), {})
            named = (TOPIC_RESOURCE, topic.get("name"))
            for key in [key for key in entities if key[1] in {record.topic_id, named}]:
                del entities[key]
        case records.PartitionRecord():
            entities["partition", record.topic_id, record.partition_id] = {
                "replicas": record.replicas,
                "isr": record.isr,
                "leader": record.leader,
                "leader_epoch": record.leader_epoch,
                "partition_epoch": record.partition_epoch,
            }
        case records.PartitionChangeRecord():
            partition = entities.get(("partition", record.topic_id, record.partition_id))
            if partition is not None:
                _change(partition, record)
        case _:
            return


def _apply_to_configs(entities: Entities, record: Record) -> None:
    match record:
        case records.ConfigRecord():
            key = ("configs", (record.resource_type, record.resource_name))
            configs = entities.setdefault(key, {})
            configs.pop(record.name, None)
            if record.value is not None:
                configs[record.name] = record.value
            if not configs:
                del entities[key]
        case records.FeatureLevelRecord():
            entities["feature", record.name] = {"level": record.feature_level}
        case _:
            return


def _change(partition: Fields, record: records.PartitionChangeRecord) -> None:
    """Every change counts one partition epoch, a new leader one leader epoch (631-20)."""
    partition["partition_epoch"] = int(str(partition["partition_epoch"])) + 1
    if record.isr is not None:
        partition["isr"] = record.isr
    if record.replicas is not None:
        partition["replicas"] = record.replicas
    if record.leader != UNCHANGED:
        partition["leader"] = record.leader
        partition["leader_epoch"] = int(str(partition["leader_epoch"])) + 1


def entities_of_image(image: MetadataImage) -> Entities:
    """Return what an image holds of the same."""
    entities: Entities = {
        ("broker", broker.broker_id): {
            "epoch": broker.epoch,
            "incarnation": broker.incarnation,
            "fenced": broker.fenced,
            "leaving": broker.in_controlled_shutdown,
        }
        for broker in image.sorted_brokers()
    }
    for resource in sorted(image.configs):
        entities["configs", resource] = dict(image.configs[resource])
    for name in sorted(image.features):
        entities["feature", name] = {"level": image.features[name]}
    for topic in image.sorted_topics():
        entities["topic", topic.topic_id] = {"name": topic.name}
        for partition in image.partitions_of(topic.topic_id):
            entities["partition", topic.topic_id, partition.index] = {
                "replicas": tuple(partition.replicas),
                "isr": tuple(partition.isr),
                "leader": partition.leader,
                "leader_epoch": partition.leader_epoch,
                "partition_epoch": partition.partition_epoch,
            }
    return entities


def first_difference(expected: Entities, found: Entities) -> str | None:
    """Say where the two differ first, if they do."""
    if expected == found:
        return None
    for key in sorted(expected.keys() | found.keys(), key=str):
        if expected.get(key) != found.get(key):
            return f"{key}: {found.get(key)}, by the log {expected.get(key)}"
    return None
