"""What must hold of snapshots at every moment (KIP-630, KIP-631 "Snapshots").

The images are compared with a fold of the committed records, which is made only as far as a
snapshot reaches, and the files that are read with the image that they were made of. Not: that
all images agree (metadata_invariants.py sees those from snapshots,
too, as they are published).
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
from kraftproof.node.wire.batches import decode_batches
from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.messages.batch import Batch
from kraftproof.node.wire.messages.control import SnapshotFooter, SnapshotHeader

BYTES_AN_EVENT = 0.8
"""How much of snapshots is read back for each event, so that it takes no more of a run's time."""


class SnapshotsSayWhatTheLogSays(Invariant):
    """Of each snapshot as it is written, and as it is loaded from its file."""

    sentence = "A snapshot holds exactly what the committed records below its end say."

    def __init__(self, committed_log: CommittedLog) -> None:
        super().__init__()
        self._committed_log = committed_log
        self._image = EMPTY_IMAGE
        self._folded = 0
        """Where the image ends."""
        self._ends: dict[int, tuple[int, int]] = {}
        self._written: dict[tuple[int, int], tuple[SnapshotId, MetadataImage]] = {}
        """By node and incarnation, in the step that is being carried out: what it has committed is told
        at its end, and never if the process dies before."""

    @override
    def snapshotted(self, process: ProcessView, snapshot: SnapshotId, image: MetadataImage) -> None:
        self._written[process.node_id, process.incarnation] = (snapshot, image)

    @override
    def stepped(self, process: ProcessView) -> None:
        if not self._written:
            return
        written = self._written.pop((process.node_id, process.incarnation), None)
        if written is not None:
            self._compare(process, *written, "writes")

    @override
    def loaded(self, process: ProcessView, snapshot: SnapshotId, image: MetadataImage) -> None:
        self._compare(process, snapshot, image, "loads")

    def _compare(
        self, process: ProcessView, snapshot: SnapshotId, image: MetadataImage, verb: str
    ) -> None:
        self._fold(snapshot.end_offset)
        known = self._ends.get(snapshot.end_offset)
        if known != (snapshot.epoch, image.digest):
            said = f"epoch {snapshot.epoch}, {image.digest:032x}"
            detail = "no committed batch ends there"
            if known is not None:
                detail = f"the log says epoch {known[0]}, {known[1]:032x}"
            end = snapshot.end_offset
            self.monitor.report_violation(
                self, process, f"it {verb} one that ends at {end}, {said}; {detail}"
            )

    @override
    def forgotten(self, below: int) -> None:
        self._fold(below)
        drop_below(self._ends, below)

    def _fold(self, end_offset: int) -> None:
        while (batch := self._committed_log.at(self._folded)) is not None:
            if batch.next_offset > end_offset:
                return
            self._image = apply_batch(self._image, batch)
            self._folded = batch.next_offset
            self._ends[self._folded] = (batch.epoch, self._image.digest)


class SnapshotFilesSayWhatImagesSay(Invariant):
    """Of the records that went into a file: each end once, and as many bytes as events allow."""

    sentence = (
        "A snapshot's file holds all of its image, between a header that has the time of the last "
        "batch in it and a footer."
    )

    def __init__(self) -> None:
        super().__init__()
        self._chosen: dict[int, tuple[MetadataImage, Batch | None]] = {}
        """By node, what is being written: the image, and the batch that it ends with."""
        self._furthest = 0
        """Where the snapshot ends that was read last."""
        self._bytes_read = 0

    @override
    def snapshotted(self, process: ProcessView, snapshot: SnapshotId, image: MetadataImage) -> None:
        self._chosen[process.node_id] = (image, process.log.ending_at(snapshot.end_offset))

    @override
    def completed(
        self, process: ProcessView, stored: StoredSnapshot, read: Callable[[], bytes]
    ) -> None:
        image, last = self._chosen.pop(process.node_id)
        allowed = BYTES_AN_EVENT * self.monitor.count_events()
        if last is None or stored.snapshot.end_offset <= self._furthest:
            return  # SnapshotsSayWhatTheLogSays has told that no batch ends there
        if self._bytes_read + stored.size > allowed:
            return
        self._furthest = stored.snapshot.end_offset
        self._bytes_read += stored.size
        difference = _difference(read(), image, last)
        if difference is not None:
            self.monitor.report_violation(self, process, f"{stored.snapshot}: {difference}")


def _difference(data: bytes, image: MetadataImage, last: Batch) -> str | None:
    """Say what of a file is not as its image and the last batch below its end have it."""
    try:
        batches = decode_batches(data)
    except WireError as error:
        return str(error)
    header = SnapshotHeader(last_contained_log_timestamp=last.timestamp_ms)
    if batches[0].records != (header,):
        return f"it begins with {batches[0].records}, not with {header}"
    if batches[-1].records != (SnapshotFooter(),):
        return f"it ends with {batches[-1].records[-1]}"
    return _misplaced(batches, last) or first_difference(
        entities_of_image(image), entities_of_log(batches)
    )


def _misplaced(batches: Sequence[Batch], last: Batch) -> str | None:
    offset = 0
    for batch in batches:
        if (batch.base_offset, batch.epoch) != (offset, last.epoch):
            return (
                f"a batch at {batch.base_offset}, epoch {batch.epoch}, not {offset}, {last.epoch}"
            )
        offset = batch.next_offset
    return None


class SnapshotAtLogStart(Invariant):
    """What retention may take away."""

    sentence = "A log that does not begin at 0 begins where a complete snapshot ends."

    @override
    def started(self, process: ProcessView, durable: QuorumState) -> None:
        self._look(process)

    @override
    def cleaned(self, process: ProcessView) -> None:
        self._look(process)

    @override
    def loaded(self, process: ProcessView, snapshot: SnapshotId, image: MetadataImage) -> None:
        self._look(process)

    def _look(self, process: ProcessView) -> None:
        log = process.log
        if log.start != LOG_BEGIN and log.start not in log.snapshots:
            self.monitor.report_violation(
                self, process, f"it begins at {log.start}, has {log.snapshots}"
            )
        if log.batches and log.batches[0].base_offset != log.start.end_offset:
            first = log.batches[0].base_offset
            self.monitor.report_violation(
                self, process, f"its first batch is at {first}, not at {log.start}"
            )


class LeadersLoadNoSnapshot(Invariant):
    """The active controller's image is ahead of what is committed, and its own."""

    sentence = "A leader, and so the active controller, never loads a snapshot."

    @override
    def loaded(self, process: ProcessView, snapshot: SnapshotId, image: MetadataImage) -> None:
        if process.status is not None and process.status.role == LEADER:
            self.monitor.report_violation(self, process, f"leads and loads the snapshot {snapshot}")


class ImagesMissNothing(Invariant):
    """A snapshot in the log's place is at once in the image's place, too."""

    sentence = "Nothing is missing between the end of an image and the start of its log."

    @override
    def moved(self, process: ProcessView, before: NodeStatus | None, after: NodeStatus) -> None:
        start = process.log.start.end_offset
        if after.image_offset < start:
            detail = f"{after.role}: its image ends at {after.image_offset}, its log begins at"
            self.monitor.report_violation(self, process, f"{detail} {start}")
