"""A disk that counts open files, and refuses what a closed descriptor refuses."""

from collections import Counter
from collections.abc import Callable
from random import Random

from typing_extensions import override

from kraftproof.cluster.simulated.differential.difference import check
from kraftproof.cluster.simulated.differential.storage.files import content_of
from kraftproof.cluster.simulated.disk.filesystem import SimulatedFileSystem, SimulatedHandle


class CountedHandle(SimulatedHandle):
    """A file that is open until its only close."""

    __slots__ = ("is_open",)

    def __init__(self, disk: "CountedFileSystem", path: str, file: SimulatedHandle) -> None:
        super().__init__(disk, path, file._file)  # noqa: SLF001 - a handle of the same file
        self.is_open = True
        disk.opened[path] += 1
        disk.peak = max(disk.peak, disk.opened.total())

    @override
    def write(self, data: bytes) -> None:
        self._use("write")
        super().write(data)

    @override
    def start_fsync(self) -> Callable[[], None]:
        self._use("fsync")
        return super().start_fsync()

    @override
    def truncate(self, size: int) -> None:
        self._use("truncate")
        super().truncate(size)

    @override
    def close(self) -> None:
        self._use("close")
        self.is_open = False
        if isinstance(self._disk, CountedFileSystem):
            self._disk.opened[self._path] -= 1

    def _use(self, what: str) -> None:
        check(f"no {what} after the close of {self._path}", self.is_open)


class CountedFileSystem(SimulatedFileSystem):
    """The disk of a machine, with the files that its process has open for appends."""

    __slots__ = ("directory_fsyncs", "opened", "peak", "replaced")

    def __init__(self) -> None:
        super().__init__()
        self.opened: Counter[str] = Counter()
        self.peak = 0
        """Maximum number of files that were open at a time."""
        self.directory_fsyncs: Counter[str] = Counter()
        """Number of fsyncs of each directory."""
        self.replaced: set[str] = set()
        """The files that were replaced by another."""

    @property
    def open_paths(self) -> list[str]:
        """Return the path of each open file."""
        return sorted(self.opened.elements())

    @override
    def append_to(self, path: str) -> CountedHandle:
        return CountedHandle(self, path, super().append_to(path))

    @override
    def replace(self, source: str, target: str) -> None:
        super().replace(source, target)
        self.replaced.add(target)

    @override
    def fsync_directory(self, path: str) -> None:
        super().fsync_directory(path)
        self.directory_fsyncs[path] += 1

    @override
    def crash(self, random: Random) -> int:
        self.opened.clear()
        return super().crash(random)

    def kill(self, directory: str) -> None:
        """End the process after a failed fsync of the segments below a directory.

        The system treats the pages of a failed fsync as written, so a later fsync of the same file
        does nothing.
        """
        self.opened.clear()
        for path in content_of(self, directory):
            if path.endswith(".log"):
                self._file(path).forget()

    def judge(self, directory: str, most: int) -> None:
        """Compare the open files below a directory with the largest number; each file exists.

        Raises:
            DifferenceError: too many files are open, or a removed file is.
        """
        paths = [path for path in self.open_paths if path.startswith(f"{directory}/")]
        check(f"{len(paths)} open files of at most {most} below {directory}", len(paths) <= most)
        gone = [path for path in paths if not self.exists(path)]
        check(f"no removed file is open: {gone}", not gone)
