"""Compare how the committed records become visible, a step at a time, with a plain list of batches.

A step applies records up to a work of 500, or a single record of more work; the removal of a topic
counts 3, and 1 more for each ten partitions. The image shows whole batches, and no batch beyond the
high watermark. The images that a leader has staged cost nothing. A snapshot of the leader replaces
the image in any state: within a batch, with staged images, and while a batch is awaited (KIP-630).
"""

from random import Random
from typing import Final

from kraftproof.cluster.simulated.differential.difference import check, same
from kraftproof.node.core.base.snapshot_ids import SnapshotId, StoredSnapshot
from kraftproof.node.core.base.types import Epoch, Offset
from kraftproof.node.core.log.log import Log
from kraftproof.node.core.metadata.apply import apply_batch
from kraftproof.node.core.metadata.committed import CommittedImage
from kraftproof.node.core.metadata.image import EMPTY_IMAGE, MetadataImage
from kraftproof.node.core.metadata.snapshot import LoadedSnapshot
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Batch, Record
from kraftproof.node.wire.types import Uuid

A_STEP: Final = 500
BATCHES: Final = 14
SIZES: Final = (1, 2, 9, 100, 250, 498, 499, 500, 501, 999, 1_000, 1_500)
PARTITIONS: Final = (0, 1, 9, 10, 19, 400)
MOST_STEPS: Final = 100


def compare_applied_steps(random: Random) -> None:
    """Let drawn batches commit, and compare each step with the model.

    Raises:
        DifferenceError: a step applies more or less, or shows another image.
    """
    run = _Run(random)
    for number in range(BATCHES):
        run.append(number)
        drawn = random.random()
        if drawn < 0.15:
            run.commit(random.choice((0, 1, 1, 2)))
            run.install(BATCHES + number)
        elif drawn < 0.5:
            run.commit()
    run.commit()


