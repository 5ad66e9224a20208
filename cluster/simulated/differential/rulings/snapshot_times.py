"""Compare when a node writes a snapshot with the rules of KIP-630.

A snapshot is due after a number of bytes, which are estimated as 128 a record, or after an interval
since the last one. It needs news, ends outside metadata transactions and at the flushed part of the
log, and is alone under way.
"""

from random import Random
from typing import Any, Final, cast

from kraftproof.cluster.simulated.differential.difference import check, same
from kraftproof.node.core.base.config import SnapshotPolicy
from kraftproof.node.core.base.snapshot_ids import SnapshotId, StoredSnapshot
from kraftproof.node.core.base.types import Epoch, Instant, Monotonic, Offset, WallClock
from kraftproof.node.core.effects import WriteSnapshot
from kraftproof.node.core.events import SnapshotWritten
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.core.snapshots import Snapshots

STEPS: Final = 60
A_RECORD: Final = 128
BYTES: Final = (1, 127, 128, 129, 10 * A_RECORD - 1, 10 * A_RECORD, 10 * A_RECORD + 1)
INTERVALS_NS: Final = (0, 1_000, 5_000)


class _Quorum:
    """The part of Raft that snapshots need."""

    def __init__(self) -> None:
        self.flushed = Offset(0)
        self.snapshot_end = Offset(0)
        self.wanted = 0
        self.told: list[StoredSnapshot] = []

    def make_durable(self, offset: Offset) -> None:
        """Note up to where the log has to be flushed."""
        self.wanted = offset

    def snapshot_written(self, stored: StoredSnapshot, now: Instant) -> None:
        """Note a complete snapshot."""
        del now
        self.told.append(stored)
        self.snapshot_end = stored.snapshot.end_offset


class _Image:
    """The part of a committed image that snapshots need."""

    def __init__(self) -> None:
        self.image = EMPTY_IMAGE
        self.offset = Offset(0)
        self.epoch = Epoch(1)
        self.timestamp_ms = self.records_taken = 0
        self.has_open_transaction = False

    @property
    def end(self) -> SnapshotId:
        """The end of the image."""
        return SnapshotId(self.offset, self.epoch)


def compare_snapshot_times(random: Random) -> None:
    """Let records, time, flushes and snapshots come, and compare each written snapshot.

    Raises:
        DifferenceError: a snapshot is written too early, too late, or with another end.
    """
    run = _Run(random)
    for _ in range(STEPS):
        run.step()


class _Run:
    """The snapshots of a node, and what is due in the model."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._bytes, self._interval_ns = random.choice(BYTES), random.choice(INTERVALS_NS)
        policy = SnapshotPolicy(bytes_between=self._bytes, interval_ns=self._interval_ns)
        self._now_ns = random.choice((0, 7))
        self._quorum, self._image, self._outbox = _Quorum(), _Image(), Outbox()
        self._snapshots = Snapshots(
            policy,
            *(cast("Any", self._quorum), cast("Any", self._image)),
            self._outbox,
            self._now,
        )
        self._last_ns, self._last_records = self._now_ns, 0
        self._chosen: WriteSnapshot | None = None
        self._writing: WriteSnapshot | None = None

    @property
    def _now(self) -> Instant:
        return Instant(Monotonic(self._now_ns), WallClock(self._now_ns))

    def step(self) -> None:
        """Let something happen, and compare what the node does."""
        random, image = self._random, self._image
        match random.randrange(6):
            case 0 | 1:
                count = random.choice((1, 1, 5, 9, 10, 11))
                image.offset = Offset(image.offset + count)
                image.records_taken += count
                image.timestamp_ms += 1
                image.epoch = Epoch(image.epoch + random.randrange(2))
            case 2:
                self._now_ns += random.choice((1, 999, 1_000, 5_000))
            case 3:
                self._quorum.flushed = Offset(random.randint(self._quorum.flushed, image.offset))
            case 4:
                image.has_open_transaction = random.random() < 0.3
            case _:
                self._end()
        self._snapshots.advance(self._now)
        same("the written snapshots", self._outbox.drain(), self._due())
        self._compare_deadline()

    def _end(self) -> None:
        """End the write, or install a snapshot of the leader."""
        if self._writing is not None:
            stored = StoredSnapshot(snapshot=self._writing.snapshot, size=1)
            self._snapshots.written(SnapshotWritten(stored), self._now)
            same("the last written snapshot", self._quorum.told[-1:], [stored])
            self._writing = None
        elif self._random.random() < 0.3:
            self._image.records_taken = 0
            self._quorum.snapshot_end = self._image.offset
            self._snapshots.installed(self._now)
            self._last_ns, self._last_records, self._chosen = self._now_ns, 0, None

    @property
    def _has_news(self) -> bool:
        image = self._image
        is_free = self._chosen is None and self._writing is None
        return (
            is_free
            and not image.has_open_transaction
            and image.offset > (self._quorum.snapshot_end)
        )

    def _due(self) -> list[WriteSnapshot]:
        """Return the snapshots that the node has to write now."""
        image = self._image
        if self._has_news and self._is_over():
            self._last_ns, self._last_records = self._now_ns, image.records_taken
            same("the log is flushed up to the snapshot", self._quorum.wanted, image.offset)
            self._chosen = WriteSnapshot(
                snapshot=image.end, image=image.image, timestamp_ms=image.timestamp_ms
            )
        chosen = self._chosen
        if chosen is None or chosen.snapshot.end_offset > self._quorum.flushed:
            return []
        self._chosen, self._writing = None, chosen
        return [chosen]

    def _is_over(self) -> bool:
        taken = (self._image.records_taken - self._last_records) * A_RECORD
        is_late = 0 < self._interval_ns <= self._now_ns - self._last_ns
        return taken >= self._bytes or is_late

    def _compare_deadline(self) -> None:
        deadline = self._snapshots.deadline()
        if not self._has_news or not self._interval_ns:
            check("a node without news has no deadline", deadline is None)
            return
        same("the next snapshot by time", deadline, self._last_ns + self._interval_ns)
