"""Faults of a disk, simulated or live: full, failing, slow, or about to lose power.

A failed write may leave a part of its data. After a failed fsync the kernel may mark the pages as
clean, as Linux does: the data stays readable, no later fsync writes it, and a loss of power
loses it. See power_loss.py for the effects of a crash.
"""

import errno
import os
from collections.abc import Callable
from random import Random

from kraftproof.cluster.capabilities import DiskFault

FORGOTTEN_SHARE = 0.5
"""Share of failed fsyncs after which the kernel marks the unsynced pages as clean."""


class DiskFaults:
    """The present faults of one disk."""

    __slots__ = ("_on_death", "_operations_left", "_random", "faults", "hits")

    def __init__(self, random: Random) -> None:
        self._random = random
        self._operations_left: int | None = None
        self._on_death: Callable[[], None] | None = None
        self.faults: list[DiskFault] = []
        self.hits = 0

    @property
    def is_empty(self) -> bool:
        """Return whether the disk has no faults."""
        return not self.faults and self._operations_left is None

    def crash_after(self, operations: int, on_death: Callable[[], None]) -> None:
        """Allow a number of changes, then refuse every change: the machine is losing power."""
        self._operations_left, self._on_death = operations, on_death

    def revive(self) -> None:
        """Cancel `crash_after`: the machine has power."""
        self._operations_left = self._on_death = None

    def recover(self) -> None:
        """Remove every fault."""
        self.revive()
        self.faults.clear()

    def fails(self) -> bool:
        """Return whether operations fail, so that a process may end without a bug of its own."""
        return self._operations_left is not None or any(t.failure for t in self.faults)

    def change(self, path: str) -> None:
        """Allow one change of a file or directory.

        Raises:
            OSError: the machine has lost its power.
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
            OSError: the disk is full or without power.
        """
        self.change(path)
        if self._has("full"):
            self.hits += 1
            raise _error(errno.ENOSPC, path)

    def write(self, path: str, data: bytes, write: Callable[[bytes], None]) -> None:
        """Write data, or a part of the data if the write fails.

        Raises:
            OSError: the disk is full, failing or without power.
        """
        self.change(path)
        for failure, number in (("full", errno.ENOSPC), ("write", errno.EIO)):
            if self._has(failure):
                self.hits += 1
                write(data[: self._random.randrange(len(data) + 1)])
                raise _error(number, path)
        write(data)

    def fsync(self, path: str, forget: Callable[[], None]) -> None:
        """Allow an fsync of a file; `forget` marks the unsynced data as clean.

        Raises:
            OSError: the fsync fails, or the disk is without power.
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
            OSError: the fsync fails, or the disk is without power.
        """
        self.fsync(path, lambda: None)

    def slowness_ns(self) -> int:
        """Draw the extra time of an fsync, in nanoseconds."""
        slow_ns = sum(fault.slow_ns for fault in self.faults)
        if slow_ns == 0:
            return 0
        self.hits += 1
        return int(self._random.random() * slow_ns)

    def _has(self, failure: str) -> bool:
        return any(fault.failure == failure for fault in self.faults)


def _error(number: int, path: str) -> OSError:
    return OSError(number, os.strerror(number), path)
