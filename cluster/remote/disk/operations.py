"""The operations of the file system: each answers a request of the kernel."""

import errno
import os
import time
from collections.abc import Callable
from typing import Final

from kraftproof.cluster.disk_faults import DiskFaults
from kraftproof.cluster.remote.disk import protocol
from kraftproof.cluster.remote.disk.protocol import Opcode, Request
from kraftproof.cluster.remote.disk.report import Report
from kraftproof.cluster.remote.disk.tree import Inode, Tree

Finish = Callable[[], bytes]
RENAME_NOREPLACE: Final = 1


class Later(Exception):
    """The answer to a request comes later: `finish` makes it when `delay_ns` have passed."""

    def __init__(self, delay_ns: int, finish: Finish) -> None:
        super().__init__()
        self.delay_ns = delay_ns
        self.finish = finish


class Operations:
    """The operations on one tree.

    Attributes:
        writes: The number of writes and truncations.
        fsyncs: The number of fsyncs of files and directories.
    """

    def __init__(self, tree: Tree, faults: DiskFaults, report: Report) -> None:
        self._tree = tree
        self._report = report
        self._faults = faults
        self.writes = 0
        self.fsyncs = 0
        self._handlers: dict[int, Callable[[Request], bytes]] = {
            Opcode.LOOKUP: self._lookup,
            Opcode.GETATTR: self._get_attributes,
            Opcode.SETATTR: self._set_attributes,
            Opcode.MKNOD: self._make_node,
            Opcode.MKDIR: self._make_directory,
            Opcode.UNLINK: self._unlink,
            Opcode.RMDIR: self._remove_directory,
            Opcode.RENAME: self._rename,
            Opcode.RENAME2: self._rename_with_flags,
            Opcode.OPEN: self._open,
            Opcode.READ: self._read,
            Opcode.WRITE: self._write,
            Opcode.STATFS: self._statistics,
            Opcode.RELEASE: self._release,
            Opcode.FSYNC: self._fsync,
            Opcode.INIT: lambda request: protocol.init(request.body),
            Opcode.OPENDIR: lambda request: protocol.opened(request.inode),
            Opcode.READDIR: self._read_directory,
            Opcode.RELEASEDIR: lambda _: b"",
            Opcode.FSYNCDIR: self._fsync_directory,
            Opcode.CREATE: self._create,
            Opcode.DESTROY: lambda _: b"",
        }

    def handle(self, request: Request) -> bytes | None:
        """Return the bytes of the answer, or None for a request without an answer.

        Raises:
            Later: the answer comes later.
        """
        if request.opcode in protocol.UNANSWERED:
            return None
        handler = self._handlers.get(request.opcode)
        if handler is None:
            return protocol.failure(request, errno.ENOSYS)
        try:
            return protocol.answer(request, handler(request))
        except OSError as error:
            return protocol.failure(request, error.errno or errno.EIO)

    # Names

    def _lookup(self, request: Request) -> bytes:
        (name,) = protocol.names(request.body)
        return self._entry(self._tree.lookup(self._tree.inode(request.inode), name))

    def _entry(self, inode: Inode) -> bytes:
        return protocol.entry(inode.number, os.lstat(self._tree.path(inode)))

    def _make(self, request: Request, name_at: int, mode: int, *, is_directory: bool) -> Inode:
        (name,) = protocol.names(request.body[name_at:])
        directory = self._tree.inode(request.inode)
        self._faults.create(name)
        mode &= 0o7777
        return self._tree.create(directory, name, mode, request.caller, is_directory=is_directory)

    def _make_node(self, request: Request) -> bytes:
        mode, *_ = protocol.MKNOD_IN.unpack_from(request.body)
        return self._entry(self._make(request, protocol.MKNOD_IN.size, mode, is_directory=False))

    def _make_directory(self, request: Request) -> bytes:
        mode, _ = protocol.MKDIR_IN.unpack_from(request.body)
        return self._entry(self._make(request, protocol.MKDIR_IN.size, mode, is_directory=True))

    def _create(self, request: Request) -> bytes:
        _, mode, _, _ = protocol.CREATE_IN.unpack_from(request.body)
        inode = self._make(request, protocol.CREATE_IN.size, mode, is_directory=False)
        self._hold(inode)
        return self._entry(inode) + protocol.opened(inode.number)

    def _unlink(self, request: Request) -> bytes:
        return self._remove(request, is_directory=False)

    def _remove_directory(self, request: Request) -> bytes:
        return self._remove(request, is_directory=True)

    def _remove(self, request: Request, *, is_directory: bool) -> bytes:
        (name,) = protocol.names(request.body)
        self._tree.remove(self._tree.inode(request.inode), name, is_directory=is_directory)
        return b""

    def _rename(self, request: Request) -> bytes:
        (target,) = protocol.RENAME_IN.unpack_from(request.body)
        return self._move(request, target, request.body[protocol.RENAME_IN.size :])

    def _rename_with_flags(self, request: Request) -> bytes:
        target, flags, _ = protocol.RENAME2_IN.unpack_from(request.body)
        rest = request.body[protocol.RENAME2_IN.size :]
        _, new_name = protocol.names(rest)
        if flags & ~RENAME_NOREPLACE:
            raise OSError(errno.EINVAL, "exchanges and white-outs are not supported")
        if flags and new_name in self._tree.inode(target).children:
            raise OSError(errno.EEXIST, "exists")
        return self._move(request, target, rest)

    def _move(self, request: Request, target: int, two_names: bytes) -> bytes:
        name, new_name = protocol.names(two_names)
        source = self._tree.inode(request.inode)
        self._tree.rename(source, name, self._tree.inode(target), new_name)
        return b""

    def _read_directory(self, request: Request) -> bytes:
        _, offset, size, _ = protocol.READ_IN.unpack_from(request.body)
        directory = self._tree.inode(request.inode)
        found = [
            (one.number, name, os.lstat(self._tree.path(one)).st_mode)
            for name, one in sorted(directory.children.items())
        ]
        return protocol.directory_entries(found, offset, size)

    def _fsync_directory(self, request: Request) -> bytes:
        self.fsyncs += 1
        self._faults.fsync_directory(self._tree.inode(request.inode).name)
        return self._slowly(request, self._tree.sync_names)

    # Files

    def _get_attributes(self, request: Request) -> bytes:
        inode = self._tree.inode(request.inode)
        return protocol.attributes_answer(inode.number, os.lstat(self._tree.path(inode)))

    def _set_attributes(self, request: Request) -> bytes:
        valid, _, _, size, _, atime, mtime, _, atime_ns, mtime_ns, _, mode, _, uid, gid, _ = (
            protocol.SETATTR_IN.unpack_from(request.body)
        )
        inode = self._tree.inode(request.inode)
        path = self._tree.path(inode)
        if valid & protocol.SET_MODE:
            os.chmod(path, mode & 0o7777)
        if valid & (protocol.SET_UID | protocol.SET_GID):
            owner = uid if valid & protocol.SET_UID else -1
            os.chown(path, owner, gid if valid & protocol.SET_GID else -1)
        if valid & protocol.SET_SIZE:
            self.writes += 1
            self._faults.change(inode.name)
            self._hold(inode)
            inode.unsynced.truncate(inode.descriptor, size, time.monotonic_ns())
            self._drop(inode)
        if valid & protocol.SET_MTIME:
            times = (atime * protocol.NS_PER_S + atime_ns, mtime * protocol.NS_PER_S + mtime_ns)
            os.utime(path, ns=times if valid & protocol.SET_ATIME else (times[1], times[1]))
        return self._get_attributes(request)

    def _hold(self, inode: Inode) -> None:
        if inode.entries is not None:
            raise OSError(errno.EISDIR, "is a directory")
        if inode.descriptor < 0:
            inode.descriptor = os.open(self._tree.path(inode), os.O_RDWR | os.O_CLOEXEC)
        inode.opens += 1

    def _drop(self, inode: Inode) -> None:
        inode.opens -= 1
        if inode.opens == 0:
            os.close(inode.descriptor)
            inode.descriptor = -1
            if inode.place is None:
                self._tree.sweep()

    def _open(self, request: Request) -> bytes:
        self._hold(self._tree.inode(request.inode))
        return protocol.opened(request.inode)

    def _release(self, request: Request) -> bytes:
        self._drop(self._tree.inode(request.inode))
        return b""

    def _read(self, request: Request) -> bytes:
        _, offset, size, _ = protocol.READ_IN.unpack_from(request.body)
        return os.pread(self._tree.inode(request.inode).descriptor, size, offset)

    def _write(self, request: Request) -> bytes:
        _, offset, size, _ = protocol.READ_IN.unpack_from(request.body)
        data = request.body[protocol.WRITE_IN_BYTES : protocol.WRITE_IN_BYTES + size]
        inode = self._tree.inode(request.inode)
        self.writes += 1
        self._faults.write(
            inode.name,
            data,
            lambda part: inode.unsynced.write(inode.descriptor, offset, part, time.monotonic_ns()),
        )
        return protocol.written(len(data))

    def _fsync(self, request: Request) -> bytes:
        inode = self._tree.inode(request.inode)
        self.fsyncs += 1
        self._faults.fsync(inode.name, inode.unsynced.forget)
        reached = inode.unsynced.reached()

        def sync() -> None:
            self._report.synced(inode.name, inode.unsynced.sync(reached))

        return self._slowly(request, sync)

    def _slowly(self, request: Request, sync: Callable[[], None]) -> bytes:
        """Sync at once, or when the drawn delay of a slow disk has passed."""
        delay_ns = self._faults.slowness_ns()
        if delay_ns == 0:
            sync()
            return b""

        def finish() -> bytes:
            sync()
            return protocol.answer(request)

        raise Later(delay_ns, finish)

    def _statistics(self, request: Request) -> bytes:
        return protocol.statistics(os.statvfs(self._tree.path(self._tree.inode(request.inode))))
