"""Fold records into an image (KIP-631 "Record Formats").

A record that contradicts the image raises ContradictionError: no controller may write such a
record.
"""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

from msgspec import Struct
from msgspec.structs import replace

from kraftproof.checkers.kraft.specification import rows
from kraftproof.checkers.kraft.specification.ids import Id, show
from kraftproof.checkers.kraft.specification.image import (
    TOPIC_RESOURCE,
    Broker,
    ContradictionError,
    Entity,
    Image,
    Partition,
    Topic,
)
from kraftproof.checkers.kraft.specification.rows import Row
from kraftproof.checkers.kraft.specification.rows.feature_levels import Levels, levels_of
from kraftproof.checkers.kraft.specification.rows.kept import SECRET_RECORDS, Secrets
from kraftproof.checkers.kraft.specification.rows.partitions import ProducerIdsRecord
from kraftproof.checkers.kraft.specification.rows.quotas import ClientQuotaRecord
from kraftproof.checkers.kraft.specification.rows.security import (
    AccessControlEntryRecord,
    RemoveAccessControlEntryRecord,
)


class Draft(Struct, kw_only=True):
    """An image under change; a table is copied at its first change."""

    image: Image
    brokers: dict[int, Broker]
    topics: dict[Id, Topic]
    names: dict[str, Id]
    configs: dict[str, dict[str, str]]
    features: dict[str, int]
    partitions: dict[Id, dict[int, Partition]]
    """The partitions of the topics that the records touch."""
    other_configs: dict[tuple[int, str], dict[str, str]]
    controllers: dict[int, Mapping[str, Levels]]
    next_producer_id: int
    acls: dict[Id, AccessControlEntryRecord]
    quotas: dict[Entity, dict[str, float]]
    secrets: Secrets
    before: Image | None

    @classmethod
    def of(cls, image: Image) -> "Draft":
        """Return a draft that begins as an image."""
        return cls(
            image=image,
            brokers=dict(image.brokers),
            topics=dict(image.topics),
            names=dict(image.names),
            configs={name: dict(settings) for name, settings in image.configs.items()},
            features=dict(image.features),
            partitions={},
            other_configs={key: dict(values) for key, values in image.other_configs.items()},
            controllers=dict(image.controllers),
            next_producer_id=image.next_producer_id,
            acls=dict(image.acls),
            quotas={entity: dict(values) for entity, values in image.quotas.items()},
            secrets=image.secrets,
            before=image.before,
        )

    def partitions_of(self, topic_id: Id) -> dict[int, Partition]:
        """Return the partitions of a topic for a change."""
        found = self.partitions.get(topic_id)
        if found is None:
            topic = self.topics.get(topic_id)
            if topic is None:
                raise ContradictionError(f"there is no topic {show(topic_id)}")
            found = self.partitions[topic_id] = dict(topic.partitions)
        return found

    def finished(self) -> Image:
        """Return the image after the changes."""
        for topic_id, partitions in self.partitions.items():
            self.topics[topic_id] = replace(self.topics[topic_id], partitions=partitions)
        return Image(
            brokers=self.brokers,
            topics=self.topics,
            names=self.names,
            configs=self.configs,
            features=self.features,
            other_configs=self.other_configs,
            controllers=self.controllers,
            next_producer_id=self.next_producer_id,
            acls=self.acls,
            quotas=self.quotas,
            secrets=self.secrets,
            before=self.before,
        )


def fold(image: Image, written: Iterable[Row]) -> Image:
    """Return the image after the records.

    Raises:
        ContradictionError: a record contradicts the image before it.
    """
    effective = [record for record in written if type(record) in _EFFECTS]
    if not effective:
        return image
    draft = Draft.of(image)
    for record in effective:
        _EFFECTS[type(record)](draft, record)
    return draft.finished()


def _register(draft: Draft, record: rows.RegisterBrokerRecord) -> None:
    draft.brokers[record.broker_id] = Broker(
        broker_id=record.broker_id,
        epoch=record.broker_epoch,
        incarnation=record.incarnation_id,
        rack=record.rack,
        fenced=record.fenced,
        is_leaving=record.in_controlled_shutdown,
        log_dirs=record.log_dirs,
        levels=levels_of(record.features),
    )


def _registered(draft: Draft, broker_id: int, epoch: int) -> Broker:
    broker = draft.brokers.get(broker_id)
    if broker is None or broker.epoch != epoch:
        raise ContradictionError(f"broker {broker_id} is not registered with epoch {epoch}")
    return broker


def _unregister(draft: Draft, record: rows.UnregisterBrokerRecord) -> None:
    _registered(draft, record.broker_id, record.broker_epoch)
    del draft.brokers[record.broker_id]


def _change_broker(draft: Draft, record: rows.BrokerRegistrationChangeRecord) -> None:
    broker = _registered(draft, record.broker_id, record.broker_epoch)
    leaves = record.in_controlled_shutdown
    draft.brokers[record.broker_id] = replace(
        broker,
        fenced=record.fenced > 0 if record.fenced else broker.fenced,
        is_leaving=leaves > 0 if leaves else broker.is_leaving,
        log_dirs=record.log_dirs or broker.log_dirs,
    )


