"""Split a large batch into parts of one step each, so that no step of the core is long.

The image between two parts is visible to no client. The log holds and commits the batch as a whole.
"""

from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.wire.records.batch import Batch, Record
from kraftproof.node.wire.records.metadata import RemoveTopicRecord

RECORDS_A_STEP: Final = 500
"""Maximum number of records that a step applies: about 8 ms of work."""
RECORDS_AT_ONCE: Final = 10
"""Maximum number of records of a larger batch that the deciding step applies."""
RECORDS_A_REMOVAL: Final = 3
"""Work of the removal of a topic without partitions, in records."""
PARTITIONS_A_RECORD: Final = 10
"""Number of partitions whose removal costs as much as a record."""


class PartlyApplied(Struct, frozen=True, kw_only=True):
    """A batch with a number of applied records."""

    batch: Batch
    applied: int
    """Number of applied records; 0 <= applied <= len(batch.records)."""
    image: MetadataImage

    @property
    def is_whole(self) -> bool:
        """Return whether every record of the batch is applied."""
        return self.applied == len(self.batch.records)

    def fits(self, most: int) -> bool:
        """Return whether the remaining work is at most `most`."""
        left = self.batch.records[self.applied :]
        if len(left) > most or RemoveTopicRecord not in map(type, left):
            return len(left) <= most
        return self._count(left, most) == len(left)

    def rest(self, most: int) -> tuple[Batch, int]:
        """Return the next records as a batch, and their amount of work.

        The work is at most `most`, except that a batch has at least a single record.
        """
        left = self.batch.records[self.applied : self.applied + most]
        count = work = len(left)
        if RemoveTopicRecord in map(type, left):
            count = max(1, self._count(left, most))
            work = sum(work_of(self.image, record) for record in left[:count])
        if count == len(self.batch.records):
            return self.batch, work
        base = self.batch.base_offset + self.applied
        taken = left[:count]
        return replace(self.batch, base_offset=base, records=taken, received=None), work

    def _count(self, left: tuple[Record, ...], most: int) -> int:
        """Return the number of leading records whose work is at most `most`."""
        for count, record in enumerate(left):
            most -= work_of(self.image, record)
            if most < 0:
                return count
        return len(left)


def work_of(image: MetadataImage, record: Record) -> int:
    """Return the work of a record, in usual records."""
    if type(record) is not RemoveTopicRecord:
        return 1
    partitions = len(image.partitions.get(record.topic_id, ()))
    return RECORDS_A_REMOVAL + partitions // PARTITIONS_A_RECORD
