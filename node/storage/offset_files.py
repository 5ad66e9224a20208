"""Read and write Kafka's text format of offsets by partition.

The format is version 0, the number of entries, then `topic partition offset` a line. The files of a
log directory have an entry for each partition; the metadata log has files of its own.
"""

import re
from collections.abc import Mapping
from typing import Final

from kraftproof.node.storage.errors import StorageError
from kraftproof.node.storage.filesystem import FileSystem, join, replace_durably

LOG_START: Final = "log-start-offset-checkpoint"
RECOVERY_POINT: Final = "recovery-point-offset-checkpoint"
HIGH_WATERMARK: Final = "replication-offset-checkpoint"
ENTRY: Final = re.compile(r"([a-zA-Z0-9._-]{1,249}) (\d{1,10}) (\d{1,19})", re.ASCII)

Offsets = Mapping[tuple[str, int], int]
"""Offsets by topic and number of the partition."""


def read_offsets(filesystem: FileSystem, path: str) -> dict[tuple[str, int], int]:
    """Return the offsets of a file; a missing file has none.

    Raises:
        StorageError: the file is garbled.
    """
    if not filesystem.exists(path):
        return {}
    lines = filesystem.read(path).decode("utf-8", "replace").splitlines()
    entries = [ENTRY.fullmatch(line) for line in lines[2:]]
    if lines[:2] != ["0", str(len(entries))] or None in entries:
        raise StorageError(f"{path}: does not hold offsets of partitions")
    return {(entry[1], int(entry[2])): int(entry[3]) for entry in entries if entry is not None}


def read_checkpoints(
    filesystem: FileSystem, directory: str
) -> tuple[dict[str, dict[tuple[str, int], int]], list[str]]:
    """Return the offsets of the three files of a log directory, and a warning a garbled file.

    Without recovery points and high watermarks, the recovery takes longer and loses nothing.
    Without the starts of the logs, deleted records would be there again.

    Raises:
        StorageError: the file of the starts is garbled.
    """
    offsets: dict[str, dict[tuple[str, int], int]] = {}
    warnings: list[str] = []
    for name in (LOG_START, RECOVERY_POINT, HIGH_WATERMARK):
        try:
            offsets[name] = read_offsets(filesystem, join(directory, name))
        except StorageError as error:
            if name == LOG_START:
                raise StorageError(f"{error}; remove the file") from error
            warnings.append(f"{error}; the offsets begin again at 0")
            offsets[name] = {}
    return offsets, warnings


def write_offsets(filesystem: FileSystem, path: str, offsets: Offsets) -> None:
    """Replace a file, durably; the entries are in sorted order."""
    lines = [
        f"{topic} {partition} {offset}\n" for (topic, partition), offset in sorted(offsets.items())
    ]
    content = f"0\n{len(lines)}\n{''.join(lines)}".encode()
    replace_durably(filesystem, path, content)
