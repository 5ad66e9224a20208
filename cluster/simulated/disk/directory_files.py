"""Sizes of the log files in the log directories of a simulated machine, as the disk has them."""

from collections.abc import Iterable, Mapping

from msgspec import Struct

from kraftproof.cluster.simulated.disk.filesystem import SimulatedFileSystem
from kraftproof.node.storage.filesystem import join
from kraftproof.node.storage.partitions.log_names import parse_partition_directory

SEGMENT = ".log"
"""The suffix of the files with records."""


class DirectoryFiles(Struct, frozen=True):
    """A log directory on the disk."""

    path: str
    volume: tuple[int, int]
    """The total and the usable bytes."""
    logs: Mapping[tuple[str, int], int]
    """The bytes of the segments of each partition, by topic and number."""


def directory_files(disk: SimulatedFileSystem, paths: Iterable[str]) -> tuple[DirectoryFiles, ...]:
    """Return the log directories that the disk has."""
    return tuple(
        DirectoryFiles(path, disk.volume(path), dict(_logs(disk, path)))
        for path in paths
        if disk.exists(path)
    )


def _logs(disk: SimulatedFileSystem, path: str) -> Iterable[tuple[tuple[str, int], int]]:
    for name in disk.list_directory(path):
        log = parse_partition_directory(name)
        if log is not None:
            folder = join(path, name)
            segments = [one for one in disk.list_directory(folder) if one.endswith(SEGMENT)]
            yield log, sum(disk.size(join(folder, one)) for one in segments)
