"""The mirrors of partition logs: what a start must find, and what it may lack."""

from kraftproof.cluster.simulated.disk.partition_mirrors import LostPartition, PartitionMirrors
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import Offset
from kraftproof.node.core.log.recovered import RecoveredLog
from kraftproof.node.wire.types import ZERO_UUID, Uuid
from tests.support.node.raw_batches import raw

LOG = LogId(Uuid(b"topic of the log"), 0)


def written(flushed_end=None):
    mirrors = PartitionMirrors()
    mirrors.create(LOG, "t")
    for offset in range(5):
        mirrors.of(LOG).append(raw(offset))
    if flushed_end is not None:
        mirrors.flushed(LOG, 0, flushed_end)
    return mirrors


def found(end_offset, start_offset=0):
    return RecoveredLog(
        log=LOG,
        topic="t",
        directory=ZERO_UUID,
        start_offset=Offset(start_offset),
        end_offset=Offset(end_offset),
        high_watermark=Offset(start_offset),
    )


def test_a_start_that_finds_the_flushed_records_is_followed():
    mirrors = written(3)
    assert mirrors.recovered([found(4, start_offset=1)]) == []
    mirror = mirrors.of(LOG)
    assert (mirror.start_offset, mirror.end_offset, mirror.durable_end) == (1, 4, 4)
    assert [batch.base_offset for batch in mirror.between(1, 3)] == [1, 2]


def test_lost_flushed_records_are_named():
    assert written(4).recovered([found(3)]) == [LostPartition(log=LOG, promised_end=4, found_end=3)]
    assert written(0).recovered([]) == [LostPartition(log=LOG, promised_end=0, found_end=None)]
    assert written().recovered([]) == []


def test_a_flush_of_an_older_generation_proves_nothing():
    mirrors = written()
    mirrors.of(LOG).truncate(2)
    mirrors.flushed(LOG, 0, 5)
    assert mirrors.of(LOG).durable_end == 0
    mirrors.of(LOG).restart(9)
    assert (mirrors.of(LOG).end_offset, mirrors.of(LOG).batches) == (9, [])
    mirrors.delete(LOG)
    mirrors.flushed(LOG, 2, 9)
    assert len(mirrors) == 0


def test_a_batch_that_a_full_disk_took_before_it_failed_is_found_at_the_start():
    mirrors = written(5)
    mirrors.of(LOG).attempted = raw(5)
    assert mirrors.recovered([found(6)]) == []
    mirror = mirrors.of(LOG)
    assert [batch.base_offset for batch in mirror.after(4)] == [4, 5]
    assert (mirror.end_offset, mirror.attempted) == (6, None)


def test_a_batch_that_a_full_disk_did_not_take_is_forgotten():
    mirrors = written(5)
    mirrors.of(LOG).attempted = raw(5)
    assert mirrors.recovered([found(5)]) == []
    assert mirrors.of(LOG).attempted is None
    mirrors.of(LOG).append(raw(5))
    assert [batch.base_offset for batch in mirrors.of(LOG).after(4)] == [4, 5]


def test_the_logs_of_a_failed_directory_are_lost_only_with_a_replaced_disk():
    gone, works = Uuid(b"d" * 16), Uuid(b"e" * 16)
    mirrors = PartitionMirrors()
    mirrors.create(LOG, "t", gone)
    mirrors.flushed(LOG, 0, 0)
    mirrors.fail(gone)
    assert mirrors.failed == {gone}
    assert mirrors.recovered([], frozenset({gone})) == []
    assert mirrors.get(LOG) is not None
    mirrors.drop(works)
    assert mirrors.get(LOG) is not None
    assert mirrors.recovered([]) == [LostPartition(log=LOG, promised_end=0, found_end=None)]
    mirrors.create(LOG, "t", gone)
    mirrors.flushed(LOG, 0, 0)
    mirrors.drop(gone)
    assert mirrors.recovered([]) == []
