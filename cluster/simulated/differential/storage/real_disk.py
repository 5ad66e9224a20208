"""Compare the node's access to a real directory with the model disk of the simulation.

The same drawn operations go to a new directory of the machine and to a disk in memory. Locks are
compared with those of another process, since a process never conflicts with itself.
"""

import errno
import fcntl
import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import Any, Final
from unittest.mock import patch

from typing_extensions import override

from kraftproof.cluster.simulated.differential.difference import check, named, refused, same
from kraftproof.cluster.simulated.differential.storage.files import content_of
from kraftproof.cluster.simulated.disk.filesystem import SimulatedFileSystem
from kraftproof.node.storage import directory_lock, filesystem
from kraftproof.node.storage.disk import Disk
from kraftproof.node.storage.errors import StorageError
from kraftproof.node.storage.filesystem import FileSystem

STEPS: Final = 40
NAMES: Final = ("d/a", "d/b", "d/e", "d/sub", "d/sub/a", "other")
LARGE: Final = 3 << 20
"""Bytes of a write for which a pipe-sized write is not enough."""
Action = Callable[[FileSystem, str], Any]


def compare_real_disk(random: Random) -> None:
    """Carry out operations on a real directory, and on the disk in memory.

    Raises:
        DifferenceError: the node has another result than the disk in memory.
    """
    with tempfile.TemporaryDirectory(prefix="kraftproof-") as folder:
        _compare_operations(folder, random)
        _compare_writes(folder, random)
        _compare_locks(folder)
        _compare_helpers(folder, random)


def _compare_operations(folder: str, random: Random) -> None:
    disk, model = Disk(), SimulatedFileSystem()
    for one, root in ((disk, folder), (model, "")):
        one.make_directory(f"{root}/d")
    for _ in range(STEPS):
        what, action = _draw_action(random)
        found = _outcome(action, disk, folder)
        same(what, found, _outcome(action, model, ""))
    same("the content of a directory", _relative(disk, folder), _relative(model, ""))


def _outcome(action: Action, disk: FileSystem, root: str) -> object:
    """Return the result of an action, or the number and the file of its error."""
    try:
        return action(disk, root)
    except OSError as error:
        name = str(error.filename)
        return errno.errorcode.get(error.errno or 0), name.removeprefix(root)


def _relative(disk: FileSystem, root: str) -> dict[str, bytes]:
    if isinstance(disk, SimulatedFileSystem):
        return content_of(disk, "/")
    files = sorted(path for path in Path(root).rglob("*") if path.is_file())
    return {str(path).removeprefix(root): path.read_bytes() for path in files}


def _draw_action(random: Random) -> tuple[str, Action]:
    """Return an operation whose errors are the same on every disk."""
    path, other = random.choice(NAMES), random.choice(("d/a", "d/b", "d/e"))
    data, number = random.randbytes(random.randrange(9)), random.randrange(9)
    actions: dict[str, Action] = {
        "read": lambda disk, root: disk.read(f"{root}/d/{other[2:]}"),
        "read_slice": lambda disk, root: disk.read_slice(f"{root}/{other}", number, 5),
        "append": lambda disk, root: _append(disk, f"{root}/{other}", data, number),
        "replace": lambda disk, root: disk.replace(f"{root}/{other}", f"{root}/d/b"),
        "remove": lambda disk, root: disk.remove(f"{root}/{other}"),
        "size": lambda disk, root: disk.size(f"{root}/{other}"),
        "exists": lambda disk, root: disk.exists(f"{root}/{path}"),
        "make_directory": lambda disk, root: disk.make_directory(f"{root}/d/sub/deep"),
        "list_directory": lambda disk, root: disk.list_directory(f"{root}/d"),
        "list_missing": lambda disk, root: disk.list_directory(f"{root}/none"),
        "fsync_directory": lambda disk, root: disk.fsync_directory(f"{root}/d"),
        "rename": _rename,
    }
    name = random.choice(sorted(actions))
    return f"{name} of {path}, {other}, {number}", actions[name]


def _append(disk: FileSystem, path: str, data: bytes, size: int) -> int:
    """Write, cut and sync a file; the fsync may come after the end of the handle."""
    handle = disk.append_to(path)
    handle.write(data)
    fsync = handle.start_fsync()
    if size < disk.size(path):
        handle.truncate(size)
    handle.write(b"end")
    handle.close()
    fsync()
    return disk.size(path)


def _rename(disk: FileSystem, root: str) -> list[str]:
    disk.make_directory(f"{root}/d/old")
    disk.rename(f"{root}/d/old", f"{root}/d/new")
    names = disk.list_directory(f"{root}/d")
    disk.remove_directory(f"{root}/d/new")
    return names


