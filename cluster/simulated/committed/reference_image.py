"""A second implementation of the metadata image, from the committed records alone.

Each entity is a dictionary with every field of the entity in the image. The code is slow and
shares nothing with node/core/metadata; it checks the images at the end of a run and some
snapshots during the run. See final_checks.py for the derived parts of an image.
"""

from collections.abc import Iterable
from typing import Final, TypeAlias

from msgspec import Struct
from msgspec.structs import asdict

from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Batch, Record

Fields: TypeAlias = dict[str, object]
Entities: TypeAlias = dict[tuple[object, ...], Fields]
OPEN_TRANSACTION: Final = ("open transaction",)
UNCHANGED = -2
TOPIC_RESOURCE = 2

_KEPT_WHOLE: Final[dict[type, tuple[str, ...]]] = {
    records.ProducerIdsRecord: (),
    records.ZkMigrationStateRecord: (),
    records.RegisterControllerRecord: ("controller_id",),
    records.DelegationTokenRecord: ("token_id",),
    records.UserScramCredentialRecord: ("name", "mechanism"),
    records.AccessControlEntryRecord: ("id",),
    records.ClientQuotaRecord: ("key", "entity"),
}
"""Records kept whole as an entity, with the fields that identify the entity."""
_DROPPED: Final[dict[type, type]] = {
    records.RemoveDelegationTokenRecord: records.DelegationTokenRecord,
    records.RemoveUserScramCredentialRecord: records.UserScramCredentialRecord,
    records.RemoveAccessControlEntryRecord: records.AccessControlEntryRecord,
}


TaggedRecord = records.ConfigRecord | records.FeatureLevelRecord


def entities_of_log(batches: Iterable[Batch], before: Entities | None = None) -> Entities:
    """Return the entities after applying batches to the entities `before`.

    A change of an absent entity is ignored here; a node must stop at such a record.
    """
    entities = {} if before is None else {key: dict(was) for key, was in before.items()}
    for batch in batches:
        apply_to_entities(entities, batch)
    return entities


def apply_to_entities(entities: Entities, batch: Batch) -> None:
    """Apply one batch to the entities in place."""
    for record in () if batch.is_control else batch.records:
        _apply_to_transaction(entities, record)
        _apply_to_brokers(entities, record)
        _apply_to_topics(entities, record)
        _apply_to_configs(entities, record)
        _apply_to_others(entities, record)


def _apply_to_transaction(entities: Entities, record: Record) -> None:
    """Keep the entities from before a metadata transaction until it ends or aborts (KIP-868)."""
    match record:
        case records.BeginTransactionRecord():
            was = [(key, dict(fields)) for key, fields in entities.items()]
            entities[OPEN_TRANSACTION] = {"before": was}
        case records.EndTransactionRecord():
            entities.pop(OPEN_TRANSACTION, None)
        case records.AbortTransactionRecord():
            before = shown(entities)
            entities.clear()
            entities.update(before)
        case _:
            return


def shown(entities: Entities) -> Entities:
    """Return the visible entities: without the changes of an open metadata transaction."""
    before = entities.get(OPEN_TRANSACTION, {}).get("before")
    if not isinstance(before, list):
        return dict(entities)
    return dict(before)


def _apply_to_brokers(entities: Entities, record: Record) -> None:
    match record:
        case records.RegisterBrokerRecord():
            entities["broker", record.broker_id] = {
                "broker_id": record.broker_id,
                "epoch": record.broker_epoch,
                "incarnation": record.incarnation_id,
                "endpoints": record.end_points,
                "features": record.features,
                "rack": record.rack,
                "fenced": record.fenced,
                "in_controlled_shutdown": record.in_controlled_shutdown,
                "log_dirs": record.log_dirs,
                "cordoned_log_dirs": record.cordoned_log_dirs,
                "unknown_tags": record.unknown_tags,
            }
        case records.UnregisterBrokerRecord():
            entities.pop(("broker", record.broker_id), None)
        case records.FenceBrokerRecord() | records.UnfenceBrokerRecord():
            broker = entities.get(("broker", record.id), {})
            broker["fenced"] = isinstance(record, records.FenceBrokerRecord)
        case records.BrokerRegistrationChangeRecord():
            broker = entities.get(("broker", record.broker_id), {})
            if record.fenced:
                broker["fenced"] = record.fenced > 0
            if record.in_controlled_shutdown:
                broker["in_controlled_shutdown"] = record.in_controlled_shutdown > 0
            if record.log_dirs:
                broker["log_dirs"] = record.log_dirs
            if record.cordoned_log_dirs is not None:
                broker["cordoned_log_dirs"] = record.cordoned_log_dirs
        case _:
            return


