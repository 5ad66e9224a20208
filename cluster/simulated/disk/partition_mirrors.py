"""Copies of a node's partition logs as the simulated disk holds them; see log_mirror.py.

The mirrors outlive the processes of a node. A start compares them with the recovered logs.
"""

from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from operator import attrgetter
from typing import Final

from msgspec import Struct

from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.log.recovered import RecoveredLog
from kraftproof.node.wire.records.raw_batch import RawBatch
from kraftproof.node.wire.types import ZERO_UUID, Uuid


class PartitionMirror:
    """The written batches of one log, and the offset up to which a loss of power keeps them."""

    __slots__ = (
        "_ends",
        "attempted",
        "batches",
        "directory",
        "dropped",
        "durable_end",
        "end_offset",
        "generation",
        "recovered_end",
        "recovered_generation",
        "removed",
        "start_offset",
        "topic",
    )

    def __init__(self, topic: str, directory: Uuid) -> None:
        self.topic = topic
        self.directory = directory
        """The id of the log directory."""
        self.batches: list[RawBatch] = []
        self._ends: list[int] = []
        self.start_offset = 0
        self.end_offset = 0
        """The offset after the last record."""
        self.durable_end = 0
        self.generation = 0
        """Number of truncations and restarts."""
        self.recovered_end = 0
        """The end of the log at the last start of the process."""
        self.recovered_generation = 0
        """The generation at the last start of the process."""
        self.attempted: RawBatch | None = None
        """The batch under way when the disk failed; the whole batch may be on the disk."""
        self.removed: RawBatch | None = None
        """The first batch that the last truncation removed; None if nothing was removed."""
        self.dropped: list[RawBatch] = []
        """The batches that the last raise of the start removed."""

    def append(self, batch: RawBatch) -> None:
        """Append one batch, which is not durable yet."""
        self.attempted = None
        self.batches.append(batch)
        self.end_offset = batch.next_offset
        self._ends.append(self.end_offset)

    def truncate(self, end_offset: int) -> None:
        """Durably remove every batch that reaches past the offset."""
        kept = bisect_right(self._ends, end_offset)
        self.removed = self.batches[kept] if kept < len(self.batches) else None
        del self.batches[kept:], self._ends[kept:]
        self.end_offset = min(self.end_offset, end_offset)
        self.start_offset = min(self.start_offset, self.end_offset)
        self.durable_end = min(self.durable_end, self.end_offset)
        self.generation += 1

    def restart(self, start_offset: int) -> None:
        """Remove every batch, and go on at an offset."""
        self.batches.clear()
        self._ends.clear()
        self.start_offset = self.end_offset = self.durable_end = start_offset
        self.generation += 1

    def raise_start(self, start_offset: int) -> None:
        """Remove the batches that end at or below the offset."""
        removed = bisect_right(self._ends, start_offset)
        self.dropped = self.batches[:removed]
        del self.batches[:removed], self._ends[:removed]
        self.start_offset = start_offset

    def between(self, start: int, end: int) -> list[RawBatch]:
        """Return the batches that end above `start` and at or below `end`."""
        return self.batches[bisect_right(self._ends, start) : bisect_right(self._ends, end)]

    def after(self, start: int) -> Iterator[RawBatch]:
        """Yield the batches that end above `start`, in order."""
        for place in range(bisect_right(self._ends, start), len(self.batches)):
            yield self.batches[place]

    def end_of_epoch(self, epoch: int) -> int:
        """Return the first offset of a larger epoch, or the log end."""
        if not self.batches or self.batches[-1].epoch <= epoch:
            return self.end_offset
        place = bisect_right(self.batches, epoch, key=_epoch_of)
        return max(self.batches[place].base_offset, self.start_offset)


_epoch_of: Final = attrgetter("epoch")


class LostPartition(Struct, frozen=True, kw_only=True):
    """A log of which a start did not find every durable record."""

    log: LogId
    promised_end: int
    """The end of the records that were durable."""
    found_end: int | None
    """The end of the recovered log; None without a log."""


