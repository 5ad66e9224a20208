"""A disk whose process ends between two of its steps."""

from typing_extensions import override

from kraftproof.cluster.simulated.differential.storage.open_files import (
    CountedFileSystem,
    CountedHandle,
)
from kraftproof.cluster.simulated.disk.filesystem import SimulatedFileSystem


class InterruptionError(BaseException):
    """The process has ended; the node's code cannot handle this."""


class InterruptedFileSystem(CountedFileSystem):
    """A disk that can end its process before any change."""

    __slots__ = ("left",)

    def __init__(self) -> None:
        super().__init__()
        self.left: int | None = None
        """Number of changes until the process ends; None for a process without an end."""

    def take_step(self) -> None:
        """Count a change of the disk.

        Raises:
            InterruptionError: the process ends before this change.
        """
        if self.left is not None:
            if not self.left:
                raise InterruptionError
            self.left -= 1

    @override
    def append_to(self, path: str) -> CountedHandle:
        self.take_step()
        return _InterruptedHandle(self, path, SimulatedFileSystem.append_to(self, path))

    @override
    def replace(self, source: str, target: str) -> None:
        self.take_step()
        super().replace(source, target)

    @override
    def remove(self, path: str) -> None:
        self.take_step()
        super().remove(path)

    @override
    def fsync_directory(self, path: str) -> None:
        self.take_step()
        super().fsync_directory(path)


class _InterruptedHandle(CountedHandle):
    __slots__ = ()

    @override
    def _use(self, what: str) -> None:
        if isinstance(self._disk, InterruptedFileSystem) and what != "close":
            self._disk.take_step()
        super()._use(what)