def _create(draft: Draft, record: rows.TopicRecord) -> None:
    if record.name in draft.names:
        raise ContradictionError(f"there is a topic {record.name} already")
    if record.topic_id in draft.topics:
        raise ContradictionError(f"there is a topic with the id {show(record.topic_id)} already")
    draft.names[record.name] = record.topic_id
    draft.topics[record.topic_id] = Topic(name=record.name, topic_id=record.topic_id, partitions={})


def _remove(draft: Draft, record: rows.RemoveTopicRecord) -> None:
    topic = draft.topics.pop(record.topic_id, None)
    if topic is None:
        raise ContradictionError(f"there is no topic {show(record.topic_id)} to remove")
    del draft.names[topic.name]
    draft.configs.pop(topic.name, None)
    draft.partitions.pop(record.topic_id, None)


def _partition(draft: Draft, record: rows.PartitionRecord) -> None:
    partitions = draft.partitions_of(record.topic_id)
    if record.partition_id in partitions:
        raise ContradictionError(
            f"topic {show(record.topic_id)} has a partition {record.partition_id} already"
        )
    partitions[record.partition_id] = Partition(
        replicas=record.replicas,
        isr=record.isr,
        leader=record.leader,
        leader_epoch=record.leader_epoch,
        partition_epoch=record.partition_epoch,
        removing=record.removing_replicas,
        adding=record.adding_replicas,
        recovery_state=record.leader_recovery_state,
        directories=record.directories,
    )


def _change_partition(draft: Draft, record: rows.PartitionChangeRecord) -> None:
    partitions = draft.partitions_of(record.topic_id)
    was = partitions.get(record.partition_id)
    if was is None:
        raise ContradictionError(
            f"topic {show(record.topic_id)} has no partition {record.partition_id}"
        )
    partitions[record.partition_id] = was.after(record)


def _give_producer_ids(draft: Draft, record: ProducerIdsRecord) -> None:
    if record.next_producer_id <= draft.next_producer_id:
        raise ContradictionError(
            f"the next producer id {draft.next_producer_id} became {record.next_producer_id}"
        )
    draft.next_producer_id = record.next_producer_id


def _protect(draft: Draft, record: AccessControlEntryRecord) -> None:
    draft.acls[record.id] = record


def _keep(draft: Draft, record: Row) -> None:
    draft.secrets = draft.secrets.after(record)


def _set_quota(draft: Draft, record: ClientQuotaRecord) -> None:
    entity = frozenset((part.entity_type, part.entity_name) for part in record.entity)
    values = draft.quotas.setdefault(entity, {})
    values.pop(record.key, None)
    if not record.remove:
        values[record.key] = record.value


def _configure(draft: Draft, record: rows.ConfigRecord) -> None:
    if record.resource_type == TOPIC_RESOURCE:
        settings = draft.configs.setdefault(record.resource_name, {})
    else:
        key = (record.resource_type, record.resource_name)
        settings = draft.other_configs.setdefault(key, {})
    settings.pop(record.name, None)
    if record.value is not None:
        settings[record.name] = record.value


def _register_controller(draft: Draft, record: rows.RegisterControllerRecord) -> None:
    draft.controllers[record.controller_id] = levels_of(record.features)


def _set_feature(draft: Draft, record: rows.FeatureLevelRecord) -> None:
    draft.features.pop(record.name, None)
    if record.feature_level:
        draft.features[record.name] = record.feature_level


def _begin(draft: Draft, _: rows.BeginTransactionRecord) -> None:
    draft.before = draft.image


def _abort(draft: Draft, _: rows.AbortTransactionRecord) -> None:
    if draft.before is None:
        raise ContradictionError("a metadata transaction is aborted, but none is open")
    before = Draft.of(draft.before)
    for name in Draft.__struct_fields__:
        setattr(draft, name, getattr(before, name))
    draft.before = None


# Each function takes the row of its key, which the type of a dict cannot express.
_EFFECTS: Final[dict[type[Row], Callable[[Draft, Any], object]]] = {
    rows.RegisterBrokerRecord: _register,
    rows.UnregisterBrokerRecord: _unregister,
    rows.BrokerRegistrationChangeRecord: _change_broker,
    rows.TopicRecord: _create,
    rows.RemoveTopicRecord: _remove,
    rows.PartitionRecord: _partition,
    rows.PartitionChangeRecord: _change_partition,
    rows.ConfigRecord: _configure,
    rows.FeatureLevelRecord: _set_feature,
    AccessControlEntryRecord: _protect,
    RemoveAccessControlEntryRecord: lambda draft, record: draft.acls.pop(record.id, None),
    **dict.fromkeys(SECRET_RECORDS, _keep),
    ProducerIdsRecord: _give_producer_ids,
    ClientQuotaRecord: _set_quota,
    rows.RegisterControllerRecord: _register_controller,
    rows.BeginTransactionRecord: _begin,
    rows.EndTransactionRecord: lambda draft, _: setattr(draft, "before", None),
    rows.AbortTransactionRecord: _abort,
}
