"""Metadata transactions show nothing before their end, and nothing at all if aborted (KIP-868)."""

from random import Random

import pytest

from kraftproof.cluster.simulated.committed.reference_image import (
    entities_of_image,
    entities_of_log,
    first_difference,
)
from kraftproof.node.core.base.snapshot_ids import SnapshotId, StoredSnapshot
from kraftproof.node.core.base.types import Epoch, Offset
from kraftproof.node.core.log.log import Log
from kraftproof.node.core.metadata.apply import apply, apply_all
from kraftproof.node.core.metadata.apply_error import ApplyError
from kraftproof.node.core.metadata.changes import rebuild
from kraftproof.node.core.metadata.committed import CommittedImage
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.core.metadata.snapshot import SnapshotError, batches_of, load
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.records.batches import decode_batches, encode_batches
from kraftproof.node.wire.records.control import SnapshotFooter, SnapshotHeader
from tests.node.core.controller.desk import Desk, creation
from tests.node.core.metadata.test_apply import BASE, partition, topic, uuid

BEGIN, END = records.BeginTransactionRecord(name="n"), records.EndTransactionRecord()
ABORT = records.AbortTransactionRecord(reason="r")
STORED = StoredSnapshot(snapshot=SnapshotId(Offset(9), Epoch(1)), size=1)


def feature(level: int) -> records.FeatureLevelRecord:
    return records.FeatureLevelRecord(name="f", feature_level=level)


def log_of(*batches: tuple[records.MetadataRecord, ...]) -> list[Batch]:
    made: list[Batch] = []
    for written in batches:
        base = made[-1].next_offset if made else 0
        made.append(Batch(base_offset=base, epoch=1, timestamp_ms=0, records=written))
    return made


def committed(batches: list[Batch]) -> CommittedImage:
    image = CommittedImage()
    log = Log(batches)
    image.advance(log, log.end_offset)
    return image


@pytest.mark.requirement("631-30")
@pytest.mark.parametrize(
    ("batches", "level"),
    [
        ([(BEGIN, feature(1), END)], 1),
        ([(BEGIN, feature(1))], None),
        ([(feature(1), BEGIN, feature(2))], 1),
        ([(feature(1), BEGIN), (feature(2),), (feature(3), END, feature(4))], 4),
        ([(feature(1), BEGIN), (feature(2),), (feature(3), END)], 3),
        ([(feature(1), BEGIN), (feature(2),), (ABORT,)], 1),
        ([(feature(1), BEGIN, feature(2), ABORT, feature(3), BEGIN, feature(4))], 3),
    ],
)
def test_what_is_shown_is_what_was_before_an_open_transaction(batches, level) -> None:
    made = log_of(*batches)
    found = committed(made)
    assert found.image.features.get("f") == level
    assert found.offset == made[-1].next_offset, "offsets count all the same"
    assert found.image.digest == rebuild(found.image).digest
    assert first_difference(entities_of_log(made), entities_of_image(found.image)) is None


@pytest.mark.parametrize(
    "written", [(BEGIN, BEGIN), (END,), (ABORT,), (BEGIN, END, END), (BEGIN, ABORT, ABORT)]
)
def test_a_transaction_that_does_not_fit_is_refused(written) -> None:
    with pytest.raises(ApplyError, match="transaction"):
        apply_all(BASE, written)


def test_no_snapshot_has_records_of_transactions() -> None:
    control = {"epoch": 1, "timestamp_ms": 0, "is_control": True}
    batches = [
        Batch(base_offset=0, records=(SnapshotHeader(),), **control),
        Batch(base_offset=1, epoch=1, timestamp_ms=0, records=(BEGIN, END)),
        Batch(base_offset=3, records=(SnapshotFooter(),), **control),
    ]
    with pytest.raises(SnapshotError, match="transaction"):
        load(STORED, batches)


def test_a_new_leader_aborts_the_transaction_that_it_finds_open() -> None:
    desk = Desk.active(brokers=1)
    desk.lose()
    desk.raft.replicate((BEGIN,))
    desk.raft.replicate((topic(1),))
    before = desk.raft.log.end_offset
    desk.raft.elect()
    desk.commit()
    written = [
        record
        for batch in desk.raft.log.batches(before, desk.raft.log.end_offset)
        for record in batch.records
    ]
    assert records.AbortTransactionRecord(reason="Controller failover") in written[:2]
    assert not desk.image.topics
    assert desk.ask(creation("t")).topics[0].error_code == 0


def test_eligible_leaders_and_cordoned_directories_are_kept_and_cleared() -> None:
    image = apply_all(
        BASE,
        (
            topic(2, "u"),
            partition(2, eligible_leader_replicas=(3,), last_known_elr=(4,)),
            records.PartitionChangeRecord(
                topic_id=uuid(1), partition_id=0, eligible_leader_replicas=(2,)
            ),
            records.BrokerRegistrationChangeRecord(
                broker_id=1, broker_epoch=5, cordoned_log_dirs=(uuid(200),)
            ),
        ),
    )
    stored = decode_batches(encode_batches(batches_of(STORED.snapshot, image, 0)))
    assert load(STORED, stored).image == image
    assert image.brokers[1].cordoned_log_dirs == (uuid(200),)
    assert image.partitions[uuid(1)][0].eligible_leader_replicas == (2,)
    unchanged = records.PartitionChangeRecord(topic_id=uuid(2), partition_id=0)
    kept = apply(image, unchanged).partitions[uuid(2)][0]
    assert (kept.eligible_leader_replicas, kept.last_known_elr) == ((3,), (4,))
    assert apply(image, records.ClearElrRecord(topic_name="unknown")) == image
    one = apply(image, records.ClearElrRecord(topic_name="u"))
    assert one.partitions[uuid(2)][0].last_known_elr == ()
    assert one.partitions[uuid(1)][0].eligible_leader_replicas == (2,)
    none = apply(image, records.ClearElrRecord())
    assert none.partitions[uuid(1)][0].eligible_leader_replicas == ()
    assert none.digest == rebuild(none).digest


@pytest.mark.parametrize("seed", range(30))
def test_both_folds_of_random_logs_agree(seed: int) -> None:
    chance = Random(seed)
    written: list[records.MetadataRecord] = [*_OF_BASE]
    is_open = False
    for _ in range(40):
        if chance.random() < 0.3:
            written.append(chance.choice((END, ABORT)) if is_open else BEGIN)
            is_open = not is_open
        else:
            written.append(_random_record(chance))
    made = log_of(*[(record,) for record in written])
    found = committed(made)
    assert first_difference(entities_of_log(made), entities_of_image(found.image)) is None
    assert found.image.digest == rebuild(found.image).digest


_OF_BASE = (topic(1), partition(1))


def _random_record(chance: Random) -> records.MetadataRecord:
    elr = chance.choice((None, (), (1,), (2, 3)))
    return chance.choice(
        (
            feature(chance.randrange(3)),
            records.ClearElrRecord(topic_name=chance.choice(("", "t", "x"))),
            records.PartitionChangeRecord(
                topic_id=uuid(1), partition_id=0, eligible_leader_replicas=elr, last_known_elr=elr
            ),
        )
    )


def test_an_empty_image_shows_itself() -> None:
    assert EMPTY_IMAGE.shown is EMPTY_IMAGE
