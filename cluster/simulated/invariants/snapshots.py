"""Invariants of snapshots (KIP-630, KIP-631 "Snapshots").

The image of a snapshot is compared with a fold of the committed records up to the snapshot's end;
the contents of a file are compared with the image of the snapshot. See metadata.py for the
agreement of images, which covers images from snapshots.
"""

from collections.abc import Callable, Sequence

from typing_extensions import override

from kraftproof.cluster.simulated.committed.committed_log import CommittedLog, drop_below
from kraftproof.cluster.simulated.committed.reference_image import (
    entities_of_image,
    entities_of_log,
    first_difference,
)
from kraftproof.cluster.simulated.invariants.invariant import LEADER, Invariant, ProcessView
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.snapshot_ids import LOG_BEGIN, SnapshotId, StoredSnapshot
from kraftproof.node.core.metadata.apply import apply_batch
from kraftproof.node.core.metadata.image import EMPTY_IMAGE, MetadataImage
from kraftproof.node.core.status import NodeStatus
from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.records.batches import decode_batches
from kraftproof.node.wire.records.control import SnapshotFooter, SnapshotHeader

BYTES_AN_EVENT = 0.8
"""Bytes of snapshot files read back per event, which bounds the cost of the check."""


class SnapshotMatchesLog(Invariant):
    """The image of a snapshot equals the log, when written and when loaded."""

    statement = "A snapshot's image is exactly the result of the committed records below its end."

    def __init__(self, committed_log: CommittedLog) -> None:
        super().__init__()
        self._committed_log = committed_log
        self._image = EMPTY_IMAGE
        self._folded = 0
        """End offset of the folded image."""
        self._ends: dict[int, tuple[int, int]] = {}
        self._pruned = 0
        """The end offsets below are forgotten; a write may still begin after a later install."""
        self._written: dict[tuple[int, int], tuple[SnapshotId, MetadataImage]] = {}
        """Snapshots begun in the current step, by node and incarnation; compared at its end,
        since only then the batches that the step commits are in the committed log."""

    @override
    def on_snapshot_begun(
        self, process: ProcessView, snapshot: SnapshotId, image: MetadataImage
    ) -> None:
        self._written[process.node_id, process.incarnation] = (snapshot, image)

    @override
    def on_step(self, process: ProcessView) -> None:
        if not self._written:
            return
        written = self._written.pop((process.node_id, process.incarnation), None)
        if written is not None:
            self._compare(process, *written, "writes")

    @override
    def on_snapshot_loaded(
        self, process: ProcessView, snapshot: SnapshotId, image: MetadataImage
    ) -> None:
        self._compare(process, snapshot, image, "loads")

    def _compare(
        self, process: ProcessView, snapshot: SnapshotId, image: MetadataImage, verb: str
    ) -> None:
        if snapshot.end_offset < self._pruned:
            return
        self._fold(snapshot.end_offset)
        known = self._ends.get(snapshot.end_offset)
        if known != (snapshot.epoch, image.digest):
            said = f"epoch {snapshot.epoch}, digest {image.digest:032x}"
            detail = "no committed batch ends at this offset"
            if known is not None:
                detail = f"the log has epoch {known[0]}, digest {known[1]:032x}"
            end = snapshot.end_offset
            self.monitor.report_violation(
                self, process, f"{verb} a snapshot with end {end}, {said}; {detail}"
            )

    @override
    def on_pruned(self, below: int) -> None:
        self._fold(below)
        self._pruned = below
        drop_below(self._ends, below)

    def _fold(self, end_offset: int) -> None:
        while (batch := self._committed_log.at(self._folded)) is not None:
            if batch.next_offset > end_offset:
                return
            self._image = apply_batch(self._image, batch)
            self._folded = batch.next_offset
            self._ends[self._folded] = (batch.epoch, self._image.digest)


class SnapshotFileMatchesImage(Invariant):
    """The file of a snapshot equals its image; each end offset is checked once, within a budget."""

    statement = (
        "A snapshot's file has a header with the timestamp of the last contained batch, the "
        "records of the whole image, and a footer."
    )

    def __init__(self) -> None:
        super().__init__()
        self._chosen: dict[int, tuple[MetadataImage, Batch | None]] = {}
        """The image being written and its last batch, by node."""
        self._furthest = 0
        """End offset of the last checked snapshot."""
        self._bytes_read = 0

    @override
    def on_snapshot_begun(
        self, process: ProcessView, snapshot: SnapshotId, image: MetadataImage
    ) -> None:
        self._chosen[process.node_id] = (image, process.log.ending_at(snapshot.end_offset))

    @override
    def on_snapshot_completed(
        self, process: ProcessView, stored: StoredSnapshot, read: Callable[[], bytes]
    ) -> None:
        image, last = self._chosen.pop(process.node_id)
        if stored.snapshot < process.log.start:
            return  # an installed snapshot has overtaken this one, which has no file
        allowed = BYTES_AN_EVENT * self.monitor.count_events()
        if last is None or stored.snapshot.end_offset <= self._furthest:
            return  # SnapshotMatchesLog has told that no batch ends there
        if self._bytes_read + stored.size > allowed:
            return
        self._furthest = stored.snapshot.end_offset
        self._bytes_read += stored.size
        difference = _difference(read(), image, last)
        if difference is not None:
            self.monitor.report_violation(self, process, f"{stored.snapshot}: {difference}")


