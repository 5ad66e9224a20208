"""Apply metadata records: (image, record) -> image (KIP-631 "Record Formats").

Active controllers, standbys and brokers share this pure function. A record that contradicts the
image raises ApplyError and is never skipped, since the node would disagree with its cluster. While
a metadata transaction is open (KIP-868), the image keeps the image before the transaction.
"""

from collections.abc import Mapping
from typing import Final

from msgspec.structs import replace

from kraftproof.node.core.base.types import Epoch, NodeId, Offset
from kraftproof.node.core.metadata.apply_error import ApplyError, UnreadableRecordError
from kraftproof.node.core.metadata.changed_partition import changed_partition, nodes
from kraftproof.node.core.metadata.changes import (
    add_topic,
    clear_elr,
    remove_broker,
    remove_topic,
    set_broker,
    set_config,
    set_feature,
    set_other,
    set_partition,
)
from kraftproof.node.core.metadata.image import BrokerRegistration, MetadataImage, Partition, Topic
from kraftproof.node.core.metadata.kept_records import (
    KEPT_RECORDS,
    Handler,
    config_key,
    feature_key,
)
from kraftproof.node.core.metadata.version import LARGEST_LEVEL
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Batch, Record
from kraftproof.node.wire.records.unknown_record import UnknownRecord
from kraftproof.node.wire.types import Uuid, format_uuid

TOPIC_RESOURCE: Final = 2  # the resource type of a topic in a ConfigRecord


def apply(image: MetadataImage, record: Record) -> MetadataImage:
    """Return the image after the record.

    Raises:
        ApplyError: the record contradicts the image.
    """
    handler = _HANDLERS.get(type(record))
    if handler is None:
        raise ApplyError(f"{type(record).__name__} is no record that this node can apply")
    return handler(image, record)


def apply_all(image: MetadataImage, written: tuple[Record, ...]) -> MetadataImage:
    """Return the image after the records."""
    for record in written:
        image = apply(image, record)
    return image


def apply_batch(image: MetadataImage, batch: Batch) -> MetadataImage:
    """Return the image after a batch; a control batch changes no metadata."""
    if batch.is_control:
        return image
    try:
        return apply_all(image, batch.records)
    except UnreadableRecordError as error:
        offset = batch.base_offset + list(map(type, batch.records)).index(UnknownRecord)
        raise UnreadableRecordError(f"offset {offset}: {error}") from error


def _register_broker(image: MetadataImage, record: records.RegisterBrokerRecord) -> MetadataImage:
    was = image.brokers.get(NodeId(record.broker_id))
    if was is not None and record.broker_epoch < was.epoch:
        raise ApplyError(
            f"broker {record.broker_id} registers with epoch {record.broker_epoch}, "
            f"but has {was.epoch} already"
        )
    broker = BrokerRegistration(
        broker_id=NodeId(record.broker_id),
        epoch=Offset(record.broker_epoch),
        incarnation=record.incarnation_id,
        endpoints=record.end_points,
        features=record.features,
        rack=record.rack,
        fenced=record.fenced,
        in_controlled_shutdown=record.in_controlled_shutdown,
        log_dirs=record.log_dirs,
        cordoned_log_dirs=record.cordoned_log_dirs,
        unknown_tags=record.unknown_tags,
    )
    return set_broker(image, broker)


def _registered(image: MetadataImage, broker_id: int, epoch: int) -> BrokerRegistration:
    """Return the registration that a record names; refuse another broker epoch (631-24)."""
    broker = image.brokers.get(NodeId(broker_id))
    if broker is None:
        raise ApplyError(f"broker {broker_id} is not registered")
    if broker.epoch != epoch:
        raise ApplyError(f"broker {broker_id} has epoch {broker.epoch}, not {epoch}")
    return broker


def _unregister(image: MetadataImage, record: records.UnregisterBrokerRecord) -> MetadataImage:
    broker = _registered(image, record.broker_id, record.broker_epoch)
    return remove_broker(image, broker)


def _fence(image: MetadataImage, record: records.FenceBrokerRecord) -> MetadataImage:
    broker = _registered(image, record.id, record.epoch)
    return set_broker(image, replace(broker, fenced=True))


def _unfence(image: MetadataImage, record: records.UnfenceBrokerRecord) -> MetadataImage:
    broker = _registered(image, record.id, record.epoch)
    return set_broker(image, replace(broker, fenced=False))


def _change_registration(
    image: MetadataImage, record: records.BrokerRegistrationChangeRecord
) -> MetadataImage:
    broker = _registered(image, record.broker_id, record.broker_epoch)
    return set_broker(
        image,
        replace(
            broker,
            fenced=_switched(broker.fenced, record.fenced),
            in_controlled_shutdown=_switched(
                broker.in_controlled_shutdown, record.in_controlled_shutdown
            ),
            log_dirs=record.log_dirs or broker.log_dirs,
            cordoned_log_dirs=(
                broker.cordoned_log_dirs
                if record.cordoned_log_dirs is None
                else record.cordoned_log_dirs
            ),
        ),
    )