def _compare_writes(folder: str, random: Random) -> None:
    """Write what one call of the system may not take, and fail on a closed or missing file."""
    disk, path, data = Disk(), f"{folder}/large", random.randbytes(100) * (LARGE // 100)
    handle = disk.append_to(path)
    with _short_writes(random):
        handle.write(data)
    check("a large write", disk.read(path) == data)
    same("a slice of a large file", disk.read_slice(path, 100, 100), data[:100])
    before = set(os.listdir("/proc/self/fd")) if os.path.isdir("/proc/self/fd") else set()
    handle.start_fsync()()
    disk.fsync_directory(folder)
    after = set(os.listdir("/proc/self/fd")) if before else set()
    same("files that stay open after an fsync", len(after), len(before))
    handle.close()
    for action in (lambda: handle.write(b"x"), lambda: handle.truncate(0), handle.start_fsync):
        text = _error_of(action)
        same("the error of a closed file", text, (errno.EBADF, path))
    total, usable = disk.volume(folder)
    found = os.statvfs(folder)
    same("the size of a volume", total, found.f_blocks * found.f_frsize)
    check(
        "the usable bytes of a volume", abs(usable - found.f_bavail * found.f_frsize) < total / 20
    )


def _error_of(action: Callable[[], object]) -> tuple[int | None, object]:
    try:
        action()
    except OSError as error:
        return error.errno, error.filename
    return None, None


@contextmanager
def _short_writes(random: Random) -> Iterator[None]:
    """Let the system take a part of each write, as a full pipe or a signal makes it."""
    whole = os.write

    def short(descriptor: int, data: memoryview) -> int:
        return whole(descriptor, data[: random.choice((1, 1 << 20, LARGE))])

    with patch.object(os, "write", short):
        yield


def _compare_locks(folder: str) -> None:
    """Lock directories that another process has, and that nobody has."""
    disk, path = Disk(), f"{folder}/{directory_lock.FILE_NAME}"
    same("the name of the lock", directory_lock.FILE_NAME, ".lock")
    Path(f"{folder}/first").mkdir(exist_ok=True)
    paths = (f"{folder}/first", folder)
    with _lock_elsewhere(path) as pid:
        text = refused(
            "a locked directory", StorageError, directory_lock.lock_directories, disk, paths
        )
        named("a locked directory", text, f"{folder}:", f"process {pid},", ".lock")
        same("a lock that was released", _is_locked_for_others(f"{paths[0]}/.lock"), [0])
    release = directory_lock.lock_directories(disk, paths)
    same("held locks", [_is_locked_for_others(f"{one}/.lock") for one in paths], [[1], [1]])
    release()
    same("free locks", [_is_locked_for_others(f"{one}/.lock") for one in paths], [[0], [0]])


@contextmanager
def _lock_elsewhere(path: str) -> Iterator[int]:
    """Hold a lock in a child process while the block runs; yield its id."""
    ready, wait = os.pipe(), os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            os.close(wait[1])
            os.write(ready[1], b"r")
            os.read(wait[0], 1)
        finally:
            os._exit(0)
    os.close(ready[1])
    os.close(wait[0])
    os.read(ready[0], 1)
    try:
        yield pid
    finally:
        os.close(wait[1])
        os.close(ready[0])
        os.waitpid(pid, 0)


def _is_locked_for_others(path: str) -> list[int]:
    """Return whether another process can't lock a file, as the status of a child process."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            descriptor = os.open(path, os.O_RDWR)
            fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            status = 0
        finally:
            os._exit(status)
    return [os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])]


def _compare_helpers(folder: str, random: Random) -> None:
    """Replace and copy files by the steps that every disk shares."""
    disk, model = Disk(), SimulatedFileSystem()
    for size in (0, random.randrange(1, 50), filesystem.COPIED_BYTES, filesystem.COPIED_BYTES + 1):
        data = random.randbytes(10) * (size // 10) + bytes(size % 10)
        for one, root in ((disk, folder), (model, "")):
            path = f"{root}/file"
            filesystem.replace_durably(one, path, data)
            same("a replaced file", one.read(path) == data, 1)
            filesystem.rewrite_durably(one, path)
            same("a copied file", one.read(path) == data, 1)
            filesystem.replace_atomically(one, path, data[:5])
            same("a file replaced at once", one.read(path), data[:5])
            check("no file is left over", not one.exists(f"{path}.tmp"))
    counted = _CountingDisk()
    filesystem.replace_durably(counted, "/file", bytes(5))
    filesystem.rewrite_durably(counted, "/file")
    same("the reads of a copy", counted.reads, 1)
    paths = (filesystem.join("/a/", "b"), filesystem.join("/a", "b"), filesystem.parent("/a/b"))
    same("joined paths", (*paths, filesystem.parent("/a"), filesystem.parent("a")), _PATHS)


_PATHS: Final = ("/a/b", "/a/b", "/a", "/", ".")


class _CountingDisk(SimulatedFileSystem):
    """A disk that counts reads."""

    def __init__(self) -> None:
        super().__init__()
        self.reads = 0

    @override
    def read_slice(self, path: str, position: int, length: int) -> bytes:
        self.reads += 1
        return super().read_slice(path, position, length)
