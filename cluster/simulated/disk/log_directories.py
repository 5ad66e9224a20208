"""The log directories of a simulated machine.

A machine has one directory, or three: the first has the metadata log, and two on disks of their own
have the logs of partitions. See faults/failed_directory.py for a disk that fails.
"""

from typing import Final

from kraftproof.cluster.simulated.disk.filesystem import SimulatedFileSystem
from kraftproof.node.storage.meta_properties import MetaProperties, format_directories
from kraftproof.node.wire.types import Uuid

DATA: Final = "/data"
OWN_DISKS: Final = ("/disk-1", "/disk-2")


class LogDirectories:
    """The paths of a machine's directories, and their ids, which depend on no chance."""

    __slots__ = ("_meta", "_replaced", "all", "paths")

    def __init__(self, meta: MetaProperties, *, has_own_disks: bool) -> None:
        self._meta = meta
        self.paths = OWN_DISKS if has_own_disks else (DATA,)
        """The directories for the logs of partitions."""
        self.all = (DATA, *OWN_DISKS) if has_own_disks else (DATA,)
        self._replaced = dict.fromkeys(self.all, 0)
        """Number of disks that each directory has had before."""

    def id_of(self, path: str) -> Uuid:
        """Return the id of a directory; a replaced disk has a new id."""
        number, node = self.all.index(path), self._meta.node_id.to_bytes(8, "big")
        name = b"disk of " if number == 0 else b"disk%c%cof" % (number, self._replaced[path])
        return Uuid(name + node)

    def format(self, disk: SimulatedFileSystem) -> None:
        """Format the directories that are not formatted."""
        ids = {path: self.id_of(path) for path in self.all}
        format_directories(disk, self.all, self._meta, ids=ids, ignore_formatted=True)
        disk.fsync_directory("/")

    def replace(self, disk: SimulatedFileSystem, path: str) -> None:
        """Put an empty, formatted disk in the place of a directory's disk."""
        disk.root.change({path.removeprefix("/"): None})
        self._replaced[path] += 1
        self.format(disk)
