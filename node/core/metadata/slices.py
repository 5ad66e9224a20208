"""A large batch as parts that are applied one a step, so that no step of the core is long.

A batch stays one: the image of its first parts is nobody's to see. Not: the log, which holds and
commits the batch whole.
"""

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.wire.messages.batch import Batch

RECORDS_A_STEP: Final = 1000
"""How many records one step applies at most: about 15 ms of work."""


class PartlyApplied(Struct, frozen=True, kw_only=True):
    """A batch of which some records have been applied."""

    batch: Batch
    applied: int
    """How many of its records; 0 <= applied <= len(batch.records)."""
    image: MetadataImage

    @property
    def is_whole(self) -> bool:
        """Whether nothing of the batch is left."""
        return self.applied == len(self.batch.records)

    def rest(self, most: int) -> Batch:
        """Return the records that come next, at most so many, as a batch of their own."""
        if self.applied == 0 and len(self.batch.records) <= most:
            return self.batch
        taken = self.batch.records[self.applied : self.applied + most]
        return replace(self.batch, base_offset=self.batch.base_offset + self.applied, records=taken)
