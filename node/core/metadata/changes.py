"""Change single entities together with the derived indexes and the digest.

Only these functions update the derived parts of an image. `rebuild` derives the same parts from
scratch, so that the end of a run can check the updates. See apply.py for the meaning of records.
"""

from collections.abc import Iterable

from immutables import Map
from msgspec import Struct
from msgspec.structs import replace

from kraftproof.node.core.base.types import NO_NODE, NodeId
from kraftproof.node.core.metadata.acl_index import index_of
from kraftproof.node.core.metadata.digest import other_entity, recompute_digest, update_digest
from kraftproof.node.core.metadata.image import (
    PARTITIONS_A_MARK,
    BrokerIndexes,
    BrokerRegistration,
    Marked,
    MetadataImage,
    OtherKey,
    Partition,
    PartitionKey,
    Topic,
    unified,
)
from kraftproof.node.core.metadata.quotas import entity_of, quotas_of
from kraftproof.node.wire.records.metadata import AccessControlEntryRecord, ClientQuotaRecord
from kraftproof.node.wire.types import Uuid

_NONE_MARKED: Marked = Map()


def set_broker(image: MetadataImage, broker: BrokerRegistration) -> MetadataImage:
    """Add or replace a registration."""
    was = image.brokers.get(broker.broker_id)
    return replace(
        image,
        brokers=image.brokers.set(broker.broker_id, broker),
        digest=update_digest(image.digest, "broker", was, broker),
    )


def remove_broker(image: MetadataImage, broker: BrokerRegistration) -> MetadataImage:
    """Remove a registration."""
    return replace(
        image,
        brokers=image.brokers.delete(broker.broker_id),
        digest=update_digest(image.digest, "broker", broker, None),
    )


def add_topic(image: MetadataImage, topic: Topic) -> MetadataImage:
    """Add a topic without partitions."""
    return replace(
        image,
        topics=image.topics.set(topic.topic_id, topic),
        topic_ids=image.topic_ids.set(topic.name, topic.topic_id),
        unified_names=_counted(image.unified_names, topic.name, 1),
        partitions=image.partitions.set(topic.topic_id, Map()),
        digest=update_digest(image.digest, "topic", None, topic),
    )


