"""Partition logs that note the calls, for the shell's tests."""

from collections.abc import Callable, Generator
from typing import Any

from kraftproof.node.core.base.types import Epoch, Offset
from kraftproof.node.core.effects import Flush
from kraftproof.node.core.events import ProducersRead, TimestampFound
from kraftproof.node.core.log_effects import LogRead
from kraftproof.node.shell.partition_port import PartitionDisk, Steps
from kraftproof.node.wire.errors import WireError


class NotedPartitions(PartitionDisk):
    """Notes the calls; batches to read are set by the test."""

    def __init__(self, note: Callable[[str], None]) -> None:
        self._note = note
        self.stored: dict[int, bytes | None] = {}
        """The bytes of each partition; None for a broken file."""

    def append(self, effect: Any) -> None:
        self._note(f"append {effect.log.partition}")

    def start_flush(self, effect: Flush) -> Callable[[], None]:
        self._note(f"start flush {effect.log.partition}")
        return lambda: self._note(f"fsync {effect.log.partition}")

    def truncate(self, effect: Any) -> None:
        self._note(f"truncate {effect.log.partition}")

    def create(self, effect: Any) -> None:
        self._note(f"create {effect.log.partition}")

    def configure(self, effect: Any) -> None:
        self._note(f"configure {effect.log.partition}")

    def delete(self, effect: Any) -> Steps:
        self._note(f"delete {effect.log.partition}")
        return self._steps("removed")

    def restart(self, effect: Any) -> None:
        self._note(f"restart {effect.log.partition}")

    def raise_start(self, effect: Any) -> None:
        self._note(f"raise start {effect.log.partition}")

    def note_epoch(self, effect: Any) -> None:
        self._note(f"note epoch {effect.log.partition}")

    def read(self, read: LogRead) -> bytes:
        stored = self.stored[read.log.partition]
        if stored is None:
            raise WireError("broken")
        if read.may_exceed or len(stored) <= read.max_bytes:
            return stored
        return b""

    def write_checkpoints(self, effect: Any) -> Steps:
        return self._steps("checkpoints")

    def find_timestamp(self, effect: Any) -> Generator[None, None, TimestampFound]:
        yield
        self._note("look-up")
        return TimestampFound(token=effect.token, offset=Offset(5), timestamp_ms=6, epoch=Epoch(7))

    def read_producers(self, effect: Any) -> Generator[None, None, ProducersRead]:
        yield
        self._note("producers")
        return ProducersRead(
            log=effect.log, generation=effect.generation, end_offset=effect.end_offset, batches=()
        )

    def _steps(self, name: str) -> Steps:
        yield
        self._note(name)
