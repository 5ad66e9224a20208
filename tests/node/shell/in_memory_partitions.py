"""Partition logs that note the calls, for the shell's tests."""

from collections.abc import Callable, Generator, Sequence
from typing import Any

from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import Epoch, Offset
from kraftproof.node.core.effects import Flush
from kraftproof.node.core.events import ProducersRead, TimestampFound
from kraftproof.node.core.log_effects import LogRead
from kraftproof.node.shell.partition_port import PartitionDisk, Steps
from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.types import Uuid

HOME = Uuid(b"first directory ")
OTHER_HOME = Uuid(b"other directory ")
METADATA_HOME = Uuid(b"metadata's place")
FIRST_OF_OTHER = 10
"""The partitions from this number on are in OTHER_HOME."""
FIRST_OF_METADATA = 20


def home_of(partition: int) -> Uuid:
    if partition >= FIRST_OF_METADATA:
        return METADATA_HOME
    return HOME if partition < FIRST_OF_OTHER else OTHER_HOME


class NotedPartitions(PartitionDisk):
    """Notes the calls; batches to read are set by the test."""

    def __init__(self, note: Callable[[str], None]) -> None:
        self._note_done = note
        self.stored: dict[int, bytes | None] = {}
        """The bytes of each partition; None for a broken file."""
        self.failing: set[Uuid] = set()
        """The directories whose calls fail."""
        self.gone: set[Uuid] = set()
        self.deleted: set[LogId] = set()
        self.known: list[LogId] = []
        """The logs of which `fail` tells."""

    def _note(self, what: str, log: LogId | None = None) -> None:
        if log is not None and home_of(log.partition) in self.failing:
            raise OSError(5, "Input/output error", f"/d/{log.partition}")
        self._note_done(what)

    def append(self, effect: Any) -> None:
        self._note(f"append {effect.log.partition}", effect.log)

    def start_flush(self, effect: Flush) -> Callable[[], None]:
        self._note(f"start flush {effect.log.partition}", effect.log)
        return lambda: self._note(f"fsync {effect.log.partition}", effect.log)

    def truncate(self, effect: Any) -> None:
        self._note(f"truncate {effect.log.partition}", effect.log)

    def create(self, effect: Any) -> None:
        self._note(f"create {effect.log.partition}", effect.log)

    def configure(self, effect: Any) -> None:
        self._note(f"configure {effect.log.partition}", effect.log)

    def delete(self, effect: Any) -> Steps:
        self.deleted.add(effect.log)  # as the real logs do, before the call may fail
        self._note(f"delete {effect.log.partition}", effect.log)
        return self._steps("removed")

    def restart(self, effect: Any) -> None:
        self._note(f"restart {effect.log.partition}", effect.log)

    def raise_start(self, effect: Any) -> None:
        self._note(f"raise start {effect.log.partition}", effect.log)

    def note_epoch(self, effect: Any) -> None:
        self._note(f"note epoch {effect.log.partition}", effect.log)

    def read(self, read: LogRead) -> bytes:
        if home_of(read.log.partition) in self.failing:
            raise OSError(5, "Input/output error", f"/d/{read.log.partition}")
        stored = self.stored[read.log.partition]
        if stored is None:
            raise WireError("broken")
        if read.may_exceed or len(stored) <= read.max_bytes:
            return stored
        return b""

    def write_checkpoints(self, effect: Any) -> Sequence[tuple[Uuid, Callable[[], Steps]]]:
        return [(HOME, lambda: self._steps("checkpoints"))]

    def find_timestamp(self, effect: Any) -> Generator[None, None, TimestampFound]:
        yield
        self._note("look-up", effect.log)
        return TimestampFound(token=effect.token, offset=Offset(5), timestamp_ms=6, epoch=Epoch(7))

    def read_producers(self, effect: Any) -> Generator[None, None, ProducersRead]:
        yield
        self._note("producers")
        return ProducersRead(
            log=effect.log, generation=effect.generation, end_offset=effect.end_offset, batches=()
        )

    def directory_of(self, log: LogId) -> Uuid | None:
        home = home_of(log.partition)
        return None if home in self.gone or log in self.deleted else home

    def is_vital(self, directory: Uuid) -> bool:
        return directory == METADATA_HOME

    def fail(self, directory: Uuid) -> Sequence[tuple[LogId, str]]:
        self._note("fail")
        self.gone.add(directory)
        return [(log, "t") for log in self.known if home_of(log.partition) == directory]

    def volume(self, path: str) -> tuple[int, int]:
        if path == "/gone":
            raise FileNotFoundError(2, "No such file or directory", path)
        return 100, 50

    def _steps(self, name: str) -> Steps:
        yield
        self._note(name)