class _Run:
    """A log, its image, and the work of each record."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._log = Log()
        self._applied: list[int] = []
        """The number of records of each call since the last step began."""
        self._committed = CommittedImage(self._apply)
        self._works: dict[int, list[int]] = {}
        """The works of the records of each batch, by the offset of the batch."""
        self._topics: dict[Uuid, int] = {}
        """The partitions of each topic."""
        self._ends: dict[int, tuple[int, int]] = {}
        """Epoch and timestamp by the end of each batch."""
        self._staged: set[int] = set()
        """The ends of batches whose image is staged."""
        self._newest = self._committed.image
        self._epoch, self._begun = 1, 0
        self._high_watermark = 0
        self._offset = self._taken = 0

    def _apply(self, image: MetadataImage, batch: Batch) -> MetadataImage:
        self._applied.append(len(batch.records))
        return apply_batch(image, batch)

    def append(self, number: int) -> None:
        """Append a batch: records without content, a topic, or removals of topics."""
        random = self._random
        batch, works = self._next(number)
        self._log.append(batch)
        end = int(batch.next_offset)
        self._works[int(batch.base_offset)] = works
        drawn = random.random()
        if drawn < 0.3:
            self._committed.stage(Offset(end), Epoch(self._epoch), self._newest)
            self._staged.add(end)
        elif drawn < 0.4:
            self._committed.stage(Offset(end), Epoch(self._epoch + 9), self._committed.image)

    def _next(self, number: int) -> tuple[Batch, list[int]]:
        """Return the next batch of the leader, with the works of its records."""
        self._epoch += self._random.random() < 0.3
        written, works = self._draw(number)
        batch = Batch(
            base_offset=max(self._ends, default=0),
            epoch=self._epoch,
            timestamp_ms=1_000 + number,
            records=written,
        )
        self._ends[int(batch.next_offset)] = (self._epoch, 1_000 + number)
        self._newest = apply_batch(self._newest, batch)
        return batch, works

    def install(self, number: int) -> None:
        """Replace image and log by a snapshot; what was staged or awaited before is gone."""
        committed, random = self._committed, self._random
        if random.random() < 0.7:
            self._next(number)
        end = Offset(max(self._ends))
        epoch, timestamp_ms = self._ends[end]
        stored = StoredSnapshot(snapshot=SnapshotId(end, Epoch(epoch)), size=1)
        following = Offset(end + random.choice((1, 2, 9)))
        if random.random() < 0.3:
            committed.stage(following, Epoch(epoch), EMPTY_IMAGE)
        if random.random() < 0.3:
            committed.expect(following, Epoch(epoch))
        committed.load(LoadedSnapshot(stored=stored, timestamp_ms=timestamp_ms, image=self._newest))
        self._log.reset(stored.snapshot)
        self._works.clear()
        self._staged.clear()
        self._offset = self._high_watermark = int(end)
        self._begun = self._taken = 0
        self._compare_image()

    def _draw(self, number: int) -> tuple[tuple[Record, ...], list[int]]:
        random = self._random
        written: list[Record] = []
        works: list[int] = []
        if random.random() < 0.4:
            topic, size = Uuid(number.to_bytes(16, "big")), random.choice(PARTITIONS)
            written.append(records.TopicRecord(name=f"t{number}", topic_id=topic))
            written += [
                records.PartitionRecord(
                    partition_id=index, topic_id=topic, replicas=(1,), isr=(1,), leader=-1
                )
                for index in range(size)
            ]
            works += [1] * len(written)
            self._topics[topic] = size
        elif self._topics and random.random() < 0.6:
            for topic in random.sample(list(self._topics), random.randint(1, len(self._topics))):
                works.append(3 + self._topics.pop(topic) // 10)
                written.append(records.RemoveTopicRecord(topic_id=topic))
        fill = random.choice(SIZES) if not written or random.random() < 0.5 else 0
        place = random.randint(0, len(written))
        written[place:place] = [records.NoOpRecord()] * fill
        works[place:place] = [1] * fill
        return tuple(written), works

    def commit(self, most_steps: int = MOST_STEPS) -> None:
        """Raise the high watermark to the end of a batch, and take the steps to it, or some."""
        ends = [end for end in self._ends if end >= self._high_watermark]
        self._high_watermark = self._random.choice(ends) if len(ends) > 1 else ends[0]
        committed = self._committed
        for _ in range(most_steps):
            self._applied.clear()
            was = self._offset
            has_moved = committed.advance(self._log, Offset(self._high_watermark))
            due, is_behind = self._step()
            same("the records of a step", [one for one in self._applied if one], due)
            same("work is left", committed.is_behind, is_behind)
            same("the image has moved", has_moved, self._offset > was)
            self._compare_image()
            if not is_behind:
                return
        check("the steps to the high watermark end", most_steps < MOST_STEPS)

    def _step(self) -> tuple[list[int], bool]:
        """Return the records of each part of a step, and whether work is left."""
        room, begun = A_STEP, self._begun
        due: list[int] = []
        while self._offset < self._high_watermark:
            works = self._works[self._offset]
            end = self._offset + len(works)
            if end in self._staged and room > 0:
                begun = len(works)
            elif room > 0:
                count, work = 0, 0
                for one in works[begun:]:
                    if count and work + one > room:
                        break
                    count, work = count + 1, work + one
                    if work >= room:
                        break
                due.append(count)
                begun, room = begun + count, room - work
            if begun < len(works):
                self._begun = begun
                return due, True
            self._offset, begun = end, 0
            self._taken += len(works)
        self._begun = 0
        return due, False

    def _compare_image(self) -> None:
        committed = self._committed
        epoch, timestamp_ms = self._ends.get(self._offset, (0, 0))
        same("the end of the image", committed.end, SnapshotId(Offset(self._offset), Epoch(epoch)))
        same("the time of the image", committed.timestamp_ms, timestamp_ms)
        same("the number of records", committed.records_taken, self._taken)
        if self._offset == self._log.end_offset:
            same("the image at the end", committed.image.digest, self._newest.digest)
