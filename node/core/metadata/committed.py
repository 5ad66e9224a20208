"""The image of everything committed, as this node has learnt it (KIP-631 "Persistence").

It follows the log up to the high watermark and never goes back: what is committed stays. The
active controller has computed its batches' images already and offers them, so that a commit
there costs a reference. Not: uncommitted state, which only the active controller holds.
"""

from node.core.metadata.apply import ApplyError, apply_batch
from node.core.metadata.image import EMPTY_IMAGE, MetadataImage
from node.core.raft.log import Log
from node.core.types import Epoch, Offset
from node.wire.messages.batch import Batch

REPLAY_BYTES = 1 << 20
"""How much of the log is taken in hand at once."""


class CommittedImage:
    """`image` holds every record below `offset`."""

    __slots__ = ("_offers", "image", "offset")

    def __init__(self) -> None:
        self.image: MetadataImage = EMPTY_IMAGE
        self.offset: Offset = Offset(0)
        self._offers: dict[Offset, tuple[Epoch, MetadataImage]] = {}

    def offer(self, end: Offset, epoch: Epoch, image: MetadataImage) -> None:
        """The image after the batch of this epoch that ends before `end`, should it commit."""
        self._offers[end] = (epoch, image)

    def withdraw(self) -> None:
        """Forget all offers: their leader leads no more."""
        self._offers.clear()

    def advance(self, log: Log, high_watermark: Offset) -> bool:
        """Take in all that has committed; whether that was anything.

        Raises:
            ApplyError: if a committed record does not fit; the node must not go on.
        """
        was = self.offset
        while self.offset < high_watermark:
            for batch in log.read(self.offset, REPLAY_BYTES):
                if batch.next_offset > high_watermark:
                    return self.offset > was
                self._take(batch)
        return self.offset > was

    def _take(self, batch: Batch) -> None:
        offer = self._offers.pop(Offset(batch.next_offset), None)
        # An offset names a batch only together with its epoch (log matching): after a lost
        # leadership another leader's batch may stand where ours was offered.
        if offer is not None and offer[0] == batch.epoch:
            self.image = offer[1]
        else:
            self._replay(batch)
        self.offset = Offset(batch.next_offset)

    def _replay(self, batch: Batch) -> None:
        try:
            self.image = apply_batch(self.image, batch)
        except ApplyError as error:
            raise ApplyError(f"the batch at offset {batch.base_offset}: {error}") from error