def _switched(was: bool, change: int) -> bool:  # noqa: FBT001 - a value, not an option
    return was if change == 0 else change > 0


def _topic(image: MetadataImage, record: records.TopicRecord) -> MetadataImage:
    if record.name in image.topic_ids or record.topic_id in image.topics:
        raise ApplyError(f"topic {record.name} ({format_uuid(record.topic_id)}) exists already")
    topic = Topic(name=record.name, topic_id=record.topic_id, unknown_tags=record.unknown_tags)
    return add_topic(image, topic)


def _existing_topic(image: MetadataImage, topic_id: Uuid) -> Topic:
    topic = image.topics.get(topic_id)
    if topic is None:
        raise ApplyError(f"there is no topic {format_uuid(topic_id)}")
    return topic


def _remove_topic(image: MetadataImage, record: records.RemoveTopicRecord) -> MetadataImage:
    topic = _existing_topic(image, record.topic_id)
    resource = (TOPIC_RESOURCE, topic.name)
    for name in sorted(image.configs.get(resource, {})):
        image = set_config(image, resource, name, None)
        image = set_other(image, config_key(resource, name), None)
    return remove_topic(image, topic)


def _partition(image: MetadataImage, record: records.PartitionRecord) -> MetadataImage:
    topic = _existing_topic(image, record.topic_id)
    partition = Partition(
        topic_id=topic.topic_id,
        index=record.partition_id,
        replicas=nodes(record.replicas),
        isr=nodes(record.isr),
        removing=nodes(record.removing_replicas),
        adding=nodes(record.adding_replicas),
        leader=NodeId(record.leader),
        leader_epoch=Epoch(record.leader_epoch),
        partition_epoch=record.partition_epoch,
        recovery_state=record.leader_recovery_state,
        directories=record.directories,
        eligible_leader_replicas=nodes(record.eligible_leader_replicas or ()),
        last_known_elr=nodes(record.last_known_elr or ()),
        unknown_tags=record.unknown_tags,
    )
    return set_partition(image, partition)


def _change_partition(image: MetadataImage, record: records.PartitionChangeRecord) -> MetadataImage:
    topic = _existing_topic(image, record.topic_id)
    was = image.partitions[topic.topic_id].get(record.partition_id)
    if was is None:
        raise ApplyError(f"topic {topic.name} has no partition {record.partition_id}")
    return set_partition(image, changed_partition(was, record))


def _config(image: MetadataImage, record: records.ConfigRecord) -> MetadataImage:
    resource = (record.resource_type, record.resource_name)
    image = set_config(image, resource, record.name, record.value)
    kept = record if record.unknown_tags and record.value is not None else None
    return set_other(image, config_key(resource, record.name), kept)


def _feature(image: MetadataImage, record: records.FeatureLevelRecord) -> MetadataImage:
    image = set_feature(image, record.name, record.feature_level)
    kept = record if record.unknown_tags and record.feature_level else None
    return set_other(image, feature_key(record.name), kept)


def _begin(image: MetadataImage, _: records.BeginTransactionRecord) -> MetadataImage:
    if image.before is not None:
        raise ApplyError("a metadata transaction begins while another is open")
    return replace(image, before=image)


def _end(image: MetadataImage, _: records.EndTransactionRecord) -> MetadataImage:
    if image.before is None:
        raise ApplyError("a metadata transaction ends without an open transaction")
    return replace(image, before=None)


def _abort(image: MetadataImage, _: records.AbortTransactionRecord) -> MetadataImage:
    if image.before is None:
        raise ApplyError("a metadata transaction is aborted without an open transaction")
    return image.before


def _refuse_unknown(_: MetadataImage, record: UnknownRecord) -> MetadataImage:
    raise UnreadableRecordError(
        f"a record of type {record.record_type} and version {record.version} can not be applied"
        f" ({record.reason}); run a Kraftproof that knows the record, or keep the cluster at"
        f" metadata.version {LARGEST_LEVEL}"
    )


def _nothing(image: MetadataImage, record: Record) -> MetadataImage:
    assert isinstance(record, records.NoOpRecord)
    return image


_HANDLERS: Final[Mapping[type, Handler]] = {
    records.RegisterBrokerRecord: _register_broker,
    records.UnregisterBrokerRecord: _unregister,
    records.TopicRecord: _topic,
    records.PartitionRecord: _partition,
    records.ConfigRecord: _config,
    records.PartitionChangeRecord: _change_partition,
    records.FenceBrokerRecord: _fence,
    records.UnfenceBrokerRecord: _unfence,
    records.RemoveTopicRecord: _remove_topic,
    records.FeatureLevelRecord: _feature,
    records.BrokerRegistrationChangeRecord: _change_registration,
    records.NoOpRecord: _nothing,
    UnknownRecord: _refuse_unknown,
    records.ClearElrRecord: lambda image, record: clear_elr(image, record.topic_name),
    records.BeginTransactionRecord: _begin,
    records.EndTransactionRecord: _end,
    records.AbortTransactionRecord: _abort,
    **KEPT_RECORDS,
}
