"""Maintain the image of the committed records known to this node (KIP-631 "Persistence").

The image follows the log up to the high watermark, over several steps if much has committed at
once. The active controller stages the images of its own batches, so that a commit costs only a
reference. A metadata transaction becomes visible at its end (KIP-868). A snapshot replaces the
whole image (631-35). See active.py for uncommitted state.
"""

from collections.abc import Callable

from kraftproof.node.core.base.snapshot_ids import LOG_BEGIN, SnapshotId
from kraftproof.node.core.base.types import Epoch, Offset
from kraftproof.node.core.log.log import Log
from kraftproof.node.core.metadata.apply import apply_batch
from kraftproof.node.core.metadata.apply_error import ApplyError
from kraftproof.node.core.metadata.changed_topics import ChangedTopics
from kraftproof.node.core.metadata.image import EMPTY_IMAGE, MetadataImage
from kraftproof.node.core.metadata.slices import RECORDS_A_STEP, PartlyApplied
from kraftproof.node.core.metadata.snapshot import LoadedSnapshot
from kraftproof.node.wire.records.batch import Batch

Apply = Callable[[MetadataImage, Batch], MetadataImage]
"""Returns the image after a batch, or raises ApplyError."""
REPLAY_BYTES = 1 << 20
"""Number of bytes of the log that are read at once."""


class CommittedImage:
    """`newest` holds every record below `offset`; `image` is the visible part."""

    __slots__ = (
        "_apply",
        "_expected",
        "_partly",
        "_staged",
        "changed_topics",
        "epoch",
        "image",
        "is_behind",
        "newest",
        "offset",
        "records_taken",
        "timestamp_ms",
    )

    def __init__(self, apply: Apply = apply_batch) -> None:
        self._apply = apply
        self.newest: MetadataImage = EMPTY_IMAGE
        self.image: MetadataImage = EMPTY_IMAGE
        """The image without the records of an open metadata transaction."""
        self.changed_topics = ChangedTopics()
        """The topics that records have named since the last look of the replicas."""
        self.offset = LOG_BEGIN.end_offset
        """The offset after the last applied record."""
        self.epoch = LOG_BEGIN.epoch
        """The epoch of the last applied record."""
        self.timestamp_ms = 0
        """The timestamp of the last applied batch."""
        self.records_taken = 0
        """Number of records applied since the start or the last downloaded snapshot."""
        self.is_behind = False
        """Whether the last call of `advance` left committed records unapplied."""
        self._staged: dict[Offset, tuple[Epoch, MetadataImage]] = {}
        self._expected: tuple[Offset, Epoch] | None = None
        """The end and epoch of a batch whose image will be staged."""
        self._partly: PartlyApplied | None = None
        """The batch at `offset`, if a part of the batch has been applied."""

    @property
    def end(self) -> SnapshotId:
        """Return the offset and epoch up to which the image is complete: the id of a snapshot."""
        return SnapshotId(self.offset, self.epoch)

    @property
    def has_open_transaction(self) -> bool:
        """Return whether a metadata transaction is open."""
        return self.newest.before is not None

    def load(self, loaded: LoadedSnapshot) -> None:
        """Replace the image by the content of a snapshot."""
        self._staged.clear()
        self._expected = None
        self._partly = None
        self.newest = self.image = loaded.image
        self.offset, self.epoch = loaded.stored.snapshot.end_offset, loaded.stored.snapshot.epoch
        self.timestamp_ms = loaded.timestamp_ms
        self.records_taken = 0

    def expect(self, end: Offset, epoch: Epoch) -> None:
        """Wait for a staged image of the batch with this end; do not apply its records."""
        self._expected = (end, epoch)

    def stage(self, end: Offset, epoch: Epoch, image: MetadataImage) -> None:
        """Stage the image after the batch of this epoch and end, for use at the batch's commit."""
        self._expected = None
        if end > self.offset:
            self._staged[end] = (epoch, image)

    def discard(self) -> None:
        """Discard every staged image after the end of the leadership."""
        self._staged.clear()
        if self._expected is not None:
            self._expected = None
            self.is_behind = True  # the expected batch may have committed meanwhile

    def apply_more(
        self, partly: PartlyApplied, most: int = RECORDS_A_STEP
    ) -> tuple[PartlyApplied, int]:
        """Apply a further part of a batch, committed or not, and return the amount of work.

        Raises:
            ApplyError: a record contradicts the image.
        """
        part, work = partly.rest(most)
        image = self._apply(partly.image, part)
        applied = partly.applied + len(part.records)
        return PartlyApplied(batch=partly.batch, applied=applied, image=image), work

    def advance(self, log: Log, high_watermark: Offset) -> bool:
        """Apply committed records, as many as a step may; return whether `offset` moved.

        Raises:
            ApplyError: a committed record contradicts the image; the node must not continue.
        """
        was = self.offset
        room = RECORDS_A_STEP
        self.is_behind = False
        while self.offset < high_watermark:
            for batch in log.read(self.offset, REPLAY_BYTES):
                end = Offset(batch.next_offset)
                if end > high_watermark or self._expected == (end, batch.epoch):
                    return self.offset > was
                if room > 0:
                    room -= self._take(batch, end, room)
                if self.offset < end:
                    self.is_behind = True
                    return self.offset > was
        return self.offset > was

    def _take(self, batch: Batch, end: Offset, room: int) -> int:
        """Apply a batch, or the part for which there is room; return the amount of work."""
        staged = self._staged.pop(end, None)
        taken = 0
        # An offset identifies a batch only together with its epoch (log matching): after a lost
        # leadership, another leader's batch may be at the end of a staged batch.
        if staged is not None and staged[0] == batch.epoch:
            self.newest = staged[1]
            self._partly = None
        else:
            taken = self._replay(batch, room)
        if self._partly is None:
            before, self.image = self.image, self.newest.shown
            self.changed_topics.note(before, batch, self.newest, self.image)
            self.offset, self.epoch = end, Epoch(batch.epoch)
            self.timestamp_ms = batch.timestamp_ms
            self.records_taken += len(batch.records)
        return taken

    def _replay(self, batch: Batch, room: int) -> int:
        was = self._partly or PartlyApplied(batch=batch, applied=0, image=self.newest)
        try:
            now, work = self.apply_more(was, room)
        except ApplyError as error:
            raise ApplyError(f"the batch at offset {batch.base_offset}: {error}") from error
        self._partly = None if now.is_whole else now
        if now.is_whole:
            self.newest = now.image
        return work
