"""Follow the producers of one log, and keep those whose segments are removed."""

from collections.abc import Iterable

from kraftproof.node.storage.filesystem import FileSystem
from kraftproof.node.storage.partitions.producer_files import (
    RecentProducers,
    read_producers_file,
    remove_other_files,
    write_producers,
)
from kraftproof.node.storage.segments.headers import PlacedHeader
from kraftproof.node.wire.records.raw_batch import RawBatch


class ProducerHistory:
    """The last batches of each producer, in memory and in the file for removed segments."""

    __slots__ = ("_directory", "_filesystem", "_first_offset", "_is_whole", "_kept", "_recent")

    def __init__(self, filesystem: FileSystem, directory: str) -> None:
        self._filesystem = filesystem
        self._directory = directory
        self._first_offset = -1
        """The first stored offset that the file is for; -1 without a file."""
        self._kept: tuple[RawBatch, ...] = ()
        """The content of the file."""
        self._recent = RecentProducers()
        self._is_whole = True
        """Whether no truncation has removed batches of `_recent`."""

    def recover(self, first_offset: int) -> None:
        """Read the file of a log at its start; `note` follows for each stored batch."""
        self._first_offset = first_offset
        self._kept = read_producers_file(self._filesystem, self._directory, first_offset)
        self._recent = RecentProducers(self._kept)
        self.removed()

    def note(self, batch: RawBatch) -> None:
        """Add the next batch of the log."""
        self._recent.note(batch)

    def batches(self) -> tuple[RawBatch, ...]:
        """Return the last batches of each producer, after a start without a truncation."""
        return self._recent.batches()

    def below(self, headers: Iterable[PlacedHeader], end_offset: int) -> tuple[RawBatch, ...]:
        """Return the last batches of each producer below an offset; `headers` is the whole log."""
        producers = RecentProducers(self._kept)
        for batch in headers:
            if batch.header.next_offset > end_offset:
                break
            producers.note(batch.header)
        return producers.batches()

    def truncated(self) -> None:
        """Note that the end of the log was removed."""
        self._is_whole = False

    def restarted(self) -> None:
        """Forget every producer."""
        self._kept, self._recent, self._is_whole = (), RecentProducers(), True
        self._first_offset = -1
        self.removed()

    def keep(self, first_offset: int, headers: Iterable[PlacedHeader], newest_ms: int) -> None:
        """Write the file before the segments below an offset are removed.

        Args:
            first_offset: The first stored offset after the removal.
            headers: The batches of the whole log.
            newest_ms: The newest timestamp of the log.
        """
        if not self._is_whole:
            self._recent = RecentProducers(self._kept)
            for batch in headers:
                self._recent.note(batch.header)
            self._is_whole = True
        self._kept = self._recent.last_below(first_offset, newest_ms)
        self._first_offset = first_offset if self._kept else -1  # an older file goes
        if self._kept:
            write_producers(self._filesystem, self._directory, first_offset, self._kept)

    def removed(self) -> None:
        """Remove the files for other first offsets, after the segments."""
        remove_other_files(self._filesystem, self._directory, self._first_offset)