def _difference(data: bytes, image: MetadataImage, last: Batch) -> str | None:
    """Describe a difference of a file from its image and from the last contained batch."""
    try:
        batches = decode_batches(data)
    except WireError as error:
        return str(error)
    header = SnapshotHeader(last_contained_log_timestamp=last.timestamp_ms)
    if batches[0].records != (header,):
        return f"the file begins with {batches[0].records} instead of {header}"
    if batches[-1].records != (SnapshotFooter(),):
        return f"the file ends with {batches[-1].records[-1]} instead of a footer"
    return _misplaced(batches, last) or first_difference(
        entities_of_image(image), entities_of_log(batches)
    )


def _misplaced(batches: Sequence[Batch], last: Batch) -> str | None:
    offset = 0
    for batch in batches:
        if (batch.base_offset, batch.epoch) != (offset, last.epoch):
            return (
                f"a batch has offset {batch.base_offset}, epoch {batch.epoch} instead of offset "
                f"{offset}, epoch {last.epoch}"
            )
        offset = batch.next_offset
    return None


class LogsReachTheirSnapshots(Invariant):
    """A start after a crash within the installation of a snapshot ends the installation (KIP-630).

    A snapshot is committed, so a log that ends before the snapshot has nothing to add.
    """

    statement = "The log of a starting process reaches the newest snapshot on the disk."

    @override
    def on_started(self, process: ProcessView, durable: QuorumState) -> None:
        log = process.log
        if not log.snapshots:
            return
        newest = max(log.snapshots)
        last_epoch = log.batches[-1].epoch if log.batches else log.start.epoch
        if (last_epoch, log.end_offset) < (newest.epoch, newest.end_offset):
            detail = f"the log ends at {log.end_offset} in epoch {last_epoch}, the snapshot at "
            found = f"{detail}{newest.end_offset} in epoch {newest.epoch}"
            self.monitor.report_violation(self, process, found)


class SnapshotAtLogStart(Invariant):
    """Cleaning keeps the snapshot at the log start."""

    statement = "A log that starts above offset 0 starts at the end of a complete snapshot."

    @override
    def on_started(self, process: ProcessView, durable: QuorumState) -> None:
        self._look(process)

    @override
    def on_log_cleaned(self, process: ProcessView) -> None:
        self._look(process)

    @override
    def on_snapshot_loaded(
        self, process: ProcessView, snapshot: SnapshotId, image: MetadataImage
    ) -> None:
        self._look(process)

    def _look(self, process: ProcessView) -> None:
        log = process.log
        if log.start != LOG_BEGIN and log.start not in log.snapshots:
            self.monitor.report_violation(
                self,
                process,
                f"the log starts at {log.start}, but the snapshots are {log.snapshots}",
            )
        if log.batches and log.batches[0].base_offset != log.start.end_offset:
            first = log.batches[0].base_offset
            self.monitor.report_violation(
                self, process, f"the first batch is at {first} instead of {log.start}"
            )


class LeadersLoadNoSnapshot(Invariant):
    """The active controller has an image of its own, ahead of the committed image."""

    statement = "A leader, and thus the active controller, never loads a snapshot."

    @override
    def on_snapshot_loaded(
        self, process: ProcessView, snapshot: SnapshotId, image: MetadataImage
    ) -> None:
        if process.status is not None and process.status.role == LEADER:
            self.monitor.report_violation(self, process, f"loads the snapshot {snapshot} as leader")


class ImageReachesLogStart(Invariant):
    """A snapshot that replaces the log also replaces the image."""

    statement = "No record is missing between the end of an image and the start of its log."

    @override
    def on_status_changed(
        self, process: ProcessView, before: NodeStatus | None, after: NodeStatus
    ) -> None:
        start = process.log.start.end_offset
        if after.image_offset < start:
            detail = f"{after.role}: the image ends at {after.image_offset}, but the log starts at"
            self.monitor.report_violation(self, process, f"{detail} {start}")
