"""Write, damage and lose files of a simulated disk, for the comparisons."""

from copy import deepcopy
from random import Random
from typing import TypeVar

from kraftproof.cluster.simulated.disk.filesystem import SimulatedFileSystem

Disk = TypeVar("Disk", bound=SimulatedFileSystem)


def put(disk: SimulatedFileSystem, path: str, content: bytes) -> None:
    """Replace the content of a file, durably."""
    handle = disk.append_to(path)
    handle.truncate(0)
    handle.write(content)
    handle.start_fsync()()
    handle.close()
    disk.fsync_directory(path.rpartition("/")[0] or "/")


def crashed(disk: Disk, random: Random) -> Disk:
    """Return a copy of a disk after a loss of power."""
    copy = deepcopy(disk)
    copy.crash(random)
    return copy


def content_of(disk: SimulatedFileSystem, directory: str) -> dict[str, bytes]:
    """Return the content of each file below a directory, by path."""
    found = dict[str, bytes]()
    for name in disk.list_directory(directory):
        path = f"{directory.rstrip('/')}/{name}"
        try:
            found[path] = disk.read(path)
        except FileNotFoundError:
            found.update(content_of(disk, path))
    return found
