"""One simulated machine: a disk, two clocks, and the processes (process.py) of one node."""

from collections.abc import Callable, Sequence
from pathlib import Path
from random import Random

from msgspec.structs import replace

from kraftproof.cluster.disk_faults import DiskFaults
from kraftproof.cluster.protocol import NodeInfo
from kraftproof.cluster.simulated.disk.bit_rot import draw_bit_rot
from kraftproof.cluster.simulated.disk.damaged_file import DamagedFile, start_on_copy
from kraftproof.cluster.simulated.disk.directory_files import directory_files
from kraftproof.cluster.simulated.disk.filesystem import SimulatedFileSystem
from kraftproof.cluster.simulated.disk.host_files import write_tree
from kraftproof.cluster.simulated.disk.log_directories import DATA, LogDirectories
from kraftproof.cluster.simulated.disk.log_mirror import LogMirror
from kraftproof.cluster.simulated.disk.partition_mirrors import PartitionMirrors
from kraftproof.cluster.simulated.inherited.inherited_log import write_inherited_log
from kraftproof.cluster.simulated.kernel.randomness import ForcedTies, NodeRandom
from kraftproof.cluster.simulated.node.environment import NodeEnvironment
from kraftproof.cluster.simulated.node.process import NodeProcess
from kraftproof.node.core.base.config import NodeConfig
from kraftproof.node.core.base.types import NodeId
from kraftproof.node.core.metadata.committed import Apply
from kraftproof.node.core.node import Node
from kraftproof.node.server.trace import TraceWriter
from kraftproof.node.storage.batch_codec import BatchCodec
from kraftproof.node.storage.errors import StorageError
from kraftproof.node.storage.filesystem import join
from kraftproof.node.storage.meta_properties import MetaProperties
from kraftproof.node.storage.stored import StorageConfig, Stored, log_directory, open_node_storage
from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.types import Uuid, format_uuid

TRACE = "/trace.jsonl"
DAMAGED_COPIES = 15
"""Number of damaged copies of a disk that a bit-rot fault opens, in addition to the disk."""


