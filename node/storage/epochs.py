"""Maintain the leader-epoch-checkpoint file with the start of each epoch (KIP-595, 595-10).

Kafka's text format: version 0, the number of entries, then `epoch start_offset` a line. The file is
a cache: recovery rebuilds it from the batches.
"""

from bisect import bisect_left, bisect_right

from kraftproof.node.storage.filesystem import FileSystem, join, replace_durably
from kraftproof.node.wire.messages.batch import Batch

FILE_NAME = "leader-epoch-checkpoint"


class EpochCheckpoint:
    """The epochs of the log with their start offsets, and the file."""

    __slots__ = ("_entries", "_filesystem", "_path")

    def __init__(self, filesystem: FileSystem, directory: str) -> None:
        self._filesystem = filesystem
        self._path = join(directory, FILE_NAME)
        self._entries: list[tuple[int, int]] = []

    @property
    def entries(self) -> tuple[tuple[int, int], ...]:
        """Return the epochs with their start offsets in ascending order."""
        return tuple(self._entries)

    def cleaned(self, start_offset: int) -> None:
        """Remove the epochs that end at or below the log's new start; adjust the first start."""
        after = bisect_right(self._entries, start_offset, key=lambda entry: entry[1])
        if after == 0:
            return
        del self._entries[: after - 1]
        self._entries[0] = (self._entries[0][0], start_offset)
        replace_durably(self._filesystem, self._path, self._content())

    def rebuild(self, batches: list[Batch]) -> None:
        """Derive the entries from the log, and write the file if its content differs."""
        for batch in batches:
            self._note(batch)
        content = self._content()
        if not self._filesystem.exists(self._path) or self._filesystem.read(self._path) != content:
            replace_durably(self._filesystem, self._path, content)

    def appended(self, batch: Batch) -> None:
        """Add the epoch of an appended batch; the file changes only with a new epoch."""
        if self._note(batch):
            replace_durably(self._filesystem, self._path, self._content())

    def truncated(self, end_offset: int) -> None:
        """Remove the epochs that begin at or above the log's new end."""
        kept = bisect_left(self._entries, end_offset, key=lambda entry: entry[1])
        if kept < len(self._entries):
            del self._entries[kept:]
            replace_durably(self._filesystem, self._path, self._content())

    def _note(self, batch: Batch) -> bool:
        if self._entries and self._entries[-1][0] >= batch.epoch:
            return False
        self._entries.append((batch.epoch, batch.base_offset))
        return True

    def _content(self) -> bytes:
        lines = [f"{epoch} {start}\n" for epoch, start in self._entries]
        return f"0\n{len(lines)}\n{''.join(lines)}".encode()
