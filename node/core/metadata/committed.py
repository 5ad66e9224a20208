"""The image of everything committed, as this node has learnt it (KIP-631 "Persistence").

It follows the log up to the high watermark and never goes back: what is committed stays. The
active controller has computed its batches' images already and offers them, so that a commit
there costs a reference. Not: uncommitted state, which only the active controller holds.
A metadata transaction shows nothing before its end (KIP-868).
A snapshot replaces it whole: what the snapshot lacks is gone (631-35). Where much has committed
at once, it takes several steps to follow.
"""

from collections.abc import Callable

from kraftproof.node.core.base.snapshot_ids import LOG_BEGIN, SnapshotId
from kraftproof.node.core.base.types import Epoch, Offset
from kraftproof.node.core.log.log import Log
from kraftproof.node.core.metadata.apply import ApplyError, apply_batch
from kraftproof.node.core.metadata.image import EMPTY_IMAGE, MetadataImage
from kraftproof.node.core.metadata.slices import RECORDS_A_STEP, PartlyApplied
from kraftproof.node.core.metadata.snapshot import LoadedSnapshot
from kraftproof.node.wire.messages.batch import Batch

Apply = Callable[[MetadataImage, Batch], MetadataImage]
"""Returns the image after a batch, or raises ApplyError."""
REPLAY_BYTES = 1 << 20
"""How much of the log is taken in hand at once."""


class CommittedImage:
    """`newest` holds every record below `offset`; `image` is what may be shown of it."""

    __slots__ = (
        "_apply",
        "_staged",
        "_partly",
        "_expected",
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
        """Without the records of a metadata transaction that has not ended."""
        self.offset = LOG_BEGIN.end_offset
        """The offset after the last record that the image holds."""
        self.epoch = LOG_BEGIN.epoch
        """Of that record."""
        self.timestamp_ms = 0
        """Of the last batch in it."""
        self.records_taken = 0
        """How many records have come in one by one, since the start or the last snapshot."""
        self.is_behind = False
        """Whether more has committed than the last call of `advance` took in."""
        self._staged: dict[Offset, tuple[Epoch, MetadataImage]] = {}
        self._expected: tuple[Offset, Epoch] | None = None
        """The end of a batch that will be offered, with its epoch."""
        self._partly: PartlyApplied | None = None
        """The batch at `offset`, if a part of it has been applied."""

    @property
    def end(self) -> SnapshotId:
        """The offset up to which it holds everything, with the epoch: a snapshot's id."""
        return SnapshotId(self.offset, self.epoch)

    @property
    def has_open_transaction(self) -> bool:
        """Whether a metadata transaction has begun and neither ended nor been aborted."""
        return self.newest.before is not None

    def load(self, loaded: LoadedSnapshot) -> None:
        """Hold what this snapshot does, and nothing else."""
        self._staged.clear()
        self._expected = None
        self._partly = None
        self.newest = self.image = loaded.image
        self.offset, self.epoch = loaded.stored.snapshot.end_offset, loaded.stored.snapshot.epoch
        self.timestamp_ms = loaded.timestamp_ms
        self.records_taken = 0

    def promise(self, end: Offset, epoch: Epoch) -> None:
        """Wait for an offer of the batch that ends here, rather than apply the same records."""
        self._expected = (end, epoch)

    def offer(self, end: Offset, epoch: Epoch, image: MetadataImage) -> None:
        """The image after the batch of this epoch that ends before `end`, should it commit."""
        self._expected = None
        if end > self.offset:
            self._staged[end] = (epoch, image)

    def withdraw(self) -> None:
        """Forget all offers: their leader leads no more."""
        self._staged.clear()
        if self._expected is not None:
            self._expected = None
            self.is_behind = True  # the batch may have committed meanwhile

    def apply_more(
        self, partly: PartlyApplied, most: int = RECORDS_A_STEP
    ) -> tuple[PartlyApplied, int]:
        """Apply more of a batch, committed or not, and return how much work that was.

        Raises:
            ApplyError: if a record does not fit.
        """
        part, work = partly.rest(most)
        image = self._apply(partly.image, part)
        applied = partly.applied + len(part.records)
        return PartlyApplied(batch=partly.batch, applied=applied, image=image), work

    def advance(self, log: Log, high_watermark: Offset) -> bool:
        """Take in what has committed, as much as a step may; whether that was a batch or more.

        Raises:
            ApplyError: if a committed record does not fit; the node must not go on.
        """
        was = self.offset
        room = RECORDS_A_STEP
        self.is_behind = False
        while self.offset < high_watermark:
            for batch in log.read(self.offset, REPLAY_BYTES):
                if batch.next_offset > high_watermark:
                    return self.offset > was
                if self._expected == (batch.next_offset, batch.epoch):
                    return self.offset > was
                if room > 0:
                    room -= self._take(batch, room)
                if self.offset < batch.next_offset:
                    self.is_behind = True
                    return self.offset > was
        return self.offset > was

    def _take(self, batch: Batch, room: int) -> int:
        """Take in a batch or, if it is too much work, a part of it; return how much."""
        end = Offset(batch.next_offset)
        offer = self._staged.pop(end, None)
        taken = 0
        # An offset names a batch only together with its epoch (log matching): after a lost
        # leadership another leader's batch may stand where ours was offered.
        if offer is not None and offer[0] == batch.epoch:
            self.newest = offer[1]
            self._partly = None
        else:
            taken = self._replay(batch, room)
        if self._partly is None:
            self.image = self.newest.shown
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
