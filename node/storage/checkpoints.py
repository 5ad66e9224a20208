"""Store offsets beside the log: start, durable end and high watermark (KIP-595, 595-11).

Kafka's text format: version 0, the number of entries, then `topic partition offset`. Each offset is
a lower bound, written at the start and at an orderly stop of the node; no other step waits for the
files. A log that ends below its durable end has lost records that other nodes count on, so the node
must not start. Records below the stored high watermark are never truncated again after a restart.
Only a leader can prove a higher high watermark.
"""

from typing import Final

from kraftproof.node.storage.errors import StorageError
from kraftproof.node.storage.filesystem import FileSystem, join
from kraftproof.node.storage.offset_files import (
    HIGH_WATERMARK,
    LOG_START,
    RECOVERY_POINT,
    read_offsets,
    write_offsets,
)

ENTRY: Final = ("__cluster_metadata", 0)


class OffsetCheckpoints:
    """The three files of a log directory and their offsets."""

    __slots__ = ("_directory", "_filesystem", "_offsets")

    def __init__(self, filesystem: FileSystem, directory: str) -> None:
        """Read the files; a missing file counts as 0.

        Raises:
            StorageError: a file is garbled.
        """
        self._filesystem = filesystem
        self._directory = directory
        names = (LOG_START, RECOVERY_POINT, HIGH_WATERMARK)
        self._offsets = {name: self._read(name) for name in names}

    @property
    def recovery_point(self) -> int:
        """Return the end of the log that was durable at the last start or orderly stop."""
        return self._offsets[RECOVERY_POINT]

    @property
    def high_watermark(self) -> int:
        """Return a lower bound of the high watermark; the records below are durable here."""
        return self._offsets[HIGH_WATERMARK]

    def recovered(self, log_start: int, log_end: int) -> None:
        """Compare the offsets with the recovered log, which is durable now.

        Raises:
            StorageError: the log lacks durable or committed records.
        """
        for name, words in ((RECOVERY_POINT, "durable"), (HIGH_WATERMARK, "committed")):
            if log_end < self._offsets[name]:
                raise StorageError(
                    f"{self._directory}: the log ends at offset {log_end}, but was {words} up to"
                    f" {self._offsets[name]} ({name}); restore the log, or clear the node's"
                    " metadata directory if other voters are whole"
                )
        self.stopped(log_start, log_end, self.high_watermark)

    def lower(self, log_end: int) -> None:
        """Lower the offsets before the log is truncated to `log_end`."""
        for name in (RECOVERY_POINT, HIGH_WATERMARK):
            self._write(name, min(self._offsets[name], log_end))

    def stopped(self, log_start: int, log_end: int, high_watermark: int) -> None:
        """Write the start, the durable end and the high watermark of the log."""
        self._write(LOG_START, log_start)
        self._write(RECOVERY_POINT, log_end)
        self._write(HIGH_WATERMARK, min(high_watermark, log_end))

    def _write(self, name: str, offset: int) -> None:
        if offset == self._offsets[name]:
            return
        write_offsets(self._filesystem, join(self._directory, name), {ENTRY: offset})
        self._offsets[name] = offset

    def _read(self, name: str) -> int:
        path = join(self._directory, name)
        if not self._filesystem.exists(path):
            return 0
        try:
            offsets = read_offsets(self._filesystem, path)
        except StorageError:
            offsets = {}
        if list(offsets) != [ENTRY]:
            raise StorageError(
                f"{path}: does not hold an offset of the metadata log; remove the file"
            )
        return offsets[ENTRY]