class Machine:
    """A node across its starts."""

    def __init__(
        self,
        info: NodeInfo,
        config: NodeConfig,
        env: NodeEnvironment,
        *,
        seed: str,
        ties: ForcedTies,
        segment_bytes: int,
        is_traced: bool,
        apply: Apply,
        codec: BatchCodec,
        inherited: Sequence[Batch] = (),
        has_own_disks: bool = False,
    ) -> None:
        self.info = info
        self.env = env
        self.disk = SimulatedFileSystem()
        meta = MetaProperties(cluster_id=config.cluster_id, node_id=NodeId(info.node_id))
        self.directories = LogDirectories(meta, has_own_disks=has_own_disks)
        self.disk_faults = DiskFaults(Random(f"{seed}/disk-{info.node_id}"))
        self.process: NodeProcess | None = None
        self.restart_count = 0
        self.damaged_file: DamagedFile | None = None
        self._config = config
        self._seed = seed
        self._ties = ties
        self._is_traced = is_traced
        self._apply = apply
        self._codec = codec
        self._observations = SimulatedFileSystem()
        self._storage_config = StorageConfig(
            node_id=config.node_id,
            directories=self.directories.all,
            metadata_directory=DATA,
            log_directories=self.directories.paths,
            voter_ids=config.voter_ids,
            segment_bytes=segment_bytes,
        )
        env.log_files = lambda: self.disk.list_directory(log_directory(self._storage_config))
        env.log_directories = lambda: directory_files(self.disk, self.directories.paths)
        self.directories.format(self.disk)
        if inherited:
            write_inherited_log(
                self.disk, self._storage_config, config.cluster_id, inherited, codec
            )

    def start(self) -> None:
        """Start the node's process, if it is down and takes what it finds on its disk."""
        if self.process is not None:
            return
        try:
            self._start()
        except Exception as error:  # noqa: BLE001 - whatever it is, there is no process
            self.env.on_crash(self.info.node_id, error)

    def _start(self) -> None:
        stored = self._recover()
        if stored is None:
            return
        self.restart_count += 1
        random = NodeRandom.of(
            f"{self._seed}/node-{self.info.node_id}/{self.restart_count}", self._ties
        )
        self.env.broker_incarnation = incarnation = Uuid(random.randbytes(16))
        config = stored.configured(replace(self._config, incarnation=incarnation))
        node = Node(
            config,
            stored.durable,
            stored.batches,
            random,
            self.env.clock.now(),
            history=stored.history,
            apply=self._apply,
            partitions=stored.partitions,
        )
        is_durable = self.disk.is_synced(log_directory(self._storage_config))
        self.env.log.recovered(stored.batches, stored.history, is_durable=is_durable)
        failed = frozenset(map(self.directories.id_of, stored.failed_log_directories))
        lost = self.env.partitions.recovered(stored.partitions, failed)
        self.process = NodeProcess(
            self.env,
            node,
            stored.storage,
            incarnation=self.restart_count,
            is_controller=self.info.has("controller"),
            has_authorizer=config.authorizer is not None,
            trace=self._trace(incarnation) if self._is_traced else None,
        )
        if stored.durable == self.env.attempted:
            for persisted in self.env.monitor.on_persisted:
                persisted(self.process, stored.durable)
        self.env.attempted = None
        for started in self.env.monitor.on_started:
            started(self.process, stored.durable)
        for recovered in self.env.monitor.on_partitions_recovered:
            recovered(self.process, lost)
        newest = stored.history.newest
        if newest is not None:
            for loaded in self.env.monitor.on_snapshot_loaded:
                loaded(self.process, newest.stored.snapshot, newest.image)
        self.process.start()

    def _recover(self) -> Stored | None:
        """Open the disk; return None if the node refuses the disk, or the disk fails."""
        damaged = self.damaged_file
        undamaged = None if damaged is None else damaged.undamaged(self.disk, self._open)
        try:
            stored = self._open(self.disk)
        except StorageError as error:
            if damaged is None or undamaged is None:
                self._refuses(str(error))
            else:
                self._judge_damage(damaged.refused(str(error)))
            return None
        except OSError as error:
            if not self.disk_faults.fails():
                self.env.on_crash(self.info.node_id, error)
            return None
        if damaged is not None and undamaged is not None:
            self._judge_damage(damaged.recovered(stored, undamaged))
        return stored

    def _open(self, disk: SimulatedFileSystem) -> Stored:
        """Open the storage of a disk, the node's own or a copy; no fault damages a partition."""
        stored = open_node_storage(disk, self._storage_config, self._codec)
        if stored.damaged_partitions:
            raise StorageError(stored.warnings[-1])
        return stored

    def _judge_damage(self, mistake: str | None) -> None:
        if mistake is not None:
            self.env.monitor.record(
                "DamageIsRefused",
                "A node refuses a damaged file in one line, or recovers the same state.",
                mistake,
                node=self.info.node_id,
                time_ns=self.env.scheduler.now_ns,
            )

    def _trace(self, incarnation: Uuid) -> TraceWriter:
        return TraceWriter(
            self._observations,
            TRACE,
            node=self._config.node_id,
            incarnation=format_uuid(incarnation),
            run_time=lambda: self.env.scheduler.now_ns,
        )

    def _refuses(self, reason: str) -> None:
        """Its disk was written by itself and by crashes alone."""
        self.env.monitor.record(
            "RecoversFromCrashes",
            "A node starts from whatever a crash has left of what it wrote.",
            reason,
            node=self.info.node_id,
            time_ns=self.env.scheduler.now_ns,
        )

    def fault_random(self, purpose: str) -> Random:
        """Return the chance of what befalls the node now, the same whatever befell it before.

        So a schedule keeps its effect when faults are taken out of it (kraftproof shrink).
        """
        now_ns = self.env.scheduler.now_ns
        return Random(f"{self._seed}/{purpose}-{self.info.node_id}/{now_ns}")

    def read_file(self, name: str) -> bytes:
        """Return the content of a file in the directory of the log, as on the disk now."""
        return bytes(self.disk.read(join(log_directory(self._storage_config), name)))

    def stop(self) -> None:
        """SIGTERM, if there is a process."""
        if self.process is not None:
            self.process.stop()

    def kill(self) -> None:
        """SIGKILL; the page cache keeps what was written."""
        process, self.process = self.process, None
        if process is not None:
            process.end()

    def lose_power(self) -> int:
        """Kill the process and lose what was not durable; return the bytes lost."""
        self.kill()
        return self.disk.crash(self.fault_random("crash"))

    def disk_failed(self, error: OSError) -> None:
        """A failed write or fsync ends the process, as in node/server; a later start may work."""
        process = self.process
        self.kill()
        if process is not None and not self.disk_faults.fails():
            self.env.on_crash(self.info.node_id, error)

    def set_disk_fault(self, change: Callable[[DiskFaults], None]) -> None:
        """Change what is wrong with the disk."""
        change(self.disk_faults)
        disk_faults = None if self.disk_faults.is_empty else self.disk_faults
        self.disk.disk_faults = self.env.disk_faults = disk_faults

    def wipe(self) -> None:
        """Kill the process, lose everything that was stored, and format the directories again."""
        self.kill()
        self.damaged_file = None
        self.disk = SimulatedFileSystem()
        self.directories.format(self.disk)
        self.disk.disk_faults = self.env.disk_faults
        self.env.log = LogMirror()
        self.env.partitions = PartitionMirrors()

    def damage_file(self) -> str | None:
        """Flip a bit of a drawn durable file; return the path, or None without such a file.

        The disk of a stopped node is copied, and copies with other damages are opened as well.
        """
        if self.damaged_file is None:
            directory = log_directory(self._storage_config)
            random = self.fault_random("bit-rot")
            for _ in range(DAMAGED_COPIES if self.process is None else 0):
                rot = draw_bit_rot(self.disk, directory, random)
                if rot is not None:
                    self._judge_damage(start_on_copy(self.disk, rot, self._open))
            rot = draw_bit_rot(self.disk, directory, random)
            if rot is not None:
                rot.apply(self.disk)
                self.damaged_file = DamagedFile(rot)
        return None if self.damaged_file is None else self.damaged_file.rot.path

    def restore_file(self) -> None:
        """Restore the damaged file, if any."""
        if self.damaged_file is not None:
            self.damaged_file.rot.undo(self.disk)
            self.damaged_file = None

    def set_clock_rate(self, rate_ppm: int) -> None:
        """Let the monotonic clock run quicker or slower, and the process wait accordingly."""
        self.env.clock.set_rate(rate_ppm)
        if self.process is not None:
            self.process.look_at_clock()

    def repair(self) -> None:
        """Undo what faults have done to the disk and the clocks."""
        self.set_disk_fault(DiskFaults.recover)
        self.disk.failed_directories.clear()
        if self.env.partitions.failed:
            self.kill()  # the broker has let go of a directory, until its next start
        self.restore_file()
        self.env.clock.repair()
        self.set_clock_rate(0)

    def write_files(self, directory: Path) -> None:
        """Write the disk and the trace as real files, without a present damage."""
        self.restore_file()
        directory.mkdir(parents=True, exist_ok=True)
        for root in (self.disk.root, self._observations.root):
            write_tree(root, directory)
