"""Define the interface between storage and disk; no other code of the node opens a file.

node/storage/disk.py implements the interface by the real disk. The simulator has a disk in memory,
whose crash loses data without fsync. Paths are strings joined by `/`. Every failure is an OSError.
A crash may lose:

- bytes written through an AppendHandle, until a later start_fsync() has returned;
- a new, replaced or removed directory entry, until fsync_directory() of its parent has returned.
"""

from collections.abc import Callable
from errno import EAGAIN
from typing import Final, Protocol

COPIED_BYTES: Final = 1024 * 1024
"""The size of the parts of a copied file."""


class AppendHandle(Protocol):
    """A file open for writes at its end."""

    def write(self, data: bytes) -> None:
        """Append `data` to the file; readers on the same machine see the bytes at once."""

    def start_fsync(self) -> Callable[[], None]:
        """Return a function that makes durable the bytes written before this call.

        The function may be called later and from another thread, at most once.
        """

    def truncate(self, size: int) -> None:
        """Truncate the file to `size` bytes, at most its present size; not yet durable."""

    def close(self) -> None:
        """Close the file; bytes without fsync may still be lost."""


class LockHeldError(OSError):
    """Another process holds the lock; `pid` is its id, or None if unknown."""

    def __init__(self, path: str, pid: int | None) -> None:
        super().__init__(EAGAIN, "is locked by another process", path)
        self.pid = pid


class FileSystem(Protocol):
    """The operations of a disk that a node needs."""

    def read(self, path: str) -> bytes:
        """Return the content of a file."""

    def read_slice(self, path: str, position: int, length: int) -> bytes:
        """Return up to `length` bytes of a file from `position` on."""

    def append_to(self, path: str) -> AppendHandle:
        """Open a file for appends; create an empty file if missing."""

    def replace(self, source: str, target: str) -> None:
        """Rename `source` to `target` atomically; replace an existing `target`."""

    def rename(self, source: str, target: str) -> None:
        """Rename a file or directory within its parent; `target` must not exist."""

    def remove_directory(self, path: str) -> None:
        """Remove an empty directory."""

    def fsync_directory(self, path: str) -> None:
        """Make the entries of a directory durable."""

    def list_directory(self, path: str) -> list[str]:
        """Return the names in a directory in sorted order."""

    def exists(self, path: str) -> bool:
        """Return whether the file or directory exists."""

    def make_directory(self, path: str) -> None:
        """Make a directory and its missing parents; accept an existing directory."""

    def remove(self, path: str) -> None:
        """Remove a file."""

    def size(self, path: str) -> int:
        """Return a file's length in bytes."""

    def volume(self, path: str) -> tuple[int, int]:
        """Return the total and the usable bytes of the volume with a directory."""

    def lock(self, path: str) -> Callable[[], None]:
        """Lock a file for this process, and return a function that releases the lock.

        A missing file is created, and the file stays. The end of the process releases the lock,
        even after kill -9.

        Raises:
            LockHeldError: another process holds the lock.
        """


def join(directory: str, name: str) -> str:
    """Return the path of `name` in `directory`."""
    return f"{directory.rstrip('/')}/{name}"


def parent(path: str) -> str:
    """Return the parent directory of `path`."""
    head = path.rpartition("/")[0]
    return head or ("/" if path.startswith("/") else ".")


def replace_atomically(filesystem: FileSystem, path: str, data: bytes) -> None:
    """Replace the content of `path`; nothing is durable, and a crash may leave a broken file."""
    temporary = path + ".tmp"
    handle = filesystem.append_to(temporary)
    try:
        handle.truncate(0)
        handle.write(data)
    finally:
        handle.close()
    filesystem.replace(temporary, path)


def fsync_file(filesystem: FileSystem, path: str) -> None:
    """Make the content of a file durable, but not its name."""
    handle = filesystem.append_to(path)
    try:
        handle.start_fsync()()
    finally:
        handle.close()


def rewrite_durably(filesystem: FileSystem, path: str) -> None:
    """Replace a file by a copy with the same content, durably."""
    temporary = path + ".tmp"
    size, position = filesystem.size(path), 0
    handle = filesystem.append_to(temporary)
    try:
        handle.truncate(0)
        while position < size or position == 0:
            part = filesystem.read_slice(path, position, COPIED_BYTES)
            handle.write(part)
            position += len(part) or 1
        handle.start_fsync()()
    finally:
        handle.close()
    _publish(filesystem, temporary, path)


def replace_durably(filesystem: FileSystem, path: str, data: bytes) -> None:
    """Replace the content of `path`; after a crash the file has the old or the new content.

    The steps are temporary file, fsync, rename and fsync of the directory; on return the new
    content is durable.
    """
    temporary = path + ".tmp"
    handle = filesystem.append_to(temporary)
    try:
        handle.truncate(0)
        handle.write(data)
        handle.start_fsync()()
    finally:
        handle.close()
    _publish(filesystem, temporary, path)


def _publish(filesystem: FileSystem, temporary: str, path: str) -> None:
    filesystem.replace(temporary, path)
    filesystem.fsync_directory(parent(path))
