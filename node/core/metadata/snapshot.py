"""Convert an image to the records of a snapshot, and back (KIP-630).

The records are the smallest set that gives the image when applied to an empty image (631-32), in a
fixed order: features, brokers, topics with their partitions, configurations, other entities. The
same image and id give the same batches on every node. A header and a footer frame the records, so
that a truncated file is detected. See node/storage/snapshots.py for bytes and files.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Final, cast

from msgspec import Struct

from kraftproof.node.core.base.snapshot_ids import LOG_BEGIN, SnapshotId, StoredSnapshot
from kraftproof.node.core.base.types import Offset
from kraftproof.node.core.metadata.apply import apply_batch
from kraftproof.node.core.metadata.apply_error import ApplyError, UnreadableRecordError
from kraftproof.node.core.metadata.image import (
    EMPTY_IMAGE,
    BrokerRegistration,
    MetadataImage,
    Partition,
)
from kraftproof.node.core.metadata.kept_records import config_key, feature_key
from kraftproof.node.core.metadata.version import level_of
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Batch, Record, write_level
from kraftproof.node.wire.records.control import SnapshotFooter, SnapshotHeader

RECORDS_A_BATCH: Final = 500
"""Maximum number of records in a batch; limits the memory of a reader."""


_OF_TRANSACTIONS: Final = (
    records.BeginTransactionRecord,
    records.EndTransactionRecord,
    records.AbortTransactionRecord,
)


class SnapshotError(ValueError):
    """The batches are no complete snapshot."""


class UnsupportedSnapshotError(SnapshotError):
    """A snapshot contains a record that this node can't read."""


class LoadedSnapshot(Struct, frozen=True, kw_only=True):
    """A snapshot on the disk and its content."""

    stored: StoredSnapshot
    timestamp_ms: int
    """The timestamp of the last contained batch of the log."""
    image: MetadataImage


class History(Struct, frozen=True, kw_only=True):
    """The snapshots and the start of the log that recovery has found."""

    log_start: SnapshotId = LOG_BEGIN
    kept: tuple[StoredSnapshot, ...] = ()
    """The kept snapshots, oldest first."""
    newest: LoadedSnapshot | None = None
    high_watermark: Offset = Offset(0)
    """A lower bound of the high watermark at the stop of the node (595-11)."""


NO_HISTORY: Final = History()


def batches_of(snapshot: SnapshotId, image: MetadataImage, timestamp_ms: int) -> Iterator[Batch]:
    """Yield a snapshot's batches.

    Offsets count from 0, and every batch has the snapshot's epoch.
    """
    offset, level = 0, write_level(level_of(image))
    for is_control, part in _parts(image, timestamp_ms):
        batch = Batch(
            base_offset=offset,
            epoch=snapshot.epoch,
            timestamp_ms=timestamp_ms,
            is_control=is_control,
            records=part,
            level=level,
        )
        offset = batch.next_offset
        yield batch


def _parts(image: MetadataImage, timestamp_ms: int) -> Iterator[tuple[bool, tuple[Record, ...]]]:
    yield True, (SnapshotHeader(last_contained_log_timestamp=timestamp_ms),)
    content = records_of(image)
    while part := tuple(islice(content, RECORDS_A_BATCH)):
        yield False, part
    yield True, (SnapshotFooter(),)


def records_of(image: MetadataImage) -> Iterator[Record]:
    """Yield the records that describe every entity of an image."""
    for name in sorted(image.features):
        if feature_key(name) not in image.others:
            yield records.FeatureLevelRecord(name=name, feature_level=image.features[name])
    for broker in image.sorted_brokers():
        yield _registration(broker)
    for topic in image.sorted_topics():
        yield records.TopicRecord(
            name=topic.name, topic_id=topic.topic_id, unknown_tags=topic.unknown_tags
        )
        for partition in image.partitions_of(topic.topic_id):
            yield _partition(partition)
    for kind, resource in sorted(image.configs):
        values = image.configs[kind, resource]
        for name in sorted(values):
            if config_key((kind, resource), name) in image.others:
                continue
            yield records.ConfigRecord(
                resource_type=kind, resource_name=resource, name=name, value=values[name]
            )
    for key in sorted(image.others, key=repr):
        yield cast("Record", image.others[key])


def _registration(broker: BrokerRegistration) -> records.RegisterBrokerRecord:
    return records.RegisterBrokerRecord(
        broker_id=broker.broker_id,
        incarnation_id=broker.incarnation,
        broker_epoch=broker.epoch,
        end_points=broker.endpoints,
        features=broker.features,
        rack=broker.rack,
        fenced=broker.fenced,
        in_controlled_shutdown=broker.in_controlled_shutdown,
        log_dirs=broker.log_dirs,
        cordoned_log_dirs=broker.cordoned_log_dirs,
        unknown_tags=broker.unknown_tags,
    )


def _partition(partition: Partition) -> records.PartitionRecord:
    return records.PartitionRecord(
        partition_id=partition.index,
        topic_id=partition.topic_id,
        replicas=partition.replicas,
        isr=partition.isr,
        removing_replicas=partition.removing,
        adding_replicas=partition.adding,
        leader=partition.leader,
        leader_recovery_state=partition.recovery_state,
        leader_epoch=partition.leader_epoch,
        partition_epoch=partition.partition_epoch,
        directories=partition.directories,
        eligible_leader_replicas=partition.eligible_leader_replicas or None,
        last_known_elr=partition.last_known_elr or None,
        unknown_tags=partition.unknown_tags,
    )


def load(stored: StoredSnapshot, batches: Sequence[Batch]) -> LoadedSnapshot:
    """Return the image that a snapshot's batches describe.

    Raises:
        SnapshotError: the batches are no complete snapshot.
        UnsupportedSnapshotError: a record is unreadable.
    """
    header = batches[0].records[0] if batches else None
    footer = batches[-1].records[-1] if batches else None
    if not isinstance(header, SnapshotHeader):
        raise SnapshotError("the first record is no SnapshotHeader")
    if not isinstance(footer, SnapshotFooter):
        raise SnapshotError("the last record is no SnapshotFooter")
    image, offset = EMPTY_IMAGE, 0
    for batch in batches:
        if batch.base_offset != offset:
            raise SnapshotError(f"offset {batch.base_offset} instead of {offset}")
        offset = batch.next_offset
        try:
            image = apply_batch(image, batch)
        except UnreadableRecordError as error:
            raise UnsupportedSnapshotError(str(error)) from error
        except ApplyError as error:
            raise SnapshotError(f"the batch at offset {batch.base_offset}: {error}") from error
        if any(isinstance(record, _OF_TRANSACTIONS) for record in batch.records):
            raise SnapshotError(f"the batch at offset {batch.base_offset} is of a transaction")
    return LoadedSnapshot(
        stored=stored, timestamp_ms=header.last_contained_log_timestamp, image=image
    )