class PartitionMirrors:
    """The mirrors of one disk, by log."""

    __slots__ = ("_flushed", "_mirrors", "failed", "get")

    def __init__(self) -> None:
        self._mirrors: dict[LogId, PartitionMirror] = {}
        self.get: Callable[[LogId], PartitionMirror | None] = self._mirrors.get
        """Returns the mirror of a log, if the node has the log."""
        self._flushed: set[LogId] = set()
        """The logs whose directory is durable; asked for membership only."""
        self.failed: frozenset[Uuid] = frozenset()
        """The log directories that the process cannot use; their logs stay here as they were."""

    def __len__(self) -> int:
        """Return the number of logs."""
        return len(self._mirrors)

    def __iter__(self) -> Iterator[LogId]:
        """Yield the logs in order of ids."""
        return iter(sorted(self._mirrors))

    def of(self, log: LogId) -> PartitionMirror:
        """Return the mirror of a log of the node."""
        return self._mirrors[log]

    def create(self, log: LogId, topic: str, directory: Uuid = ZERO_UUID) -> None:
        """Add an empty log."""
        self._mirrors[log] = PartitionMirror(topic, directory)
        self._flushed.discard(log)

    def fail(self, directory: Uuid) -> None:
        """Note that the process goes on without a log directory."""
        self.failed |= {directory}

    def drop(self, directory: Uuid) -> None:
        """Remove the logs of a directory whose disk was replaced by an empty disk."""
        for log in list(self):
            if self._mirrors[log].directory == directory:
                self.delete(log)

    def delete(self, log: LogId) -> None:
        """Remove a log."""
        del self._mirrors[log]
        self._flushed.discard(log)

    def flushed(self, log: LogId, generation: int, end_offset: int) -> None:
        """Note a finished flush that began at an end of the log."""
        mirror = self._mirrors.get(log)
        if mirror is not None and mirror.generation == generation:
            self._flushed.add(log)
            mirror.durable_end = max(mirror.durable_end, end_offset)

    def all_flushed(self) -> None:
        """Note an orderly stop, after which every record is durable."""
        for log in self:
            mirror = self._mirrors[log]
            self.flushed(log, mirror.generation, mirror.end_offset)

    def recovered(
        self, found: Sequence[RecoveredLog], failed: frozenset[Uuid] = frozenset()
    ) -> list[LostPartition]:
        """Follow a start without some directories; return the logs that lack durable records."""
        self.failed = failed
        lost: list[LostPartition] = []
        ends = {each.log: each for each in found}
        for log in list(self):
            mirror, recovered = self._mirrors[log], ends.get(log)
            if recovered is None and mirror.directory in failed:
                continue
            if recovered is None:
                if log in self._flushed:
                    lost.append(
                        LostPartition(log=log, promised_end=mirror.durable_end, found_end=None)
                    )
                self.delete(log)
            elif recovered.end_offset < mirror.durable_end:
                lost.append(
                    LostPartition(
                        log=log,
                        promised_end=mirror.durable_end,
                        found_end=recovered.end_offset,
                    )
                )
        for recovered in found:
            self._follow(recovered)
        return lost

    def _follow(self, recovered: RecoveredLog) -> None:
        if recovered.log not in self._mirrors:
            self.create(recovered.log, recovered.topic)
        mirror = self._mirrors[recovered.log]
        mirror.directory = recovered.directory
        mirror.truncate(recovered.end_offset)
        attempted, mirror.attempted = mirror.attempted, None
        if attempted is not None and mirror.end_offset < recovered.end_offset:
            mirror.append(attempted)
        mirror.raise_start(recovered.start_offset)
        mirror.end_offset = mirror.durable_end = recovered.end_offset
        mirror.recovered_end = recovered.end_offset
        mirror.recovered_generation = mirror.generation
        self._flushed.add(recovered.log)
