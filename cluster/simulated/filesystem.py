"""A disk in memory that forgets in a crash what was not made durable.

Each file and directory keeps an undo list of what has happened to it since it was last synced; a
crash undoes a seed-drawn suffix of it. Simplifications: a crash keeps a prefix of the unsynced
writes of a file (pages are not reordered), a torn write is torn at a byte, and files and
directories forget independently of each other (no journal orders them).
"""

import errno
from collections.abc import Callable
from random import Random

from msgspec import Struct
from typing_extensions import override

from node.storage.filesystem import AppendHandle, FileSystem

LOSE_ALL = 0.6
"""The share of files that lose every unsynced write in a crash."""
TEAR = 0.3
"""The share of those that keep some, and of the first lost write a part."""


class _Written(Struct, frozen=True):
    length: int


class _Cut(Struct, frozen=True):
    removed: bytes


class _Entry(Struct, frozen=True):
    """What names pointed to before an operation; a rename changes two at once."""

    before: "tuple[tuple[str, SimulatedFile | SimulatedDirectory | None], ...]"


class SimulatedFile:
    """Bytes as the page cache shows them, and how to undo what is not on disk."""

    __slots__ = ("_first", "_undo", "data")

    def __init__(self) -> None:
        self.data = bytearray()
        self._undo: list[_Written | _Cut] = []
        self._first = 0

    def write(self, data: bytes) -> None:
        """Append to the page cache."""
        self.data += data
        self._undo.append(_Written(len(data)))

    def truncate(self, size: int) -> None:
        """Cut in the page cache."""
        assert size <= len(self.data), "a file is cut, never grown"
        self._undo.append(_Cut(bytes(self.data[size:])))
        del self.data[size:]

    def start_fsync(self) -> Callable[[], None]:
        """Return the call that makes durable what has happened until now."""
        reached = self._first + len(self._undo)
        return lambda: self._forget_undo(reached)

    @property
    def unsynced_bytes(self) -> int:
        """How many bytes a crash could take away."""
        return sum(undo.length for undo in self._undo if isinstance(undo, _Written))

    @property
    def is_synced(self) -> bool:
        """Whether a crash would change nothing."""
        return not self._undo

    def crash(self, random: Random) -> int:
        """Undo a drawn suffix of the unsynced operations; return the bytes lost."""
        if not self._undo:
            return 0
        kept = 0 if random.random() < LOSE_ALL else random.randrange(len(self._undo) + 1)
        lost = 0
        while len(self._undo) > kept:
            undo = self._undo.pop()
            if isinstance(undo, _Cut):
                self.data += undo.removed
                continue
            tear = len(self._undo) == kept and kept > 0 and random.random() < TEAR
            gone = random.randint(1, undo.length) if tear and undo.length else undo.length
            del self.data[len(self.data) - gone :]
            lost += gone
        self._forget_undo(self._first + len(self._undo))
        return lost

    def _forget_undo(self, reached: int) -> None:
        done = max(reached - self._first, 0)
        del self._undo[:done]
        self._first += done


class SimulatedDirectory:
    """Names as the kernel shows them, and how to undo what is not on disk."""

    __slots__ = ("_undo", "entries")

    def __init__(self) -> None:
        self.entries: dict[str, SimulatedFile | SimulatedDirectory] = {}
        self._undo: list[_Entry] = []

    def change(self, changes: "dict[str, SimulatedFile | SimulatedDirectory | None]") -> None:
        """Point names elsewhere, all at once; None removes."""
        self._undo.append(_Entry(tuple((name, self.entries.get(name)) for name in changes)))
        self._point(tuple(changes.items()))

    def fsync(self) -> None:
        """Make the names durable."""
        self._undo.clear()

    def crash(self, random: Random) -> int:
        """Undo a drawn suffix of the unsynced changes, here and below; return the bytes lost."""
        kept = 0
        if self._undo and random.random() >= LOSE_ALL:
            kept = random.randrange(len(self._undo) + 1)
        lost = 0
        while len(self._undo) > kept:
            before = self._undo.pop().before
            for name, _ in before:
                entry = self.entries.get(name)
                lost += len(entry.data) if isinstance(entry, SimulatedFile) else 0
            self._point(before)
        self._undo.clear()
        return lost + sum(self.entries[name].crash(random) for name in sorted(self.entries))

    def _point(
        self, names: "tuple[tuple[str, SimulatedFile | SimulatedDirectory | None], ...]"
    ) -> None:
        for name, entry in names:
            if entry is None:
                self.entries.pop(name, None)
            else:
                self.entries[name] = entry


class SimulatedHandle(AppendHandle):
    """A file opened to write at its end."""

    __slots__ = ("_file",)

    def __init__(self, file: SimulatedFile) -> None:
        self._file = file

    @override
    def write(self, data: bytes) -> None:
        self._file.write(bytes(data))

    @override
    def start_fsync(self) -> Callable[[], None]:
        return self._file.start_fsync()

    @override
    def truncate(self, size: int) -> None:
        self._file.truncate(size)

    @override
    def close(self) -> None:
        """The page cache keeps what was written."""


class SimulatedFileSystem(FileSystem):
    """One machine's disk; it outlives the processes on it."""

    __slots__ = ("root",)

    def __init__(self) -> None:
        self.root = SimulatedDirectory()

    def crash(self, random: Random) -> int:
        """Lose power: what was not made durable goes, in part or whole; return the bytes lost."""
        return self.root.crash(random)

    def is_synced(self, directory: str) -> bool:
        """Whether a crash would leave every file of this directory as it is."""
        entries = self._directory(directory).entries
        return all(
            entry.is_synced for entry in entries.values() if isinstance(entry, SimulatedFile)
        )

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
            entry = SimulatedFile()
            directory.change({name: entry})
        return SimulatedHandle(entry)

    @override
    def replace(self, source: str, target: str) -> None:
        file = self._file(source)
        old_directory, old_name = self._parent(source)
        directory, name = self._parent(target)
        assert directory is old_directory, "files are renamed within their directory"
        directory.change({old_name: None, name: file})

    @override
    def fsync_directory(self, path: str) -> None:
        self._directory(path).fsync()

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
                entry = SimulatedDirectory()
                directory.change({name: entry})
            directory = entry

    @override
    def remove(self, path: str) -> None:
        self._file(path)
        directory, name = self._parent(path)
        directory.change({name: None})

    @override
    def size(self, path: str) -> int:
        return len(self._file(path).data)

    def _find(self, path: str) -> SimulatedFile | SimulatedDirectory | None:
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


def _names(path: str) -> list[str]:
    return [name for name in path.split("/") if name not in {"", "."}]
