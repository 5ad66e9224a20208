"""Implement the FileSystem protocol by the real disk; no other module of the node imports os."""

import fcntl
import os
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Final

from typing_extensions import override

from kraftproof.node.storage.filesystem import AppendHandle, FileSystem, LockHeldError

_FLOCK: Final = struct.Struct("@hhqqi4x")
"""The struct flock of 64-bit Linux: type, whence, start, length, pid."""


class DiskHandle(AppendHandle):
    """An unbuffered file descriptor in append mode; errors name the file."""

    __slots__ = ("_descriptor", "_path")

    def __init__(self, path: str) -> None:
        self._path = path
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC
        self._descriptor = os.open(path, flags, 0o644)

    @override
    def write(self, data: bytes) -> None:
        with self._named_in_errors():
            remaining = memoryview(data)
            while remaining:
                written = os.write(self._descriptor, remaining)
                remaining = remaining[written:]

    @override
    def start_fsync(self) -> Callable[[], None]:
        """Return the fsync of a second descriptor, as the file may be closed before the call."""
        with self._named_in_errors():
            return partial(self._fsync, os.dup(self._descriptor))

    @override
    def truncate(self, size: int) -> None:
        with self._named_in_errors():
            os.ftruncate(self._descriptor, size)

    @override
    def close(self) -> None:
        os.close(self._descriptor)

    def _fsync(self, descriptor: int) -> None:
        try:
            with self._named_in_errors():
                os.fsync(descriptor)
        finally:
            os.close(descriptor)

    @contextmanager
    def _named_in_errors(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            error.filename = self._path
            raise


class Disk(FileSystem):
    """The machine's file system."""

    __slots__ = ()

    @override
    def read(self, path: str) -> bytes:
        with open(path, "rb") as file:
            return file.read()

    @override
    def read_slice(self, path: str, position: int, length: int) -> bytes:
        with open(path, "rb") as file:
            file.seek(position)
            return file.read(length)

    @override
    def append_to(self, path: str) -> AppendHandle:
        return DiskHandle(path)

    @override
    def replace(self, source: str, target: str) -> None:
        os.replace(source, target)

    @override
    def rename(self, source: str, target: str) -> None:
        os.rename(source, target)

    @override
    def remove_directory(self, path: str) -> None:
        os.rmdir(path)

    @override
    def fsync_directory(self, path: str) -> None:
        descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    @override
    def list_directory(self, path: str) -> list[str]:
        return sorted(os.listdir(path))

    @override
    def exists(self, path: str) -> bool:
        return os.path.exists(path)

    @override
    def make_directory(self, path: str) -> None:
        os.makedirs(path, exist_ok=True)

    @override
    def remove(self, path: str) -> None:
        os.remove(path)

    @override
    def size(self, path: str) -> int:
        return os.stat(path).st_size

    @override
    def volume(self, path: str) -> tuple[int, int]:
        found = os.statvfs(path)
        return found.f_blocks * found.f_frsize, found.f_bavail * found.f_frsize

    @override
    def lock(self, path: str) -> Callable[[], None]:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except (BlockingIOError, PermissionError) as error:
            pid = _lock_holder(descriptor)
            os.close(descriptor)
            raise LockHeldError(path, pid) from error
        return partial(os.close, descriptor)


def _lock_holder(descriptor: int) -> int | None:
    """Return the pid of the lock's holder; None after its end, or for another pid namespace."""
    asked = _FLOCK.pack(fcntl.F_WRLCK, os.SEEK_SET, 0, 0, 0)
    kind, _, _, _, pid = _FLOCK.unpack(fcntl.fcntl(descriptor, fcntl.F_GETLK, asked))
    return pid if kind != fcntl.F_UNLCK and pid > 0 else None
