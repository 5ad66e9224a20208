"""Invariants of a partition's log on the disk of one node."""

from collections.abc import Sequence

from typing_extensions import override

from kraftproof.cluster.simulated.disk.partition_mirrors import LostPartition
from kraftproof.cluster.simulated.invariants.invariant import Invariant, ProcessView
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.effects import Append, Effect
from kraftproof.node.wire.records.raw_batch import RawBatch


class FlushedPartitionsAreKept(Invariant):
    """A Flushed of a partition stays true, whatever ends the node."""

    statement = "A node finds every flushed record of a partition at its next start."

    @override
    def on_partitions_recovered(self, process: ProcessView, lost: Sequence[LostPartition]) -> None:
        for each in lost:
            found = "is gone" if each.found_end is None else f"ends at offset {each.found_end}"
            detail = f"log {each.log} {found}, and was flushed up to {each.promised_end}"
            self.monitor.report_violation(self, process, detail)


class PartitionEpochsNeverFall(Invariant):
    """The leader epochs of a partition's batches never fall along a log."""

    statement = "A batch of a partition has the epoch of the batch before, or a larger epoch."

    @override
    def on_partition_changed(self, process: ProcessView, log: LogId, effect: Effect) -> None:
        if not isinstance(effect, Append) or not isinstance(effect.batch, RawBatch):
            return
        batches = process.partitions.of(log).batches
        if len(batches) > 1 and batches[-2].epoch > effect.batch.epoch:
            detail = (
                f"log {log}: the batch at offset {effect.batch.base_offset} has epoch"
                f" {effect.batch.epoch} after {batches[-2].epoch}"
            )
            self.monitor.report_violation(self, process, detail)
