"""Compare the image of a log that others have written, and its snapshot, with plain entities.

The log has records that this controller never writes: of newer features, of metadata transactions,
with tagged fields of a newer version. A record that contradicts the image is refused (KIP-631).
"""

from random import Random
from typing import Final

from kraftproof.cluster.simulated.committed.reference_image import (
    Entities,
    apply_to_entities,
    entities_of_image,
    first_difference,
)
from kraftproof.cluster.simulated.differential.core.derived_parts import compare_derived
from kraftproof.cluster.simulated.differential.difference import DifferenceError, check, same
from kraftproof.cluster.simulated.inherited.inherited_log import inherited_log
from kraftproof.node.core.base.snapshot_ids import SnapshotId, StoredSnapshot
from kraftproof.node.core.base.types import Epoch, Offset
from kraftproof.node.core.metadata.apply import apply_all, apply_batch
from kraftproof.node.core.metadata.apply_error import ApplyError
from kraftproof.node.core.metadata.digest import recompute_digest
from kraftproof.node.core.metadata.image import EMPTY_IMAGE, MetadataImage
from kraftproof.node.core.metadata.snapshot import SnapshotError, batches_of, load
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Batch, Record
from kraftproof.node.wire.types import Uuid

VOTERS: Final = (1, 2, 3)
MOST_RECORDS: Final = 500
"""Maximum number of records in a batch of a snapshot."""
TIME_MS: Final = 1_700
DIRECTORIES: Final = tuple(Uuid(bytes([number]) * 16) for number in (7, 8))


def compare_inherited_images(random: Random) -> None:
    """Apply a drawn log, write a snapshot of the image, and load the snapshot.

    Raises:
        DifferenceError: an entity has another field, or a contradiction is accepted.
    """
    entities: Entities = {}
    image = EMPTY_IMAGE
    log = list(inherited_log(random, VOTERS))
    topics = [one.name for of in log for one in of.records if isinstance(one, records.TopicRecord)]
    if len(set(topics)) < len(topics):
        return  # two topics have drawn the same name
    for batch in log:
        image = _applied(entities, image, batch)
    for number in range(random.randint(1, 6)):
        written = _changes(random, image)
        image = _applied(entities, image, _batch(number, written))
    shown = image.shown
    _compare_entities("the image", entities, shown)
    compare_derived(shown)
    same("the digest", shown.digest, recompute_digest(shown))
    _compare_snapshot(random, entities, shown)
    for refused in _contradictions(image):
        _compare_refusal(image, refused)


def _batch(number: int, written: tuple[Record, ...]) -> Batch:
    return Batch(base_offset=10_000 * number, epoch=1, timestamp_ms=0, records=written)


def _applied(entities: Entities, image: MetadataImage, batch: Batch) -> MetadataImage:
    apply_to_entities(entities, batch)
    return apply_batch(image, batch)


def _compare_entities(what: str, entities: Entities, image: MetadataImage) -> None:
    difference = first_difference(entities, entities_of_image(image))
    if difference is not None:
        raise DifferenceError(f"{what}: {difference}")


def _changes(random: Random, image: MetadataImage) -> tuple[Record, ...]:
    """Return changes of a broker, at times in a transaction that ends, aborts or stays open."""
    brokers = image.sorted_brokers()
    if not brokers:
        return (records.NoOpRecord(),)
    broker = random.choice(brokers)
    change = records.BrokerRegistrationChangeRecord(
        broker_id=broker.broker_id,
        broker_epoch=broker.epoch,
        fenced=random.choice((-1, 0, 1)),
        in_controlled_shutdown=random.choice((0, 0, 1, -1)),
        log_dirs=random.choice(((), DIRECTORIES[:1], DIRECTORIES)),
        cordoned_log_dirs=random.choice((None, (), DIRECTORIES[1:])),
    )
    fencings: tuple[Record, ...] = (
        records.FenceBrokerRecord(id=broker.broker_id, epoch=broker.epoch),
        records.UnfenceBrokerRecord(id=broker.broker_id, epoch=broker.epoch),
    )
    both: tuple[Record, ...] = (change, random.choice(fencings))
    changes = both[: random.randint(1, 2)]
    if image.before is not None:
        return changes
    ends: tuple[tuple[Record, ...], ...] = (
        *((records.EndTransactionRecord(),), (records.AbortTransactionRecord(reason="r"),)),
        (),
    )
    in_transaction: tuple[Record, ...] = (
        records.BeginTransactionRecord(name="n"),
        *changes,
        *random.choice(ends),
    )
    return random.choice((changes, in_transaction))