def _apply_to_topics(entities: Entities, record: Record) -> None:
    match record:
        case records.TopicRecord():
            entities["topic", record.topic_id] = {
                "name": record.name,
                "topic_id": record.topic_id,
                "unknown_tags": record.unknown_tags,
            }
        case records.RemoveTopicRecord():
            topic = entities.get(("topic", record.topic_id), {})
            named = (TOPIC_RESOURCE, topic.get("name"))
            for key in [key for key in entities if key[1] in {record.topic_id, named}]:
                del entities[key]
        case records.PartitionRecord():
            entities["partition", record.topic_id, record.partition_id] = {
                "topic_id": record.topic_id,
                "index": record.partition_id,
                "replicas": record.replicas,
                "isr": record.isr,
                "removing": record.removing_replicas,
                "adding": record.adding_replicas,
                "leader": record.leader,
                "leader_epoch": record.leader_epoch,
                "partition_epoch": record.partition_epoch,
                "recovery_state": record.leader_recovery_state,
                "directories": record.directories,
                "eligible_leader_replicas": record.eligible_leader_replicas or (),
                "last_known_elr": record.last_known_elr or (),
                "unknown_tags": record.unknown_tags,
            }
        case records.PartitionChangeRecord():
            partition = entities.get(("partition", record.topic_id, record.partition_id))
            if partition is not None:
                _change(partition, record)
        case records.ClearElrRecord():
            names = {
                key[1]: fields["name"] for key, fields in entities.items() if key[0] == "topic"
            }
            for key, fields in entities.items():
                if key[0] == "partition" and record.topic_name in {"", names[key[1]]}:
                    fields.update(eligible_leader_replicas=(), last_known_elr=())
        case _:
            return


def _change(partition: Fields, record: records.PartitionChangeRecord) -> None:
    """Apply a change: each raises the partition epoch, a new leader the leader epoch (631-20)."""
    partition["partition_epoch"] = int(str(partition["partition_epoch"])) + 1
    changed: Fields = {
        "replicas": record.replicas,
        "isr": record.isr,
        "removing": record.removing_replicas,
        "adding": record.adding_replicas,
        "recovery_state": None
        if record.leader_recovery_state < 0
        else record.leader_recovery_state,
        "directories": record.directories,
        "eligible_leader_replicas": record.eligible_leader_replicas,
        "last_known_elr": record.last_known_elr,
    }
    partition.update({name: value for name, value in changed.items() if value is not None})
    if record.leader != UNCHANGED:
        partition["leader"] = record.leader
        partition["leader_epoch"] = int(str(partition["leader_epoch"])) + 1


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
            _keep_tags(entities, (*key, record.name), record, is_gone=record.value is None)
        case records.FeatureLevelRecord():
            entities.pop(("feature", record.name), None)
            if record.feature_level:
                entities["feature", record.name] = {"level": record.feature_level}
            tagged = ("features", record.name)
            _keep_tags(entities, tagged, record, is_gone=not record.feature_level)
        case _:
            return


def _keep_tags(
    entities: Entities, key: tuple[object, ...], record: TaggedRecord, *, is_gone: bool
) -> None:
    """Keep a record with tagged fields that are unknown to this version."""
    entities.pop(("tags", *key[1:]), None)
    if record.unknown_tags and not is_gone:
        entities["tags", *key[1:]] = {"record": record}


def _apply_to_others(entities: Entities, record: Record) -> None:
    kind = _DROPPED.get(type(record), type(record))
    if kind not in _KEPT_WHOLE:
        return
    key = _named(kind, record)
    is_gone = kind is not type(record) or (
        isinstance(record, records.ClientQuotaRecord) and record.remove
    )
    entities.pop(key, None)
    if not is_gone:
        entities[key] = {"record": record}


def _named(kind: type, record: Struct) -> tuple[object, ...]:
    """Return the key of a record; the parts of a quota's entity are sorted."""
    identity = {name: getattr(record, name) for name in _KEPT_WHOLE[kind]}
    if isinstance(record, records.ClientQuotaRecord):
        parts = [(part.entity_type, part.entity_name) for part in record.entity]
        identity["entity"] = tuple(sorted(parts, key=lambda part: part[0]))
    return (kind.__name__, tuple(identity.values()))


def _key(record: Struct) -> tuple[object, ...]:
    """Return the key of a record that an image keeps whole."""
    match record:
        case records.ConfigRecord():
            return ("tags", (record.resource_type, record.resource_name), record.name)
        case records.FeatureLevelRecord():
            return ("tags", record.name)
        case _:
            return _named(type(record), record)


def entities_of_image(image: MetadataImage) -> Entities:
    """Return the entities of an image, with every field."""
    entities: Entities = {
        ("broker", broker.broker_id): asdict(broker) for broker in image.sorted_brokers()
    }
    for resource in sorted(image.configs):
        entities["configs", resource] = dict(image.configs[resource])
    for name in sorted(image.features):
        entities["feature", name] = {"level": image.features[name]}
    for topic in image.sorted_topics():
        entities["topic", topic.topic_id] = asdict(topic)
        for partition in image.partitions_of(topic.topic_id):
            entities["partition", topic.topic_id, partition.index] = asdict(partition)
    for record in image.others.values():
        entities[_key(record)] = {"record": record}
    return entities


def first_difference(expected: Entities, found: Entities) -> str | None:
    """Describe the first difference, or return None; an open transaction is not compared."""
    expected = shown(expected)
    if expected == found:
        return None
    for key in sorted(expected.keys() | found.keys(), key=str):
        if expected.get(key) != found.get(key):
            return f"{key}: the image has {found.get(key)}, the log {expected.get(key)}"
    return None