def remove_topic(image: MetadataImage, topic: Topic) -> MetadataImage:
    """Remove a topic with its partitions."""
    digest = update_digest(image.digest, "topic", topic, None)
    partitions = image.partitions_of(topic.topic_id)
    for partition in partitions:
        digest = update_digest(digest, "partition", partition, None)
    broker_ids = {broker_id for p in partitions for broker_id in (*p.replicas, *p.isr, p.leader)}
    entries = {partition.index // PARTITIONS_A_MARK for partition in partitions}
    keys = [(topic.topic_id, entry) for entry in entries]
    indexes = image.by_broker
    indexes = BrokerIndexes(
        replicas=_without_topic(indexes.replicas, broker_ids, keys),
        isr=_without_topic(indexes.isr, broker_ids, keys),
        leaders=_without_topic(indexes.leaders, broker_ids, keys),
        moving=_without_topic(indexes.moving, (NO_NODE,), keys),
    )
    return replace(
        image,
        topics=image.topics.delete(topic.topic_id),
        topic_ids=image.topic_ids.delete(topic.name),
        unified_names=_counted(image.unified_names, topic.name, -1),
        partitions=image.partitions.delete(topic.topic_id),
        by_broker=indexes,
        acls=index_of(
            entry for entry in image.others.values() if isinstance(entry, AccessControlEntryRecord)
        ),
        digest=digest,
    )


def set_partition(image: MetadataImage, partition: Partition) -> MetadataImage:
    """Add or replace a partition of an existing topic."""
    siblings = image.partitions[partition.topic_id]
    was = siblings.get(partition.index)
    return replace(
        image,
        partitions=image.partitions.set(
            partition.topic_id, siblings.set(partition.index, partition)
        ),
        by_broker=_reindexed(image.by_broker, was, partition),
        digest=update_digest(image.digest, "partition", was, partition),
    )


def clear_elr(image: MetadataImage, topic_name: str) -> MetadataImage:
    """Clear the eligible leader replicas of the named topic.

    Of every topic if the name is empty.
    """
    named = image.topic_named(topic_name)
    topics = image.sorted_topics() if not topic_name else [named] if named is not None else []
    for topic in topics:
        for partition in image.partitions_of(topic.topic_id):
            if partition.eligible_leader_replicas or partition.last_known_elr:
                cleared = replace(partition, eligible_leader_replicas=(), last_known_elr=())
                image = set_partition(image, cleared)
    return image


def set_feature(image: MetadataImage, name: str, level: int) -> MetadataImage:
    """Set a feature's finalized level; level 0 removes the feature (631-27)."""
    was = image.features.get(name)
    old, new = (
        None if value is None or value == 0 else (name, value) for value in (was or None, level)
    )
    features = image.features.set(name, level) if new else _without(image.features, name)
    return replace(
        image, features=features, digest=update_digest(image.digest, "feature", old, new)
    )


def set_config(
    image: MetadataImage, resource: tuple[int, str], name: str, value: str | None
) -> MetadataImage:
    """Set a configuration key; null deletes the key (631-21)."""
    values = image.configs.get(resource, Map())
    was = values.get(name)
    values = _without(values, name) if value is None else values.set(name, value)
    configs = image.configs.set(resource, values) if values else _without(image.configs, resource)
    return replace(
        image,
        configs=configs,
        digest=update_digest(
            image.digest,
            "config",
            None if was is None else (resource, name, was),
            None if value is None else (resource, name, value),
        ),
    )


def set_other(image: MetadataImage, key: OtherKey, record: Struct | None) -> MetadataImage:
    """Keep a record as an entity under the key; None removes the entity."""
    was = image.others.get(key)
    if was is record:
        return image
    others = _without(image.others, key) if record is None else image.others.set(key, record)
    digest = update_digest(image.digest, "other", other_entity(key, was), other_entity(key, record))
    return replace(image, others=others, digest=digest)


def set_acl(
    image: MetadataImage, acl_id: Uuid, entry: AccessControlEntryRecord | None
) -> MetadataImage:
    """Keep an access control entry under its id; None removes the entry."""
    key = ("acl", acl_id)
    was, acls = image.others.get(key), image.acls
    if isinstance(was, AccessControlEntryRecord):
        acls = acls.minus(was)
    if entry is not None:
        acls = acls.plus(entry)
    return replace(set_other(image, key, entry), acls=acls)


def set_quota(image: MetadataImage, record: ClientQuotaRecord) -> MetadataImage:
    """Set or remove a quota of an entity."""
    key = ("quota", record.key, *(text for part in entity_of(record) for text in part))
    image = set_other(image, key, None if record.remove else record)
    return replace(image, quotas=image.quotas.after(record))


def rebuild(image: MetadataImage) -> MetadataImage:
    """Return the same entities with every derived part computed from scratch.

    Must equal `image`.
    """
    indexes = BrokerIndexes()
    topic_ids: Map[str, Uuid] = Map()
    unified_names: Map[str, int] = Map()
    for topic in image.topics.values():
        topic_ids = topic_ids.set(topic.name, topic.topic_id)
        unified_names = _counted(unified_names, topic.name, 1)
        for partition in image.partitions_of(topic.topic_id):
            indexes = _reindexed(indexes, None, partition)
    return replace(
        image,
        topic_ids=topic_ids,
        unified_names=unified_names,
        by_broker=indexes,
        acls=index_of(
            entry for entry in image.others.values() if isinstance(entry, AccessControlEntryRecord)
        ),
        quotas=quotas_of(image.others.values()),
        digest=recompute_digest(image),
    )


def _counted(names: Map[str, int], name: str, by: int) -> Map[str, int]:
    """Adjust the count of a topic's name if the name has a character that can collide."""
    key = unified(name)
    if "_" not in key:
        return names
    count = names.get(key, 0) + by
    return names.set(key, count) if count else names.delete(key)


def _reindexed(
    indexes: BrokerIndexes, was: Partition | None, now: Partition | None
) -> BrokerIndexes:
    partition = now or was
    assert partition is not None, "a change of nothing"
    entry, bit = divmod(partition.index, PARTITIONS_A_MARK)
    place = ((partition.topic_id, entry), 1 << bit)
    return BrokerIndexes(
        replicas=_listed(
            indexes.replicas, place, was.replicas if was else (), now.replicas if now else ()
        ),
        isr=_listed(indexes.isr, place, was.isr if was else (), now.isr if now else ()),
        leaders=_listed(indexes.leaders, place, _leaders(was), _leaders(now)),
        moving=_listed(indexes.moving, place, _moving(was), _moving(now)),
    )


def _leaders(partition: Partition | None) -> tuple[NodeId, ...]:
    return () if partition is None else (partition.leader,)


def _moving(partition: Partition | None) -> tuple[NodeId, ...]:
    return () if partition is None or not partition.is_moving else (NO_NODE,)


def _listed(
    index: Map[NodeId, Marked],
    place: tuple[PartitionKey, int],
    was: tuple[NodeId, ...],
    now: tuple[NodeId, ...],
) -> Map[NodeId, Marked]:
    """Move a partition from the index entries of its old brokers to those of its new brokers."""
    if was == now:
        return index
    key, bit = place
    for broker_id in was:
        if broker_id not in now:
            marked = index[broker_id]
            bits = marked[key] & ~bit
            marked = marked.set(key, bits) if bits else marked.delete(key)
            index = index.set(broker_id, marked) if marked else index.delete(broker_id)
    for broker_id in now:
        if broker_id not in was:
            marked = index.get(broker_id, _NONE_MARKED)
            index = index.set(broker_id, marked.set(key, marked.get(key, 0) | bit))
    return index


def _without_topic(
    index: Map[NodeId, Marked], broker_ids: Iterable[NodeId], keys: Iterable[PartitionKey]
) -> Map[NodeId, Marked]:
    """Remove the entries of a topic's partitions from the index of the given brokers."""
    for broker_id in broker_ids:
        marked = index.get(broker_id, _NONE_MARKED)
        for key in keys:
            marked = _without(marked, key)
        index = index.set(broker_id, marked) if marked else _without(index, broker_id)
    return index


def _without(entries: Map, key: object) -> Map:  # type: ignore[type-arg]
    return entries.delete(key) if key in entries else entries
