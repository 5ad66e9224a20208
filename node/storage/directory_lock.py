"""Lock log directories by `.lock`, as Kafka: at most one process uses a directory.

A process holds the lock until its end.
"""

from collections.abc import Callable, Sequence

from kraftproof.node.storage.errors import StorageError
from kraftproof.node.storage.filesystem import FileSystem, LockHeldError, join

FILE_NAME = ".lock"


def lock_directories(filesystem: FileSystem, directories: Sequence[str]) -> Callable[[], None]:
    """Lock every directory or none; return a function that releases the locks.

    Raises:
        StorageError: another process uses a directory.
    """
    releases: list[Callable[[], None]] = []

    def release() -> None:
        for unlock in releases:
            unlock()

    for directory in directories:
        try:
            releases.append(filesystem.lock(join(directory, FILE_NAME)))
        except LockHeldError as error:
            release()
            holder = "another process" if error.pid is None else f"process {error.pid}"
            raise StorageError(
                f"{directory}: is in use by {holder}, which holds {FILE_NAME} there; stop that"
                " process, or give each node a directory of its own"
            ) from error
    return release