def _compare_snapshot(random: Random, entities: Entities, image: MetadataImage) -> None:
    snapshot = SnapshotId(Offset(random.randint(1, 99)), Epoch(random.randint(1, 9)))
    batches = list(batches_of(snapshot, image, TIME_MS))
    end = 0
    for place, batch in enumerate(batches):
        is_end = place in {0, len(batches) - 1}
        same("a batch of a snapshot is of control", batch.is_control, is_end)
        same("the begin of a batch of a snapshot", batch.base_offset, end)
        same("the epoch of a batch of a snapshot", batch.epoch, snapshot.epoch)
        same("the time of a batch of a snapshot", batch.timestamp_ms, TIME_MS)
        check("a batch of a snapshot is small", 0 < len(batch.records) <= MOST_RECORDS)
        end += len(batch.records)
    stored = StoredSnapshot(snapshot=snapshot, size=1)
    loaded = load(stored, batches)
    same("the loaded snapshot", (loaded.stored, loaded.timestamp_ms), (stored, TIME_MS))
    _compare_entities("the image of a snapshot", entities, loaded.image)
    same("the digest of the image of a snapshot", loaded.image.digest, image.digest)
    for incomplete in (batches[1:], batches[:-1], []):
        try:
            load(stored, incomplete)
        except SnapshotError:
            continue
        raise DifferenceError("a snapshot without its begin or its end is loaded")


def _contradictions(image: MetadataImage) -> list[Record]:
    """Return records of which each contradicts the image."""
    topic, other = next(iter(image.sorted_topics()), None), Uuid(b"absent" + bytes(10))
    wrong: list[Record] = [
        records.FenceBrokerRecord(id=999, epoch=1),
        records.UnfenceBrokerRecord(id=999, epoch=1),
        records.UnregisterBrokerRecord(broker_id=999, broker_epoch=1),
        records.RemoveTopicRecord(topic_id=other),
        records.PartitionRecord(partition_id=0, topic_id=other),
        records.PartitionChangeRecord(partition_id=0, topic_id=other),
        records.ProducerIdsRecord(next_producer_id=image.next_producer_id),
    ]
    if image.before is None:
        wrong += [records.EndTransactionRecord(), records.AbortTransactionRecord()]
    else:
        wrong.append(records.BeginTransactionRecord())
    if topic is not None:
        wrong += [
            records.TopicRecord(name=topic.name, topic_id=other),
            records.TopicRecord(name="absent", topic_id=topic.topic_id),
            records.PartitionChangeRecord(partition_id=9_999, topic_id=topic.topic_id),
        ]
    for broker in image.sorted_brokers()[:1]:
        node, epoch = broker.broker_id, broker.epoch
        wrong += [
            records.FenceBrokerRecord(id=node, epoch=epoch + 1),
            records.BrokerRegistrationChangeRecord(broker_id=node, broker_epoch=epoch - 1),
            records.RegisterBrokerRecord(broker_id=node, broker_epoch=epoch - 1),
        ]
    return wrong


def _compare_refusal(image: MetadataImage, record: Record) -> None:
    try:
        apply_all(image, (record,))
    except ApplyError:
        return
    raise DifferenceError(f"{record} contradicts the image, and is applied")
