"""Maintain the leader-epoch-checkpoint file with the start of each epoch (KIP-595, 595-10).

Kafka's text format: version 0, the number of entries, then `epoch start_offset` a line. The file is
a cache: recovery rebuilds the file from the batches. The file also records the epochs a second
time, since the checksum of a batch does not cover its epoch: recovery refuses a log that
contradicts the file.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterable

from kraftproof.node.storage.errors import StorageError
from kraftproof.node.storage.filesystem import (
    FileSystem,
    join,
    replace_atomically,
    replace_durably,
)

FILE_NAME = "leader-epoch-checkpoint"
MAX_DIGITS = 19
"""Digits of the largest offset, 2^63 - 1."""


class EpochCheckpoint:
    """The epochs of the log with their start offsets, and the file."""

    __slots__ = ("_directory", "_entries", "_filesystem", "_is_changed", "_write")

    def __init__(self, filesystem: FileSystem, directory: str, *, is_durable: bool = True) -> None:
        """Begin without epochs; see `rebuild` and `recovered`.

        Args:
            filesystem: The disk.
            directory: The directory of the log.
            is_durable: Whether each change is durable at once; see `path` for the other case.
        """
        self._filesystem = filesystem
        self._write = replace_durably if is_durable else replace_atomically
        self._is_changed = False
        self._directory = directory
        self._entries: list[tuple[int, int]] = []

    @property
    def entries(self) -> tuple[tuple[int, int], ...]:
        """Return the epochs with their start offsets in ascending order."""
        return tuple(self._entries)

    @property
    def path(self) -> str:
        """Return the path of the file, for a later fsync."""
        return join(self._directory, FILE_NAME)

    def take_changed(self) -> bool:
        """Return whether the file has changed since the last call."""
        is_changed, self._is_changed = self._is_changed, False
        return is_changed

    def cleaned(self, start_offset: int) -> None:
        """Remove the epochs that end at or below the log's new start; adjust the first start."""
        after = bisect_right(self._entries, start_offset, key=lambda entry: entry[1])
        if after == 0:
            return
        del self._entries[: after - 1]
        self._entries[0] = (self._entries[0][0], start_offset)
        self._replace()

    def reset(self) -> None:
        """Remove all epochs: the log begins again, at the end of a snapshot."""
        self._entries.clear()
        self.rebuild([])

    def rebuild(self, starts: Iterable[tuple[int, int]], active_start: int = 0) -> None:
        """Derive the entries from the log, and write the file if its content differs.

        Args:
            starts: Epoch and base offset of each batch.
            active_start: The first offset of the active segment.

        Raises:
            StorageError: the epochs of the log contradict the file.
        """
        for epoch, base_offset in starts:
            self._note(epoch, base_offset)
        content = self._content()
        before = self._filesystem.read(self.path) if self._filesystem.exists(self.path) else None
        if before != content:
            recorded = {} if before is None else _parse(before)
            if recorded:
                self._refuse_contradiction(recorded, active_start)
            self._replace()

    def _refuse_contradiction(self, recorded: dict[int, int], active_start: int) -> None:
        """Compare the epochs with those of the file.

        The file may have epochs that the log has lost, and may lack epochs of the active segment.
        The starts of both may differ: a log may begin later than the file, or earlier, if the
        newest snapshot is damaged.
        """
        newest, first = max(recorded), min(recorded.values())
        for index, (epoch, start) in enumerate(self._entries):
            before = recorded.get(epoch)
            if before is None:
                is_wrong = start >= first and (epoch < newest or start < active_start)
            elif before == first or index == 0:
                is_wrong = False
            else:
                is_wrong = before != start
            if is_wrong:
                found = "is not there" if before is None else f"begins at offset {before}"
                raise StorageError(
                    f"{self.path}: the log has epoch {epoch} from offset {start}, and in this file"
                    f" the epoch {found}; restore the file or the log's segments, or clear the"
                    " node's metadata directory if other voters are whole"
                )

    def recovered(self, starts: Iterable[tuple[int, int]], end_offset: int) -> None:
        """Derive the entries from a partition's log, and from the file for epochs without records.

        Args:
            starts: Epoch and base offset of each batch.
            end_offset: The end of the log.
        """
        for epoch, base_offset in starts:
            self._note(epoch, base_offset)
        recorded = self._recorded()
        for epoch, start in sorted(recorded.items()):
            if start <= end_offset:
                self._insert(epoch, start)
        if recorded != dict(self._entries):
            self._replace()

    def _recorded(self) -> dict[int, int]:
        if not self._filesystem.exists(self.path):
            return {}
        return _parse(self._filesystem.read(self.path))

    def _insert(self, epoch: int, start: int) -> None:
        """Add an epoch of the file, if the log's own epochs leave room for the epoch."""
        after = bisect_left(self._entries, epoch, key=lambda entry: entry[0])
        is_above = after == 0 or self._entries[after - 1][1] < start
        if after == len(self._entries):
            if is_above:
                self._entries.append((epoch, start))
        elif is_above and self._entries[after][0] != epoch and start < self._entries[after][1]:
            self._entries.insert(after, (epoch, start))

    def appended(self, epoch: int, base_offset: int) -> None:
        """Add an epoch that begins at the log's end; the file changes only with a new epoch."""
        if self._note(epoch, base_offset):
            self._replace()

    def truncated(self, end_offset: int) -> None:
        """Remove the epochs that begin at or above the log's new end."""
        kept = bisect_left(self._entries, end_offset, key=lambda entry: entry[1])
        if kept < len(self._entries):
            del self._entries[kept:]
            self._replace()

    def _note(self, epoch: int, base_offset: int) -> bool:
        """Add an epoch; an older epoch without records gives way."""
        if self._entries and self._entries[-1][0] >= epoch:
            return False
        while self._entries and self._entries[-1][1] >= base_offset:
            self._entries.pop()
        self._entries.append((epoch, base_offset))
        return True

    def _replace(self) -> None:
        self._write(self._filesystem, self.path, self._content())
        self._is_changed = True

    def _content(self) -> bytes:
        lines = [f"{epoch} {start}\n" for epoch, start in self._entries]
        return f"0\n{len(lines)}\n{''.join(lines)}".encode()


def _parse(content: bytes) -> dict[int, int]:
    """Return the epochs with their start offsets; a garbled line counts as missing."""
    rows = [line.split() for line in content.split(b"\n")[2:]]
    return {
        int(row[0]): int(row[1])
        for row in rows
        if len(row) == 2 and all(len(word) <= MAX_DIGITS and word.isdigit() for word in row)
    }
