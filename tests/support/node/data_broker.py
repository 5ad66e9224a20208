"""One broker of the data world. No tests here."""

from kraftproof.node.core.base.config import Endpoint, NodeConfig
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import NodeId, Offset
from kraftproof.node.core.broker.data.data_plane import DataPlane
from kraftproof.node.core.log.recovered import RecoveredLog
from kraftproof.node.core.metadata.committed import CommittedImage
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.wire.records.raw_batch import RawBatch
from kraftproof.node.wire.types import ZERO_UUID, Uuid
from tests.support.node.data_messages import TOPIC

LOG = LogId(TOPIC, 0)


class DataBroker:
    """One process of a broker, and its disk."""

    def __init__(self, world, node_id, disk=None, incarnation=0):
        self.world, self.node_id, self.incarnation = world, node_id, incarnation
        self.disk: dict[LogId, list[RawBatch]] = {} if disk is None else disk
        self.placed: dict[LogId, Uuid] = {} if disk is None else dict(world.brokers[node_id].placed)
        """The directory of each log."""
        self.topics: dict[LogId, str] = {}
        self.outbox = Outbox()
        self.committed = CommittedImage()
        self.is_up = True
        self.answers: dict[int, object] = {}
        """What each request of the test was answered with."""
        self.committed.image = world.image
        config = NodeConfig(
            node_id=NodeId(node_id),
            cluster_id="c",
            is_controller=False,
            is_broker=True,
            voters=(),
            endpoints=(
                Endpoint(name="PLAINTEXT", host=f"b{node_id}", port=9092, is_controller=False),
            ),
            log_dirs=world.directories_of(node_id),
            log_dir_paths=tuple(f"/{each[0]}" for each in world.directories_of(node_id)),
            failed_log_dirs=("/failed",) if world.has_failed_at_start(node_id) else (),
            damaged_logs=world.damaged_at_start(node_id),
            replication=world.policy,
        )
        self.data = DataPlane(
            config,
            self.committed,
            self.outbox,
            [self._recovered(log) for log in sorted(self.disk)],
            controller=lambda: world.controller,
            broker_epoch=lambda: world.image.brokers[node_id].epoch,
            now=world.now,
        )
        self.advance()

    def _recovered(self, log):
        batches = self.disk[log]
        start = self.world.starts.get((self.node_id, log), 0)
        epochs = self.world.epochs.get((self.node_id, log), ())
        return RecoveredLog(
            log=log,
            topic="t",
            start_offset=Offset(start),
            end_offset=Offset(batches[-1].next_offset if batches else start),
            directory=self.placed.get(log, ZERO_UUID),
            epochs=tuple((entry.epoch, entry.start_offset) for entry in epochs),
            high_watermark=Offset(self.world.checkpoints.get((self.node_id, log), 0)),
            producer_batches=tuple(batches),
            size=sum(batch.size for batch in batches),
        )

    @property
    def replica(self):
        """The replica of the first partition."""
        return self.data.replicas.by_log[LOG]

    def advance(self):
        """End a step: the parts go on, and the world executes the effects."""
        self.data.advance(self.world.now, follows_image=True)
        for effect in self.outbox.drain():
            self.world.execute(self, effect)
        for log, replica in self.data.replicas.by_log.items():
            self.world.epochs[self.node_id, log] = list(replica.index.epochs.entries)
            self.world.starts[self.node_id, log] = replica.index.start_offset

    def see(self, image):
        """Follow a newer image."""
        self.committed.image = image
        self.advance()

    def receive(self, event):
        """Take a request."""
        self.data.receive(event, self.world.now)
        self.advance()

    def tick(self):
        """Act on the deadlines that have passed."""
        due = self.data.deadline()
        if due is not None and due <= self.world.now.monotonic:
            self.data.tick(self.world.now)
            self.advance()
