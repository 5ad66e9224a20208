"""A disk in memory; a crash loses data that was not synced.

See inodes.py for the data lost by files and directories, faults.py for failing disks.
"""

import errno
from collections.abc import Callable
from functools import lru_cache
from random import Random
from typing import Final

from typing_extensions import override

from kraftproof.cluster.disk_faults import DiskFaults
from kraftproof.cluster.simulated.disk.inodes import SimulatedDirectory, SimulatedFile
from kraftproof.node.storage.filesystem import AppendHandle, FileSystem

VOLUME_BYTES: Final = 1 << 40
"""The stated size of a simulated volume."""
USABLE_BYTES: Final = VOLUME_BYTES - (1 << 30)
"""The stated free bytes of a simulated volume."""


class SimulatedHandle(AppendHandle):
    """A file opened for appending."""

    __slots__ = ("_disk", "_file", "_path")

    def __init__(self, disk: "SimulatedFileSystem", path: str, file: SimulatedFile) -> None:
        self._disk = disk
        self._path = path
        self._file = file

    @override
    def write(self, data: bytes) -> None:
        self._disk.refuse_failed(self._path)
        if self._disk.disk_faults is None:
            self._file.write(bytes(data))
        else:
            self._disk.disk_faults.write(self._path, bytes(data), self._file.write)

    @override
    def start_fsync(self) -> Callable[[], None]:
        disk, file, reached = self._disk, self._file, self._file.reached()

        def fsync() -> None:
            disk.refuse_failed(self._path)
            if disk.disk_faults is not None:
                disk.disk_faults.fsync(self._path, file.forget)
            file.sync(reached)

        return fsync

    @override
    def truncate(self, size: int) -> None:
        self._disk.refuse_failed(self._path)
        if self._disk.disk_faults is not None:
            self._disk.disk_faults.change(self._path)
        self._file.truncate(size)

    @override
    def close(self) -> None:
        """Do nothing: the page cache keeps the written data."""


