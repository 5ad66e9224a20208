"""The seam between storage and a disk; nothing else of the node opens a file.

Not: buffering, formats or recovery. The real disk is node/storage/disk.py; the simulator has one
in memory, whose crash loses whatever was not made durable here. Paths are plain strings joined
by `/`. Every failure is an OSError. What a crash may take away:

- bytes written through an AppendHandle until a start_fsync() that came after them has returned;
- a new, replaced or removed directory entry until fsync_directory() of its parent has returned.
"""

from collections.abc import Callable
from errno import EAGAIN
from typing import Protocol


class AppendHandle(Protocol):
    """A file opened for writing at its end."""

    def write(self, data: bytes) -> None:
        """Put all of `data` at the end of the file; a reader of the same machine sees it."""

    def start_fsync(self) -> Callable[[], None]:
        """Return the call that makes durable all that has been written until now.

        The call may be made from another thread, and later; it is made at most once.
        """

    def truncate(self, size: int) -> None:
        """Cut the file to `size` bytes, which are not more than it has; not yet durable."""

    def close(self) -> None:
        """Let go of the file; what was not fsynced stays at risk."""


class LockHeldError(OSError):
    """Another process holds the lock; `pid` is its id, if this one may know."""

    def __init__(self, path: str, pid: int | None) -> None:
        super().__init__(EAGAIN, "is locked by another process", path)
        self.pid = pid


class FileSystem(Protocol):
    """All that a node asks of a disk."""

    def read(self, path: str) -> bytes:
        """Return the whole file."""

    def read_slice(self, path: str, position: int, length: int) -> bytes:
        """Return up to `length` bytes of a file from `position` on."""

    def append_to(self, path: str) -> AppendHandle:
        """Open a file to write at its end; it is created empty if absent."""

    def replace(self, source: str, target: str) -> None:
        """Rename `source` to `target` atomically, over what was there."""

    def fsync_directory(self, path: str) -> None:
        """Make the entries of one directory durable."""

    def list_directory(self, path: str) -> list[str]:
        """Return the names in a directory, sorted."""

    def exists(self, path: str) -> bool:
        """Tell whether a file or directory of this name is there."""

    def make_directory(self, path: str) -> None:
        """Make a directory and its missing parents; one that is there is fine."""

    def remove(self, path: str) -> None:
        """Remove one file."""

    def size(self, path: str) -> int:
        """Return a file's length in bytes."""

    def lock(self, path: str) -> Callable[[], None]:
        """Lock a file for this process alone, and return the call that lets go of the lock.

        The file is created if absent, and stays. The end of the process lets go, too, kill -9
        included.

        Raises:
            LockHeldError: another process holds it.
        """


def join(directory: str, name: str) -> str:
    """Return the path of `name` in `directory`."""
    return f"{directory.rstrip('/')}/{name}"


def parent(path: str) -> str:
    """Return the directory that holds `path`."""
    head = path.rpartition("/")[0]
    return head or ("/" if path.startswith("/") else ".")


def replace_durably(filesystem: FileSystem, path: str, data: bytes) -> None:
    """Give `path` new content so that a crash leaves the old or the new one, never a mixture.

    Temporary file, fsync, rename, fsync of the directory: once it returns the new one stays.
    """
    temporary = path + ".tmp"
    handle = filesystem.append_to(temporary)
    try:
        handle.truncate(0)
        handle.write(data)
        handle.start_fsync()()
    finally:
        handle.close()
    filesystem.replace(temporary, path)
    filesystem.fsync_directory(parent(path))
