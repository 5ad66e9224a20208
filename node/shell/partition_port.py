"""The port of the shell to the logs of partitions; see ports.py for the other ports."""

from collections.abc import Callable, Generator
from typing import Protocol

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

Steps = Generator[None, None, None]


class PartitionDisk(Protocol):
    """The partition logs of a node. Each call may raise an OSError, which ends the process.

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

    def write_checkpoints(self, effect: WriteCheckpoints) -> Steps:
        """Return the steps that write the checkpoint files."""
        ...

    def find_timestamp(self, effect: FindTimestamp) -> Generator[None, None, TimestampFound]:
        """Return the steps of a look-up."""
        ...

    def read_producers(self, effect: ReadProducers) -> Generator[None, None, ProducersRead]:
        """Return the steps that read the last batches of each producer."""
        ...
