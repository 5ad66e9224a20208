"""Workers that take one step at a time, in a drawn order, and a disk with a failing directory."""

import errno
import os
from collections.abc import Callable, Generator
from random import Random
from typing import Final, TypeVar

from typing_extensions import override

from kraftproof.cluster.disk_faults import DiskFaults
from kraftproof.cluster.simulated.disk.filesystem import SimulatedFileSystem
from kraftproof.node.shell.ports import Failed, Workers
from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.types import Uuid

T = TypeVar("T")
HOMES: Final = {f"/d{number}": Uuid(bytes([number]) * 16) for number in (1, 2, 3)}
"""The log directories, with their ids."""


class FailingDisk(SimulatedFileSystem):
    """The disks of the log directories, of which one may fail."""

    __slots__ = ("hits",)

    def __init__(self) -> None:
        super().__init__()
        self.hits = 0
        """Number of uses of a failed directory."""

    @override
    def refuse_failed(self, path: str) -> None:
        try:
            super().refuse_failed(path)
        except OSError:
            self.hits += 1
            raise


class DirectoryFaults(DiskFaults):
    """A directory whose disk fails for good after a number of changes."""

    __slots__ = ("_directory", "_disk", "_left")

    def __init__(self, disk: FailingDisk, directory: str, changes: int) -> None:
        super().__init__(Random(0))
        self._disk, self._directory, self._left = disk, directory, changes

    @override
    def change(self, path: str) -> None:
        """Allow a change of a file.

        Raises:
            OSError: the file is in the failing directory, which has no change left.
        """
        if not path.startswith(self._directory):
            return
        if self._left > 0:
            self._left -= 1
            return
        self._disk.hits += 1
        self._disk.failed_directories = {self._directory}
        raise OSError(errno.EIO, os.strerror(errno.EIO), path)


class DrawnWorkers(Workers):
    """The work under way, of which each step takes the next part of one."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._works: list[Generator[None, None, None]] = []

    @property
    def is_busy(self) -> bool:
        """Return whether work is under way."""
        return bool(self._works)

    def step(self) -> None:
        """Take a step of one work."""
        work = self._random.choice(self._works)
        try:
            next(work)
        except StopIteration:
            self._works.remove(work)

    @override
    def fsync(self, fsync: Callable[[], None], done: Callable[[], None], failed: Failed) -> None:
        def work() -> Generator[None, None, None]:
            yield
            fsync()

        self.background(work(), lambda _: done(), failed)

    @override
    def background(
        self, steps: Generator[None, None, T], done: Callable[[T], None], failed: Failed
    ) -> None:
        def work() -> Generator[None, None, None]:
            try:
                result = yield from steps
            except OSError as error:
                failed(error)
            else:
                done(result)

        self._works.append(work())

    @override
    def run(
        self, steps: Generator[None, None, T], done: Callable[[T], None], failed: Failed
    ) -> None:
        self.background(steps, done, failed)

    @override
    def encode(self, batch: Batch, done: Callable[[bytes], None], failed: Failed) -> None:
        raise AssertionError("partitions have no batch to encode")

    @override
    def barrier(self, done: Callable[[], None]) -> None:
        done()
