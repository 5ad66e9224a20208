"""A broker's data plane that follows one partition, without shell, disk and quorum."""

from typing import Final

from msgspec import Struct

from kraftproof.cluster.simulated.differential.copies.leader_log import LogBatch
from kraftproof.cluster.simulated.differential.difference import check
from kraftproof.cluster.simulated.differential.leaders.leader_rig import (
    FIRST_BROKER_EPOCH,
    LOG,
    NAME,
    START_MS,
    TOPIC,
)
from kraftproof.node.core.base.config import NodeConfig, ReplicationPolicy
from kraftproof.node.core.base.types import Instant, Monotonic, NodeId, WallClock, milliseconds
from kraftproof.node.core.broker.data.data_plane import DataPlane
from kraftproof.node.core.effects import Append, Effect, Flush, Send, Truncate
from kraftproof.node.core.events import Flushed
from kraftproof.node.core.log_effects import RaiseLogStart, RestartLog, WriteCheckpoints
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.metadata.committed import CommittedImage
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.core.partition.log_index import LogIndex
from kraftproof.node.wire.messages import Message
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Record
from kraftproof.node.wire.records.raw_batch import RawBatch
from kraftproof.node.wire.types import Uuid

FOLLOWER: Final = NodeId(1)
LEADERS: Final = (2, 3)
NO_LEADER: Final = -1
_DIRECTORY: Final = Uuid(b"d" * 16)


class Sent(Struct):
    """A request of the follower without an answer."""

    correlation: int
    node: int
    message: Message


class FollowerRig:
    """Broker 1 follows partition 0 of the topic; its leaders are requests of the caller."""

    def __init__(self, epoch: int, configs: dict[str, str]) -> None:
        self.time_ms = 0
        self.sent: list[Sent] = []
        """The open requests."""
        self.batches: list[LogBatch] = []
        """The stored batches; those below the start stay until the log restarts."""
        self.start = self.end = 0
        self.changes = 0
        """Number of changes of the log."""
        self.checkpointed = 0
        """The high watermark in the checkpoint file."""
        self._flushes: list[Flush] = []
        self._outbox = Outbox()
        self._committed = CommittedImage()
        self._committed.image = apply_all(EMPTY_IMAGE, tuple(_cluster(epoch, configs)))
        config = NodeConfig(
            node_id=FOLLOWER,
            cluster_id="c",
            is_controller=False,
            is_broker=True,
            voters=(),
            endpoints=(),
            log_dirs=(_DIRECTORY,),
            log_dir_paths=("/d",),
            replication=ReplicationPolicy(is_enabled=True),
        )
        self._data = DataPlane(
            config,
            self._committed,
            self._outbox,
            (),
            controller=lambda: NodeId(-1),
            broker_epoch=lambda: FIRST_BROKER_EPOCH + FOLLOWER,
            now=self._now,
        )
        self.advance()

    @property
    def _now(self) -> Instant:
        at_ns = milliseconds(self.time_ms)
        return Instant(Monotonic(at_ns), WallClock(milliseconds(START_MS) + at_ns))

    @property
    def index(self) -> LogIndex:
        """Return the follower's own index of the log."""
        return self._data.replicas.by_log[LOG].index

    def follow(self, leader: int) -> None:
        """Learn of the next leader epoch, maybe of one without a leader."""
        change = records.PartitionChangeRecord(partition_id=0, topic_id=TOPIC, leader=leader)
        self._committed.image = apply_all(self._committed.image, (change,))
        self.advance()

    def answer(self, sent: Sent, message: Message | None) -> None:
        """Answer an open request; None for a lost answer."""
        self.sent.remove(sent)
        self._outbox.resume(sent.correlation, message, self._now)
        self.advance()

    def flush(self) -> None:
        """End the fsyncs that the broker has asked for."""
        flushes, self._flushes = self._flushes, []
        for effect in flushes:
            self._data.flushed(
                Flushed(log=LOG, generation=effect.generation, end_offset=effect.end_offset)
            )
        self.advance()

    def pass_time(self, for_ms: int) -> None:
        """Let time pass, and let the broker act on its deadlines."""
        self.time_ms += for_ms
        self._data.tick(self._now)
        self.advance()

    def advance(self) -> None:
        """Let the broker go on, and carry out its effects."""
        self._data.advance(self._now, follows_image=True)
        for effect in self._outbox.drain():
            self._execute(effect)

    def _execute(self, effect: Effect) -> None:
        match effect:
            case Append(batch=RawBatch() as batch):
                self.changes += 1
                end = batch.next_offset
                self.batches.append(LogBatch(batch.base_offset, end, batch.epoch, batch.data))
                self.end = end
            case Truncate(end_offset=end):
                self.changes += 1
                is_within = any(batch.base < end < batch.end for batch in self.batches)
                check(f"a log is cut between batches, not at {end}", not is_within)
                self.batches = [batch for batch in self.batches if batch.end <= end]
                self.end = end
            case RestartLog(start_offset=offset):
                self.changes += 1
                self.batches, self.start, self.end = [], offset, offset
            case RaiseLogStart(start_offset=offset):
                self.changes += 1
                self.start = offset
            case WriteCheckpoints(high_watermarks=changed):
                self.checkpointed = dict(changed).get(LOG, self.checkpointed)
            case Flush():
                self._flushes.append(effect)
            case Send():
                self.sent.append(Sent(effect.correlation, effect.destination, effect.message))
            case _:
                return


def _cluster(epoch: int, configs: dict[str, str]) -> list[Record]:
    """Return the records of the brokers, and of the partition with the first leader."""
    brokers = (int(FOLLOWER), *LEADERS)
    return [
        *(
            records.RegisterBrokerRecord(
                broker_id=broker,
                incarnation_id=Uuid(bytes([broker]) * 16),
                broker_epoch=FIRST_BROKER_EPOCH + broker,
                fenced=False,
                log_dirs=(_DIRECTORY,),
            )
            for broker in brokers
        ),
        records.TopicRecord(name=NAME, topic_id=TOPIC),
        *(
            records.ConfigRecord(resource_type=2, resource_name=NAME, name=name, value=value)
            for name, value in configs.items()
        ),
        records.PartitionRecord(
            partition_id=0,
            topic_id=TOPIC,
            replicas=brokers,
            isr=brokers,
            leader=LEADERS[0],
            leader_epoch=epoch,
            partition_epoch=0,
            directories=(_DIRECTORY,) * len(brokers),
        ),
    ]
