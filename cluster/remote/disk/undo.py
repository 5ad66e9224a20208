"""The changes of a file since the last fsync, and their loss.

Each change keeps the replaced bytes for the undo. A power loss undoes a drawn suffix of the changes
of each file; the first lost write may be torn at any byte, and a file may keep the length with
zeros in place of the lost bytes. cluster/power_loss.py has the shares, as for the simulated disk.
"""

import os
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from kraftproof.cluster.power_loss import LOSE_ALL, TEAR, ZEROS


@dataclass(frozen=True, slots=True)
class Change:
    """A write or a truncation.

    Attributes:
        offset: The first byte that changed.
        data: The bytes written; empty for a truncation.
        before: The bytes from `offset` on before the change, replaced or cut off.
        size: The size of the file before the change.
        time_ns: The time of the change on the monotonic clock.
    """

    offset: int
    data: bytes
    before: bytes
    size: int
    time_ns: int


class Range(NamedTuple):
    """Bytes of a file with their offset and the time of their write."""

    offset: int
    data: bytes
    time_ns: int


class UnsyncedChanges:
    """The changes of one file since its last fsync, in order."""

    __slots__ = ("_changes", "_first", "_forgotten")

    def __init__(self) -> None:
        self._changes: list[Change] = []
        self._first = 0
        """The number of the first change in the list."""
        self._forgotten: int | None = None
        """First change that no fsync will write: a failed fsync marked the change as clean."""

    def __bool__(self) -> bool:
        return bool(self._changes)

    @property
    def changes(self) -> tuple[Change, ...]:
        """The changes within reach of a power loss."""
        return tuple(self._changes)

    def write(self, descriptor: int, offset: int, data: bytes, time_ns: int) -> None:
        """Write data to the file, and remember the replaced bytes."""
        size = os.fstat(descriptor).st_size
        before = os.pread(descriptor, min(len(data), max(0, size - offset)), offset)
        self._changes.append(Change(offset, data, before, size, time_ns))
        _write_whole(descriptor, offset, data)

    def truncate(self, descriptor: int, new_size: int, time_ns: int) -> None:
        """Set the size of the file, and remember the bytes cut off."""
        size = os.fstat(descriptor).st_size
        before = os.pread(descriptor, max(0, size - new_size), new_size)
        if self._forgotten is not None and new_size <= self._synced_size():
            self._forgotten = None
        self._changes.append(Change(new_size, b"", before, size, time_ns))
        os.ftruncate(descriptor, new_size)

    def _synced_size(self) -> int:
        return self._changes[0].size if self._changes else 0

    def reached(self, until_ns: int | None = None) -> int:
        """Return the number of changes up to a time, the reach of an fsync that starts then."""
        if until_ns is None:
            return self._first + len(self._changes)
        return self._first + sum(change.time_ns <= until_ns for change in self._changes)

    def sync(self, reached: int) -> list[Range]:
        """Make the first `reached` changes durable; return the newly durable ranges."""
        if self._forgotten is not None:
            reached = min(reached, self._forgotten)
        done = max(reached - self._first, 0)
        durable = self._changes[:done]
        del self._changes[:done]
        self._first += len(durable)
        return [Range(one.offset, one.data, one.time_ns) for one in durable]

    def forget(self) -> None:
        """Mark the unsynced changes as clean, out of reach of every later fsync."""
        if self._changes and self._forgotten is None:
            self._forgotten = self._first

    def lose(self, descriptor: int, random: Random) -> list[Range]:
        """Undo a drawn suffix of the changes in the file; return the lost ranges."""
        self._forgotten = None
        if not self._changes:
            return []
        loses_all = random.random() < LOSE_ALL
        kept = 0 if loses_all else random.randrange(len(self._changes) + 1)
        grown = os.fstat(descriptor).st_size
        lost: list[Range] = []
        while len(self._changes) > kept:
            change = self._changes.pop()
            gone = change.data
            undo(descriptor, change)
            is_torn = len(self._changes) == kept and not loses_all and random.random() < TEAR
            if is_torn and gone:
                survives = random.randrange(len(gone))
                _write_whole(descriptor, change.offset, gone[:survives])
                lost.append(Range(change.offset + survives, gone[survives:], change.time_ns))
            elif gone:
                lost.append(Range(change.offset, gone, change.time_ns))
        size = os.fstat(descriptor).st_size
        if lost and grown > size and random.random() < ZEROS:
            os.ftruncate(descriptor, random.randint(size + 1, grown))
        self._first += len(self._changes)
        self._changes.clear()
        return lost[::-1]


def undo(descriptor: int, change: Change) -> None:
    """Restore the size and the bytes of a file before its last change."""
    _write_whole(descriptor, change.offset, change.before)
    os.ftruncate(descriptor, change.size)


def _write_whole(descriptor: int, offset: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        done = os.pwrite(descriptor, left, offset)
        left, offset = left[done:], offset + done
