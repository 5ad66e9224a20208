"""A batch is read from simulated disks once, and by the codec wherever it is not known."""

import pytest

from kraftproof.cluster.simulated.disk import shared_batches
from kraftproof.cluster.simulated.disk.filesystem import SimulatedFileSystem
from kraftproof.cluster.simulated.disk.shared_batches import SharedBatches
from kraftproof.node.storage.batch_codec import PLAIN
from kraftproof.node.storage.errors import CorruptLogError
from kraftproof.node.storage.log import MetadataLog
from kraftproof.node.storage.segments.segment import segment_name
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Batch

LOG = "/log"


def batch(offset):
    record = records.FeatureLevelRecord(name="f", feature_level=offset)
    return Batch(base_offset=offset, epoch=1, timestamp_ms=0, records=(record,))


def written(disk, codec, batches):
    log, _ = MetadataLog.open(disk, LOG, codec=codec)
    for one in batches:
        log.append(one)
    log.start_flush()()
    log.close()


def test_who_starts_again_gets_the_very_batches_that_were_written():
    disk, codec, batches = SimulatedFileSystem(), SharedBatches().codec, [batch(0), batch(1)]
    written(disk, codec, batches)
    for known, is_same in ((codec, True), (PLAIN, False)):
        _, found = MetadataLog.open(disk, LOG, codec=known)
        assert found == batches
        assert [one is two for one, two in zip(found, batches, strict=True)] == [is_same] * 2


def test_what_it_does_not_know_any_more_is_read(monkeypatch):
    monkeypatch.setattr(shared_batches, "MAX_KEPT", 1)
    disk, codec, batches = SimulatedFileSystem(), SharedBatches().codec, [batch(0), batch(1)]
    written(disk, codec, batches)
    _, found = MetadataLog.open(disk, LOG, codec=codec)
    assert found == batches
    assert [one is two for one, two in zip(found, batches, strict=True)] == [False, True]


def test_damage_is_noticed_all_the_same():
    disk, codec, batches = SimulatedFileSystem(), SharedBatches().codec, [batch(0), batch(1)]
    written(disk, codec, batches)
    path = f"{LOG}/{segment_name(0)}"
    data = bytearray(disk.read(path))
    data[len(data) // 2 - 2] ^= 1  # in the first of the two
    disk.append_to(path).truncate(0)
    disk.append_to(path).write(bytes(data))
    with pytest.raises(CorruptLogError, match="fails its CRC"):
        MetadataLog.open(disk, LOG, codec=codec)
