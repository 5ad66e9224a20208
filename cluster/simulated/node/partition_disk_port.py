"""The shell's PartitionDisk in the simulator: the real logs, their mirrors, and the invariants.

See disk_port.py for the metadata log. Invariants hear of each effect after the effect.
"""

from collections.abc import Callable, Generator, Sequence

from typing_extensions import override

from kraftproof.cluster.simulated.invariants.invariant import ProcessView
from kraftproof.cluster.simulated.node.environment import NodeEnvironment
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.effects import Append, Effect, Flush, Truncate
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
from kraftproof.node.shell.partition_port import PartitionDisk, Steps
from kraftproof.node.storage.partitions.partition_logs import PartitionLogs
from kraftproof.node.wire.records.raw_batch import RawBatch
from kraftproof.node.wire.types import Uuid


class SimulatedPartitionDisk(PartitionDisk):
    """The partition logs of one process on its machine's disk."""

    def __init__(self, process: ProcessView, env: NodeEnvironment, logs: PartitionLogs) -> None:
        self._process = process
        self._env = env
        self._mirrors = env.partitions
        self._logs = logs

    def _begin_work(self, effect: Effect) -> None:
        if self._env.on_disk_work is not None:
            self._env.on_disk_work(type(effect))

    def _done(self, log: LogId, effect: Effect) -> None:
        self._env.on_next_write()
        for changed in self._env.monitor.on_partition_changed:
            changed(self._process, log, effect)

    @override
    def append(self, effect: Append) -> None:
        self._begin_work(effect)
        assert isinstance(effect.batch, RawBatch), "partitions keep the received bytes"
        mirror = self._mirrors.of(effect.log)
        mirror.attempted = effect.batch  # a full disk may take the whole batch and then fail
        self._logs.append(effect)
        mirror.append(effect.batch)
        self._done(effect.log, effect)

    @override
    def start_flush(self, effect: Flush) -> Callable[[], None]:
        fsync = self._logs.start_flush(effect)
        mirrors, mirror = self._mirrors, self._mirrors.of(effect.log)
        generation, end_offset = mirror.generation, mirror.end_offset

        def flush() -> None:
            fsync()
            mirrors.flushed(effect.log, generation, end_offset)

        return flush

    @override
    def truncate(self, effect: Truncate) -> None:
        self._begin_work(effect)
        self._mirrors.of(effect.log).truncate(effect.end_offset)  # it may fail half-way
        self._logs.truncate(effect)
        self._done(effect.log, effect)

    @override
    def create(self, effect: CreateLog) -> None:
        self._begin_work(effect)
        self._logs.create(effect)
        directory = self._logs.directory_of(effect.log)
        assert directory is not None, "a log is created in a working directory"
        self._mirrors.create(effect.log, effect.topic, directory)
        self._done(effect.log, effect)

    @override
    def configure(self, effect: ConfigureLog) -> None:
        self._logs.configure(effect)

    @override
    def delete(self, effect: DeleteLog) -> Steps:
        self._begin_work(effect)
        self._mirrors.delete(effect.log)
        steps = self._logs.delete(effect)
        self._done(effect.log, effect)
        return steps

    @override
    def restart(self, effect: RestartLog) -> None:
        self._begin_work(effect)
        self._mirrors.of(effect.log).restart(effect.start_offset)
        self._logs.restart(effect)
        self._done(effect.log, effect)

    @override
    def raise_start(self, effect: RaiseLogStart) -> None:
        self._begin_work(effect)
        self._logs.raise_start(effect)
        self._mirrors.of(effect.log).raise_start(effect.start_offset)
        self._done(effect.log, effect)

    @override
    def note_epoch(self, effect: NoteEpoch) -> None:
        self._begin_work(effect)
        self._logs.note_epoch(effect)
        self._done(effect.log, effect)

    @override
    def read(self, read: LogRead) -> bytes:
        return self._logs.read(read)

    @override
    def write_checkpoints(
        self, effect: WriteCheckpoints
    ) -> Sequence[tuple[Uuid, Callable[[], Steps]]]:
        return self._logs.write_checkpoints(effect)

    @override
    def directory_of(self, log: LogId) -> Uuid | None:
        return self._logs.directory_of(log)

    @override
    def is_vital(self, directory: Uuid) -> bool:
        return self._logs.is_vital(directory)

    @override
    def fail(self, directory: Uuid) -> Sequence[tuple[LogId, str]]:
        self._mirrors.fail(directory)
        return self._logs.fail(directory)

    @override
    def volume(self, path: str) -> tuple[int, int]:
        return self._logs.volume(path)

    @override
    def find_timestamp(self, effect: FindTimestamp) -> Generator[None, None, TimestampFound]:
        return self._logs.find_timestamp(effect)

    @override
    def read_producers(self, effect: ReadProducers) -> Generator[None, None, ProducersRead]:
        return self._logs.read_producers(effect)
