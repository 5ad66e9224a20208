"""Invariants of partition logs, and the texts of their violations."""

from kraftproof.cluster.simulated.disk.partition_mirrors import LostPartition
from kraftproof.cluster.simulated.invariants.partitions.stored_logs import (
    FlushedPartitionsAreKept,
    PartitionEpochsNeverFall,
)
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.effects import Append
from kraftproof.node.wire.types import Uuid
from tests.cluster.simulated.invariants.invariant_harness import MonitorHarness
from tests.support.node.raw_batches import raw

LOG = LogId(Uuid(b"topic of the log"), 3)


def test_a_lost_log_and_lost_records_are_reported():
    harness = MonitorHarness(FlushedPartitionsAreKept())
    (recovered,) = harness.monitor.on_partitions_recovered
    recovered(harness.process(), [])
    assert harness.reported == []
    lost = LostPartition(log=LOG, promised_end=8, found_end=None)
    recovered(harness.process(), [lost, LostPartition(log=LOG, promised_end=8, found_end=7)])
    assert harness.reported == [
        "log dG9waWMgb2YgdGhlIGxvZw-3 is gone, and was flushed up to 8",
        "log dG9waWMgb2YgdGhlIGxvZw-3 ends at offset 7, and was flushed up to 8",
    ]


def test_a_falling_epoch_is_reported():
    harness = MonitorHarness(PartitionEpochsNeverFall())
    process = harness.process()
    process.partitions.create(LOG, "t")
    for offset, epoch in enumerate((2, 2, 5, 4)):
        effect = Append(LOG, raw(offset, epoch=epoch))
        process.partitions.of(LOG).append(effect.batch)
        for changed in harness.monitor.on_partition_changed:
            changed(process, LOG, effect)
    assert harness.reported == [
        "log dG9waWMgb2YgdGhlIGxvZw-3: the batch at offset 3 has epoch 4 after 5"
    ]