class SimulatedFileSystem(FileSystem):
    """The disk of a machine, which outlives the processes of the machine."""

    __slots__ = ("disk_faults", "failed_directories", "root")

    def __init__(self) -> None:
        self.root = SimulatedDirectory()
        self.disk_faults: DiskFaults | None = None
        """The faults of the disk; None without faults, so that a run without faults is fast."""
        self.failed_directories: set[str] = set()
        """The directories at the root whose own disk has failed: each use is an error."""

    def crash(self, random: Random) -> int:
        """Lose power and with it a random part of the unsynced data; return the bytes lost."""
        return self.root.crash(random)

    def is_synced(self, directory: str) -> bool:
        """Return whether a crash would change no file of a directory."""
        entries = self._directory(directory).entries
        return all(
            entry.is_synced for entry in entries.values() if isinstance(entry, SimulatedFile)
        )

    def is_file_synced(self, path: str) -> bool:
        """Return whether a crash would leave a file unchanged."""
        return self._file(path).is_synced

    def damage(self, path: str, position: int, value: int) -> None:
        """Set a byte on the disk, without the node's knowledge."""
        self._file(path).data[position] = value

    @override
    def read(self, path: str) -> bytes:
        return bytes(self._file(path).data)

    @override
    def read_slice(self, path: str, position: int, length: int) -> bytes:
        return bytes(self._file(path).data[position : position + length])

    @override
    def append_to(self, path: str) -> SimulatedHandle:
        directory, name = self._parent(path)
        entry = directory.entries.get(name)
        if isinstance(entry, SimulatedDirectory):
            raise IsADirectoryError(errno.EISDIR, "is a directory", path)
        if entry is None:
            if self.disk_faults is not None:
                self.disk_faults.create(path)
            entry = SimulatedFile()
            directory.change({name: entry})
        return SimulatedHandle(self, path, entry)

    @override
    def replace(self, source: str, target: str) -> None:
        file = self._file(source)
        old_directory, old_name = self._parent(source)
        directory, name = self._parent(target)
        assert directory is old_directory, "files are renamed within their directory"
        if self.disk_faults is not None:
            self.disk_faults.change(target)
        directory.change({old_name: None, name: file})

    @override
    def rename(self, source: str, target: str) -> None:
        entry = self._find(source)
        if entry is None:
            raise FileNotFoundError(errno.ENOENT, "no such file", source)
        old_directory, old_name = self._parent(source)
        directory, name = self._parent(target)
        assert directory is old_directory, "files are renamed within their directory"
        assert name not in directory.entries, "a rename replaces nothing"
        if self.disk_faults is not None:
            self.disk_faults.change(target)
        directory.change({old_name: None, name: entry})

    @override
    def remove_directory(self, path: str) -> None:
        if self._directory(path).entries:
            raise OSError(errno.ENOTEMPTY, "directory is not empty", path)
        if self.disk_faults is not None:
            self.disk_faults.change(path)
        directory, name = self._parent(path)
        directory.change({name: None})

    @override
    def fsync_directory(self, path: str) -> None:
        directory = self._directory(path)
        if self.disk_faults is not None:
            self.disk_faults.fsync_directory(path)
        directory.fsync()

    @override
    def list_directory(self, path: str) -> list[str]:
        return sorted(self._directory(path).entries)

    @override
    def exists(self, path: str) -> bool:
        return self._find(path) is not None

    @override
    def make_directory(self, path: str) -> None:
        directory = self.root
        for name in _names(path):
            entry = directory.entries.get(name)
            if isinstance(entry, SimulatedFile):
                raise FileExistsError(errno.EEXIST, "is a file", path)
            if entry is None:
                if self.disk_faults is not None:
                    self.disk_faults.create(path)
                entry = SimulatedDirectory()
                directory.change({name: entry})
            directory = entry

    @override
    def remove(self, path: str) -> None:
        self._file(path)
        if self.disk_faults is not None:
            self.disk_faults.change(path)
        directory, name = self._parent(path)
        directory.change({name: None})

    @override
    def size(self, path: str) -> int:
        return len(self._file(path).data)

    @override
    def volume(self, path: str) -> tuple[int, int]:
        self._directory(path)
        return VOLUME_BYTES, USABLE_BYTES

    @override
    def lock(self, path: str) -> Callable[[], None]:
        """Return a function that does nothing: a simulated machine runs one process at a time."""
        return lambda: None

    def refuse_failed(self, path: str) -> None:
        """Fail if the path is on a failed disk.

        Raises:
            OSError: the disk has failed.
        """
        if self.failed_directories and f"/{_names(path)[0]}" in self.failed_directories:
            raise OSError(errno.EIO, "Input/output error", path)

    def _find(self, path: str) -> SimulatedFile | SimulatedDirectory | None:
        self.refuse_failed(path)
        entry: SimulatedFile | SimulatedDirectory = self.root
        for name in _names(path):
            if not isinstance(entry, SimulatedDirectory) or name not in entry.entries:
                return None
            entry = entry.entries[name]
        return entry

    def _file(self, path: str) -> SimulatedFile:
        entry = self._find(path)
        if not isinstance(entry, SimulatedFile):
            raise FileNotFoundError(errno.ENOENT, "no such file", path)
        return entry

    def _directory(self, path: str) -> SimulatedDirectory:
        entry = self._find(path)
        if not isinstance(entry, SimulatedDirectory):
            raise FileNotFoundError(errno.ENOENT, "no such directory", path)
        return entry

    def _parent(self, path: str) -> tuple[SimulatedDirectory, str]:
        *_, name = _names(path)
        return self._directory(path.rpartition("/")[0]), name


@lru_cache(maxsize=256)
def _names(path: str) -> tuple[str, ...]:
    return tuple(name for name in path.split("/") if name not in {"", "."})
