"""The shell's Disk in the simulator: the real storage, a mirror of the log, and the invariants.

The monitor hears of each effect just before or after it, as its hook says. See
node/shell/effect_executor.py for the order of the calls.
"""

import contextlib
from collections.abc import Callable, Generator

from typing_extensions import override

from kraftproof.cluster.simulated.invariants.invariant import ProcessView
from kraftproof.cluster.simulated.node.environment import NodeEnvironment
from kraftproof.cluster.simulated.node.partition_disk_port import SimulatedPartitionDisk
from kraftproof.cluster.simulated.node.port_contract import PortContract
from kraftproof.node.core.base.snapshot_ids import StoredSnapshot
from kraftproof.node.core.effects import (
    Append,
    CheckSnapshot,
    CleanLog,
    Effect,
    Flush,
    InstallSnapshot,
    PersistQuorumState,
    ReplyWithSlice,
    StoreSlice,
    Truncate,
    WriteSnapshot,
)
from kraftproof.node.core.events import SnapshotChecked
from kraftproof.node.core.metadata.snapshot import LoadedSnapshot
from kraftproof.node.shell.ports import Disk
from kraftproof.node.storage.stored import Storage
from kraftproof.node.wire.messages.generated.fetch_snapshot_response import FetchSnapshotResponse
from kraftproof.node.wire.records.batch import Batch


class SimulatedDisk(Disk):
    """One process's storage on its machine's disk."""

    def __init__(
        self, process: ProcessView, env: NodeEnvironment, storage: Storage, contract: PortContract
    ) -> None:
        self._process = process
        self._contract = contract
        self._env = env
        self._monitor = env.monitor
        self._storage = storage
        self._partitions = SimulatedPartitionDisk(process, env, storage.partitions)
        self._checked: LoadedSnapshot | None = None

    def stop_partitions(self, broker_epoch: int) -> None:
        """Flush the partition logs, and note the orderly stop; a failure has no consequence."""
        with contextlib.suppress(OSError):
            self._storage.partitions.stop(broker_epoch)
            self._env.partitions.all_flushed()

    def close(self) -> None:
        """Let go of all files."""
        self._storage.close()

    @property
    @override
    def partitions(self) -> SimulatedPartitionDisk:
        return self._partitions

    def _begin_work(self, effect: Effect) -> None:
        if self._env.on_disk_work is not None:
            self._env.on_disk_work(type(effect))

    @override
    def append(self, effect: Append) -> None:
        env, batch = self._env, effect.batch
        assert isinstance(batch, Batch), "the metadata log holds decoded batches"
        if env.on_disk_work is not None:
            env.on_disk_work(Append)
        self._storage.append(effect)
        env.log.append(batch)
        env.on_next_write()
        for appended in self._monitor.on_appended:
            appended(self._process, batch)

    @override
    def truncate(self, effect: Truncate) -> None:
        self._begin_work(effect)
        self._contract.files_change(effect)
        for truncated in self._monitor.on_truncated:
            truncated(self._process, effect.end_offset)
        self._env.log.truncate(effect.end_offset)  # it may fail half-way: no word is given
        self._storage.truncate(effect)
        self._contract.barrier_begins(effect)

    @override
    def persist_quorum_state(self, effect: PersistQuorumState) -> None:
        self._env.attempted = effect.state
        self._storage.persist_quorum_state(effect)
        self._env.attempted = None
        self._contract.barrier_begins(effect)
        self._env.on_next_write()
        for persisted in self._monitor.on_persisted:
            persisted(self._process, effect.state)

    @override
    def start_flush(self, effect: Flush) -> Callable[[], None]:
        fsync = self._storage.start_flush(effect)
        log, end_offset = self._env.log, self._env.log.end_offset
        contract = self._contract
        contract.fsync_begins()

        def flush() -> None:
            contract.fsync_ends()
            fsync()
            log.durable_end = max(log.durable_end, end_offset)

        return flush

    @override
    def write_snapshot(self, effect: WriteSnapshot) -> Generator[None, None, StoredSnapshot]:
        self._begin_work(effect)
        for snapshotted in self._monitor.on_snapshot_begun:
            snapshotted(self._process, effect.snapshot, effect.image)
        return self._write_snapshot(effect)

    def _write_snapshot(self, effect: WriteSnapshot) -> Generator[None, None, StoredSnapshot]:
        stored = yield from self._storage.write_snapshot(effect)
        for completed in self._monitor.on_snapshot_completed:
            completed(self._process, stored, lambda: self._read_whole(stored))
        return stored

    def _read_whole(self, stored: StoredSnapshot) -> bytes:
        """Return the file as whoever fetches the snapshot would be sent it."""
        return self._storage.read_slice(
            ReplyWithSlice(
                request=0,
                message=FetchSnapshotResponse(),
                snapshot=stored.snapshot,
                position=0,
                max_bytes=stored.size,
            )
        )

    @override
    def store_slice(self, effect: StoreSlice) -> None:
        self._begin_work(effect)
        self._storage.store_slice(effect)
        self._env.on_next_write()

    @override
    def check_snapshot(self, effect: CheckSnapshot) -> Generator[None, None, SnapshotChecked]:
        self._begin_work(effect)
        checked = yield from self._storage.check_snapshot(effect)
        self._checked = checked.loaded
        return checked

    @override
    def install_snapshot(self, effect: InstallSnapshot) -> None:
        self._begin_work(effect)
        loaded = self._checked
        assert loaded is not None, "what is installed has been checked"
        self._contract.files_change(effect)
        self._storage.install_snapshot(effect)
        self._contract.barrier_begins(effect)
        self._env.log.reset(effect.snapshot)
        self._env.log.snapshots = self._storage.snapshots
        for reported in self._monitor.on_snapshot_loaded:
            reported(self._process, effect.snapshot, loaded.image)

    @override
    def clean(self, effect: CleanLog) -> None:
        self._contract.files_change(effect)
        self._storage.clean(effect)
        self._env.log.clean(effect.start)
        self._env.log.snapshots = self._storage.snapshots
        for cleaned in self._monitor.on_log_cleaned:
            cleaned(self._process)

    @override
    def read_slice(self, effect: ReplyWithSlice) -> bytes:
        self._begin_work(effect)
        return self._storage.read_slice(effect)
