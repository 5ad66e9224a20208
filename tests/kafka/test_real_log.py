"""A node of ours replays the log of a real Kafka controller from offset 0, and snapshots it."""

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from kraftproof.cluster.simulated.committed.reference_image import (
    entities_of_image,
    entities_of_log,
    first_difference,
)
from kraftproof.node.core.base.snapshot_ids import StoredSnapshot
from kraftproof.node.core.log.log import Log
from kraftproof.node.core.metadata.changes import rebuild
from kraftproof.node.core.metadata.committed import CommittedImage
from kraftproof.node.core.metadata.snapshot import batches_of, load
from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.records.batches import decode_batches, encode_batch, encode_batches
from kraftproof.node.wire.records.metadata import BeginTransactionRecord, EndTransactionRecord
from tests.kafka.systems import Running, until

pytestmark = pytest.mark.kafka
NAME = "followed"


def batches_on_disk(system: Running) -> tuple[Batch, ...]:
    (segment,) = sorted(system.log_directory.glob("*.log"))
    written = segment.read_bytes().rstrip(b"\0")
    return decode_batches(written, allow_partial=True)


def has_topic(batches: tuple[Batch, ...]) -> bool:
    return any(getattr(record, "name", "") == NAME for b in batches for record in b.records)


@pytest.mark.requirement("631-15")
def test_our_image_of_a_real_log_is_what_the_log_says(real: Running) -> None:
    admin = AdminClient({"bootstrap.servers": real.brokers, "log_level": 0})
    topic = NewTopic(NAME, num_partitions=3, replication_factor=1, config={"retention.ms": "9"})
    admin.create_topics([topic])[NAME].result(15)
    assert until(lambda: has_topic(batches_on_disk(real)))
    batches = batches_on_disk(real)
    kinds = [type(record) for batch in batches for record in batch.records]
    assert BeginTransactionRecord in kinds
    assert EndTransactionRecord in kinds
    image = CommittedImage()
    log = Log(batches)
    image.advance(log, log.end_offset)
    assert first_difference(entities_of_log(batches), entities_of_image(image.image)) is None
    assert image.image.topic_named(NAME) is not None
    assert [broker.fenced for broker in image.image.sorted_brokers()] == [False]
    assert image.image.digest == rebuild(image.image).digest
    # What a replica that has not kept the bytes would write, and what its snapshot holds.
    for batch in batches:
        (again,) = decode_batches(encode_batch(Batch(**_fields(batch))))
        assert again == batch
    snapshot = decode_batches(encode_batches(batches_of(image.end, image.image, 0)))
    stored = StoredSnapshot(snapshot=image.end, size=1)
    assert load(stored, snapshot).image == image.image


def _fields(batch: Batch) -> dict[str, object]:
    return {name: getattr(batch, name) for name in batch.__struct_fields__}
