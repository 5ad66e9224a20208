"""What is wrong with a simulated disk: full, failing, slow, or about to lose its power.

A failing write may have written a part. After an fsync that failed the system may think that all
is on disk, as Linux does: what was to be synced stays readable, no later fsync writes it, and a
loss of power takes it away. Not: what a crash does otherwise (filesystem.py).
"""

import errno
import os
from collections.abc import Callable
from random import Random

from kraftproof.cluster.capabilities import DiskFault

FORGOTTEN_SHARE = 0.5
"""The share of failed fsyncs after which the system believes that nothing is left to write."""


class DiskFaults:
    """The faults of one disk; a disk that is well has none of these."""

    __slots__ = ("_on_death", "_operations_left", "_random", "hits", "faults")

    def __init__(self, random: Random) -> None:
        self._random = random
        self._operations_left: int | None = None
        self._on_death: Callable[[], None] | None = None
        self.faults: list[DiskFault] = []
        self.hits = 0

    @property
    def is_empty(self) -> bool:
        """Whether nothing is wrong."""
        return not self.faults and self._operations_left is None

    def crash_after(self, operations: int, on_death: Callable[[], None]) -> None:
        """Refuse everything from that many changes on: the power is about to go."""
        self._operations_left, self._on_death = operations, on_death

    def revive(self) -> None:
        """The power is back, or has not gone after all."""
        self._operations_left = self._on_death = None

    def recover(self) -> None:
        """Nothing is wrong any more."""
        self.revive()
        self.faults.clear()

    def fails(self) -> bool:
        """Whether operations are refused, so that a process ends by no fault of its own."""
        return self._operations_left is not None or any(t.failure for t in self.faults)

    def change(self, path: str) -> None:
        """Allow one change of a file or directory.

        Raises:
            OSError: the power has gone.
        """
        if self._operations_left is None:
            return
        if self._operations_left > 0:
            self._operations_left -= 1
            return
        self.hits += 1
        if self._on_death is not None:
            self._on_death()
            self._on_death = None
        raise _error(errno.EIO, path)

    def create(self, path: str) -> None:
        """Allow a new name.

        Raises:
            OSError: the disk is full, or dead.
        """
        self.change(path)
        if self._has("full"):
            self.hits += 1
            raise _error(errno.ENOSPC, path)

    def write(self, path: str, data: bytes, write: Callable[[bytes], None]) -> None:
        """Write, or a part of it.

        Raises:
            OSError: the disk is full, failing or dead.
        """
        self.change(path)
        for failure, number in (("full", errno.ENOSPC), ("write", errno.EIO)):
            if self._has(failure):
                self.hits += 1
                write(data[: self._random.randrange(len(data) + 1)])
                raise _error(number, path)
        write(data)

    def fsync(self, path: str, forget: Callable[[], None]) -> None:
        """Allow an fsync of a file; `forget` makes what it was to sync seem to be on disk.

        Raises:
            OSError: it fails, or the disk is dead.
        """
        self.change(path)
        if self._has("fsync"):
            self.hits += 1
            if self._random.random() < FORGOTTEN_SHARE:
                forget()
            raise _error(errno.EIO, path)

    def fsync_directory(self, path: str) -> None:
        """Allow an fsync of a directory.

        Raises:
            OSError: it fails, or the disk is dead.
        """
        self.fsync(path, lambda: None)

    def slowness_ns(self) -> int:
        """Draw how much longer an fsync takes."""
        slow_ns = sum(fault.slow_ns for fault in self.faults)
        if slow_ns == 0:
            return 0
        self.hits += 1
        return int(self._random.random() * slow_ns)

    def _has(self, failure: str) -> bool:
        return any(fault.failure == failure for fault in self.faults)


def _error(number: int, path: str) -> OSError:
    return OSError(number, os.strerror(number), path)
