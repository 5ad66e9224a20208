"""A large batch as parts that are applied one a step, so that no step of the core is long.

A batch stays one: the image of its first parts is nobody's to see. Not: the log, which holds and
commits the batch whole.
"""

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.wire.messages.batch import Batch, Record
from kraftproof.node.wire.messages.metadata import RemoveTopicRecord

RECORDS_A_STEP: Final = 1000
"""How many records one step applies at most: about 15 ms of work."""
RECORDS_AT_ONCE: Final = 10
"""How many records of a larger batch are applied in the step that decides it."""
RECORDS_A_REMOVAL: Final = 3
"""How many other records take the time in which a topic without partitions goes."""
PARTITIONS_A_RECORD: Final = 10
"""How many partitions go with their topic in the time that another record takes."""


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

    def fits(self, most: int) -> bool:
        """Whether all that is left is no more work than this."""
        left = self.batch.records[self.applied :]
        return len(left) <= most and self._count(left, most) == len(left)

    def rest(self, most: int) -> tuple[Batch, int]:
        """Return the records that come next, as a batch of their own, and how much work they are.

        At most so much, but one record at least.
        """
        left = self.batch.records[self.applied : self.applied + most]
        count = max(1, self._count(left, most))
        work = sum(work_of(self.image, record) for record in left[:count])
        if count == len(self.batch.records):
            return self.batch, work
        base = self.batch.base_offset + self.applied
        taken = left[:count]
        return replace(self.batch, base_offset=base, records=taken, received=None), work

    def _count(self, left: tuple[Record, ...], most: int) -> int:
        """Return how many of these records are at most so much work."""
        for count, record in enumerate(left):
            most -= work_of(self.image, record)
            if most < 0:
                return count
        return len(left)


def work_of(image: MetadataImage, record: Record) -> int:
    """Return how many usual records cost as much as this one."""
    if type(record) is not RemoveTopicRecord:
        return 1
    partitions = len(image.partitions.get(record.topic_id, ()))
    return RECORDS_A_REMOVAL + partitions // PARTITIONS_A_RECORD
