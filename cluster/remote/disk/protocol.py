"""The kernel's FUSE protocol, version 7.31: requests decoded, answers encoded.

Source: include/uapi/linux/fuse.h. The kernel gets ENOSYS for every other request, and then does
without.
"""

import os
from enum import IntEnum
from stat import S_IFMT
from struct import Struct
from typing import NamedTuple

MAJOR, MINOR = 7, 31
MAX_WRITE = 1 << 20
"""Largest number of bytes in one write request."""
BUFFER_BYTES = MAX_WRITE + 4096
"""Size of a read of /dev/fuse: the largest write and its headers."""
BIG_WRITES = 1 << 5
MAX_PAGES = 1 << 22
PAGES = MAX_WRITE // 4096
BACKGROUND, CONGESTED = 16, 12
NS_PER_S = 1_000_000_000
SET_MODE, SET_UID, SET_GID, SET_SIZE, SET_ATIME, SET_MTIME = 1, 2, 4, 8, 16, 32


class Opcode(IntEnum):
    """The requests with an answer of this file system."""

    LOOKUP = 1
    FORGET = 2
    GETATTR = 3
    SETATTR = 4
    MKNOD = 8
    MKDIR = 9
    UNLINK = 10
    RMDIR = 11
    RENAME = 12
    OPEN = 14
    READ = 15
    WRITE = 16
    STATFS = 17
    RELEASE = 18
    FSYNC = 20
    INIT = 26
    OPENDIR = 27
    READDIR = 28
    RELEASEDIR = 29
    FSYNCDIR = 30
    CREATE = 35
    INTERRUPT = 36
    DESTROY = 38
    BATCH_FORGET = 42
    RENAME2 = 45


UNANSWERED = frozenset({Opcode.FORGET, Opcode.INTERRUPT, Opcode.BATCH_FORGET})

_IN_HEADER = Struct("=IIQQIIIHH")
_OUT_HEADER = Struct("=IiQ")
_INIT_IN = Struct("=IIII")
_INIT_OUT = Struct("=IIIIHHIIHHI28x")
_ATTRIBUTES = Struct("=QQQQQQIIIIIIIIII")
_ENTRY = Struct("=QQQQII")
_ATTRIBUTES_OUT = Struct("=QII")
_OPEN_OUT = Struct("=QII")
_STATFS = Struct("=QQQQQIIII24x")
_WRITE_OUT = Struct("=II")
_DIRENT = Struct("=QQII")
READ_IN = Struct("=QQII")
"""Handle, offset, size and flags, of reads and (before their data) of writes."""
WRITE_IN_BYTES = 40
SETATTR_IN = Struct("=IIQQQQQQIIIIIIII")
CREATE_IN = Struct("=IIII")
MKDIR_IN = Struct("=II")
MKNOD_IN = Struct("=IIII")
RENAME_IN = Struct("=Q")
RENAME2_IN = Struct("=QII")


class Owner(NamedTuple):
    """The user and the group that a file belongs to, by number."""

    uid: int
    gid: int


class Request(NamedTuple):
    """A request of the kernel: kind, number, inode, arguments, and the process that asks.

    Attributes:
        caller: The user and the group of the process, which own what the process makes.
    """

    opcode: int
    unique: int
    inode: int
    body: bytes
    caller: Owner


def decode(data: bytes) -> Request:
    """Return a request; the kernel never writes a partial request."""
    length, opcode, unique, inode, uid, gid, *_ = _IN_HEADER.unpack_from(data)
    return Request(opcode, unique, inode, data[_IN_HEADER.size : length], Owner(uid, gid))


def answer(request: Request, data: bytes = b"") -> bytes:
    """Return the bytes of a success."""
    return _OUT_HEADER.pack(_OUT_HEADER.size + len(data), 0, request.unique) + data


def failure(request: Request, number: int) -> bytes:
    """Return the bytes of an error."""
    return _OUT_HEADER.pack(_OUT_HEADER.size, -number, request.unique)


def names(body: bytes) -> tuple[str, ...]:
    """Return the names in a request; a zero byte ends each name."""
    return tuple(os.fsdecode(name) for name in body.split(b"\0")[:-1])


def init(body: bytes) -> bytes:
    """Return the answer to INIT: writes of up to a megabyte, no writeback cache."""
    _, _, readahead, flags = _INIT_IN.unpack_from(body)
    wanted = flags & (BIG_WRITES | MAX_PAGES)
    return _INIT_OUT.pack(
        MAJOR, MINOR, readahead, wanted, BACKGROUND, CONGESTED, MAX_WRITE, 1, PAGES, 0, 0
    )


def attributes(number: int, found: os.stat_result) -> bytes:
    """Return the attributes of an inode."""
    times = (found.st_atime_ns, found.st_mtime_ns, found.st_ctime_ns)
    return _ATTRIBUTES.pack(
        number,
        found.st_size,
        found.st_blocks,
        *(time // NS_PER_S for time in times),
        *(time % NS_PER_S for time in times),
        found.st_mode,
        found.st_nlink,
        found.st_uid,
        found.st_gid,
        found.st_rdev,
        found.st_blksize,
        0,
    )


def attributes_answer(number: int, found: os.stat_result) -> bytes:
    """Return attributes without a time for the kernel's cache."""
    return _ATTRIBUTES_OUT.pack(0, 0, 0) + attributes(number, found)


def entry(number: int, found: os.stat_result) -> bytes:
    """Return a directory entry without a time for the kernel's cache."""
    return _ENTRY.pack(number, 0, 0, 0, 0, 0) + attributes(number, found)


def opened(number: int) -> bytes:
    """Return the answer to an open; the handle is the inode's number."""
    return _OPEN_OUT.pack(number, 0, 0)


def written(length: int) -> bytes:
    """Return the answer to a write."""
    return _WRITE_OUT.pack(length, 0)


def statistics(found: os.statvfs_result) -> bytes:
    """Return the answer to STATFS."""
    return _STATFS.pack(
        found.f_blocks,
        found.f_bfree,
        found.f_bavail,
        found.f_files,
        found.f_ffree,
        found.f_bsize,
        found.f_namemax,
        found.f_frsize,
        0,
    )


def directory_entries(found: list[tuple[int, str, int]], offset: int, size: int) -> bytes:
    """Return the entries (number, name, mode) from an offset on, as many as fit into `size`."""
    data = bytearray()
    for place in range(offset, len(found)):
        number, name, mode = found[place]
        encoded = os.fsencode(name)
        record = _DIRENT.pack(number, place + 1, len(encoded), S_IFMT(mode) >> 12) + encoded
        record += bytes(-len(record) % 8)
        if len(data) + len(record) > size:
            break
        data += record
    return bytes(data)
