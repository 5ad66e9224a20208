"""Whole nodes with real storage on simulated disks: the world of test_node, with snapshots.

Effects are carried out at once, but for what a test holds back or loses. Not: the simulator.
"""

from random import Random

from msgspec.structs import replace

from kraftproof.cluster.simulated.disk.filesystem import SimulatedFileSystem
from kraftproof.node.core.base.config import Endpoint, NodeConfig, SnapshotPolicy
from kraftproof.node.core.base.types import NodeId
from kraftproof.node.core.effects import (
    Append,
    CheckSnapshot,
    CleanLog,
    Flush,
    InstallSnapshot,
    PersistQuorumState,
    Reply,
    ReplyWithSlice,
    Send,
    StoreSlice,
    Truncate,
    WriteSnapshot,
)
from kraftproof.node.core.events import SnapshotWritten, Unanswered
from kraftproof.node.core.log.log import RECORD_ESTIMATE_BYTES
from kraftproof.node.core.node import Node
from kraftproof.node.core.raft.snapshots.rpc import with_slice
from kraftproof.node.server.workers import run_through
from kraftproof.node.storage.meta_properties import MetaProperties, format_directories
from kraftproof.node.storage.stored import StorageConfig, open_node_storage
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import fetch_snapshot_request
from kraftproof.node.wire.types import Uuid
from tests.node.core.test_node import World, create

CLUSTER_ID = "AAAAAAAAAAAAAAAAAAAAAA"
DATA = "/data"
BROKER = 4
"""Of three controllers and one broker."""


class DiskWorld(World):
    """Nodes whose disks outlive them."""

    def __init__(self, controllers, brokers, *, records=10, slice_bytes=200, interval_ns=0):
        self.policy = SnapshotPolicy(
            bytes_between=records * RECORD_ESTIMATE_BYTES,
            interval_ns=interval_ns,
            slice_bytes=slice_bytes,
        )
        self.disks, self.storages, self.warnings, self.roles = {}, {}, {}, {}
        self.held = []
        """Snapshots that are being written while `holds_writes`."""
        self.holds_writes = False
        self.checks = []
        """What has come of checks while `holds_checks`."""
        self.holds_checks = False
        self.lose_slices = 0
        self.change_slice = None
        super().__init__(controllers, brokers)

    def add(self, node_id, *, is_broker):
        self.roles[node_id] = is_broker
        disk = self.disks.get(node_id)
        if disk is None:
            disk = self.disks[node_id] = SimulatedFileSystem()
            meta = MetaProperties(cluster_id=CLUSTER_ID, node_id=NodeId(node_id))
            directory_id = Uuid(node_id.to_bytes(8, "big") * 2)
            format_directories(disk, (DATA,), meta, draw_id=lambda: directory_id)
        config = NodeConfig(
            node_id=NodeId(node_id),
            cluster_id=CLUSTER_ID,
            is_controller=not is_broker,
            is_broker=is_broker,
            voters=self.voters,
            endpoints=(
                Endpoint(
                    name="PLAINTEXT" if is_broker else "CONTROLLER",
                    host=f"node-{node_id}",
                    port=9092,
                    is_controller=not is_broker,
                ),
            ),
            incarnation=Uuid(Random(self.now + node_id).randbytes(16)),
            snapshots=self.policy,
        )
        stored = open_node_storage(disk, self.storage_config(node_id))
        config = replace(
            config, log_dirs=stored.log_directory_ids, log_dir_paths=stored.log_directory_paths
        )
        self.storages[node_id], self.warnings[node_id] = stored.storage, stored.warnings
        self.nodes[node_id] = Node(
            config,
            stored.durable,
            stored.batches,
            Random(node_id),
            self.instant,
            history=stored.history,
        )
        self.take(node_id, self.nodes[node_id].start(self.instant))

    def storage_config(self, node_id):
        return StorageConfig(
            node_id=NodeId(node_id),
            directories=(DATA,),
            metadata_directory=DATA,
            voter_ids=tuple(voter.node_id for voter in self.voters),
            segment_bytes=4096,
        )

    def take(self, node_id, effects):
        for effect in effects:
            if node_id in self.nodes:
                self.take_one(node_id, effect)

    def take_one(self, node_id, effect):
        storage = self.storages[node_id]
        does = {
            Append: storage.append,
            Flush: lambda effect: storage.start_flush(effect)(),
            Truncate: storage.truncate,
            PersistQuorumState: storage.persist_quorum_state,
            WriteSnapshot: lambda effect: self.write(node_id, effect),
            StoreSlice: storage.store_slice,
            CheckSnapshot: lambda effect: self.check(node_id, effect),
            InstallSnapshot: storage.install_snapshot,
            CleanLog: storage.clean,
        }
        if type(effect) in does:
            does[type(effect)](effect)
        if isinstance(effect, ReplyWithSlice):
            message = with_slice(effect.message, storage.read_slice(effect))
            if self.change_slice is not None:
                message = self.change_slice(message)
            effect = Reply(request=effect.request, message=message)
        super().take(node_id, [effect])

    def check(self, node_id, effect):
        event = (node_id, run_through(self.storages[node_id].check_snapshot(effect)))
        (self.checks if self.holds_checks else self.events).append(event)

    def write(self, node_id, effect):
        self.held.append((node_id, effect))
        if not self.holds_writes:
            self.release_writes()

    def release_writes(self):
        held, self.held = self.held, []
        for node_id, effect in held:
            if node_id in self.nodes:
                stored = run_through(self.storages[node_id].write_snapshot(effect))
                self.events.append((node_id, SnapshotWritten(stored)))

    def ask(self, node_id, effect):
        is_slice = isinstance(effect, Send) and isinstance(
            effect.message, fetch_snapshot_request.FetchSnapshotRequest
        )
        if is_slice and self.lose_slices:
            self.lose_slices -= 1
            self.events.append((node_id, Unanswered(correlation=effect.correlation)))
        else:
            super().ask(node_id, effect)

    # What tests do and see

    def stop(self, node_id):
        self.kill(node_id)

    def start_again(self, node_id, *, wiped=False):
        if wiped:
            del self.disks[node_id]
        self.add(node_id, is_broker=self.roles[node_id])

    def files(self, node_id, suffix=".checkpoint"):
        names = self.disks[node_id].list_directory(f"{DATA}/__cluster_metadata-0")
        return [name for name in names if name.endswith(suffix)]

    def of_kind(self, node_id, kind):
        return [effect for n, effect in self.effects if n == node_id and isinstance(effect, kind)]

    def images(self):
        return {(s.image_offset, s.image_digest) for s in map(Node.status, self.nodes.values())}


def fill(world, name, count):
    for number in range(count):
        answer = world.answer(BROKER, create(f"{name}-{number}"), 7, by_ms=50)
        assert answer.topics[0].error_code == ErrorCode.NONE


def laggard(world):
    return next(n for n in (1, 2, 3) if n != world.leader())


def partition_of(message):
    return message.topics[0].partitions[0]
