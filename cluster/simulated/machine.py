"""One simulated machine: a disk, two clocks, and the processes of one node that come and go.

Not: what a process does (process.py).
"""

from pathlib import Path

from msgspec.structs import replace

from cluster.protocol import NodeInfo
from cluster.simulated.chance import NodeRandom, Ties
from cluster.simulated.filesystem import SimulatedDirectory, SimulatedFile, SimulatedFileSystem
from cluster.simulated.process import NodeProcess
from cluster.simulated.surroundings import Surroundings
from node.core.config import NodeConfig
from node.core.node import Node
from node.core.types import NodeId
from node.server.trace import TraceWriter
from node.storage.errors import StorageError
from node.storage.meta_properties import MetaProperties, format_directories
from node.storage.stored import StorageConfig, log_directory, open_node_storage
from node.wire.types import Uuid, format_uuid

DATA = "/data"
TRACE = "/trace.jsonl"


class Machine:
    """A node across its starts."""

    def __init__(
        self,
        info: NodeInfo,
        config: NodeConfig,
        around: Surroundings,
        *,
        seed: str,
        ties: Ties,
        segment_bytes: int,
    ) -> None:
        self.info = info
        self.around = around
        self.disk = SimulatedFileSystem()
        self.process: NodeProcess | None = None
        self.lives = 0
        self._config = config
        self._seed = seed
        self._ties = ties
        self._observations = SimulatedFileSystem()
        self._storage_config = StorageConfig(
            node_id=config.node_id,
            directories=(DATA,),
            metadata_directory=DATA,
            voter_ids=config.voter_ids,
            segment_bytes=segment_bytes,
        )
        meta = MetaProperties(cluster_id=config.cluster_id, node_id=NodeId(info.node_id))
        format_directories(self.disk, (DATA,), meta)
        self.disk.fsync_directory("/")

    def start(self) -> None:
        """Start the node's process, if it is down and takes what it finds on its disk."""
        if self.process is not None:
            return
        try:
            stored = open_node_storage(self.disk, self._storage_config)
        except StorageError as error:
            self._refuses(error)
            return
        self.lives += 1
        random = NodeRandom.of(f"{self._seed}/node-{self.info.node_id}/{self.lives}", self._ties)
        incarnation = Uuid(random.randbytes(16))
        now = self.around.clock.now()
        config = replace(self._config, incarnation=incarnation)
        node = Node(config, stored.durable, stored.batches, random, now, history=stored.history)
        is_durable = self.disk.is_synced(log_directory(self._storage_config))
        self.around.log.recovered(stored.batches, stored.history, is_durable=is_durable)
        trace = TraceWriter(
            self._observations,
            TRACE,
            node=config.node_id,
            incarnation=format_uuid(incarnation),
        )
        self.process = NodeProcess(
            self.around,
            node,
            stored.storage,
            life=self.lives,
            is_controller=self.info.is_controller,
            trace=trace,
        )
        for started in self.around.jury.on_started:
            started(self.process, stored.durable)
        newest = stored.history.newest
        if newest is not None:
            for loaded in self.around.jury.on_loaded:
                loaded(self.process, newest.stored.snapshot, newest.image)
        self.process.start()

    def _refuses(self, error: StorageError) -> None:
        """Its disk was written by itself and by crashes alone."""
        self.around.jury.record(
            "RecoversFromCrashes",
            "A node starts from whatever a crash has left of what it wrote.",
            str(error),
            node=self.info.node_id,
            time_ns=self.around.scheduler.now_ns,
        )

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
        return self.disk.crash(self.around.random)

    def write_files(self, directory: Path) -> None:
        """Write the disk and the trace as real files."""
        directory.mkdir(parents=True, exist_ok=True)
        for root in (self.disk.root, self._observations.root):
            _write(root, directory)


def _write(source: SimulatedDirectory, target: Path) -> None:
    for name in sorted(source.entries):
        entry = source.entries[name]
        if isinstance(entry, SimulatedFile):
            (target / name).write_bytes(bytes(entry.data))
        else:
            (target / name).mkdir(exist_ok=True)
            _write(entry, target / name)
