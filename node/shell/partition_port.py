"""The port of the shell to the logs of partitions; see ports.py for the other ports."""

from collections.abc import Callable, Generator, Sequence
from typing import Protocol

from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.effects import Append, Flush, Truncate
from kraftproof.node.core.events import ProducersRead, TimestampFound
from kraftproof.node.core.log_effects import (
    ConfigureLog,
    CreateLog,
    DeleteLog,
    FindTimestamp,
    LogRead,
    NoteEpoch,
    RaiseLogStart,
    ReadProducers,
    RestartLog,
    WriteCheckpoints,
)
from kraftproof.node.wire.types import Uuid

Steps = Generator[None, None, None]


class PartitionDisk(Protocol):
    """The partition logs of a node. Each call may raise an OSError, and then `fail` follows.

    The calls that return steps take what they need at once; a worker takes the steps.
    """

    def append(self, effect: Append) -> None:
        """Write one batch; buffered only."""
        ...

    def start_flush(self, effect: Flush) -> Callable[[], None]:
        """Return an fsync that covers every append to the log before this call.

        The log may be truncated or deleted before the fsync returns.
        """
        ...

    def truncate(self, effect: Truncate) -> None:
        """Drop the end of a log, durably."""
        ...

    def create(self, effect: CreateLog) -> None:
        """Make an empty log."""
        ...

    def configure(self, effect: ConfigureLog) -> None:
        """Set the size of a log's segments."""
        ...

    def delete(self, effect: DeleteLog) -> Steps:
        """End a log, and return the steps that remove its files."""
        ...

    def restart(self, effect: RestartLog) -> None:
        """Drop all records of a log, durably."""
        ...

    def raise_start(self, effect: RaiseLogStart) -> None:
        """Raise the start of a log, durably."""
        ...

    def note_epoch(self, effect: NoteEpoch) -> None:
        """Enter a leader's epoch."""
        ...

    def read(self, read: LogRead) -> bytes:
        """Return whole batches.

        Raises:
            WireError: a file no longer holds what was written.
        """
        ...

    def write_checkpoints(
        self, effect: WriteCheckpoints
    ) -> Sequence[tuple[Uuid, Callable[[], Steps]]]:
        """Return a function for each log directory that begins to write its checkpoint files."""
        ...

    def directory_of(self, log: LogId) -> Uuid | None:
        """Return the id of the directory of a log; None without a working directory."""
        ...

    def is_vital(self, directory: Uuid) -> bool:
        """Return whether the node can't go on without the directory of the metadata log."""
        ...

    def fail(self, directory: Uuid) -> Sequence[tuple[LogId, str]]:
        """Let go of a failed directory; return its logs with the names of their topics."""
        ...

    def volume(self, path: str) -> tuple[int, int]:
        """Return the total and the usable bytes of the volume with a directory."""
        ...

    def find_timestamp(self, effect: FindTimestamp) -> Generator[None, None, TimestampFound]:
        """Return the steps of a look-up."""
        ...

    def read_producers(self, effect: ReadProducers) -> Generator[None, None, ProducersRead]:
        """Return the steps that read the last batches of each producer."""
        ...
