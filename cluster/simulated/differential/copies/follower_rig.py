"""A broker's data plane that follows one partition, without shell, disk and quorum."""

from typing import Final

from msgspec import Struct
from msgspec.structs import replace
from typing_extensions import override

from kraftproof.cluster.simulated.differential.bare_broker import BARE_BROKER
from kraftproof.cluster.simulated.differential.bare_data_plane import (
    FIRST_BROKER_EPOCH,
    BareDataPlane,
)
from kraftproof.cluster.simulated.differential.copies.leader_log import LogBatch
from kraftproof.cluster.simulated.differential.difference import check
from kraftproof.cluster.simulated.differential.one_partition import (
    DIRECTORY,
    LOG,
    TOPIC,
    one_partition,
)
from kraftproof.node.core.base.config import ReplicationPolicy
from kraftproof.node.core.base.types import NodeId
from kraftproof.node.core.effects import Append, Effect, Flush, Send, Truncate
from kraftproof.node.core.events import Flushed
from kraftproof.node.core.log_effects import RaiseLogStart, RestartLog, WriteCheckpoints
from kraftproof.node.core.partition.log_index import LogIndex
from kraftproof.node.wire.messages import Message
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.raw_batch import RawBatch

FOLLOWER: Final = NodeId(1)
LEADERS: Final = (2, 3)
NO_LEADER: Final = -1


class Sent(Struct):
    """A request of the follower without an answer."""

    correlation: int
    node: int
    message: Message


class FollowerRig(BareDataPlane):
    """Broker 1 follows partition 0 of the topic; its leaders are requests of the caller."""

    def __init__(self, epoch: int, configs: dict[str, str]) -> None:
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
        config = replace(
            BARE_BROKER,
            node_id=FOLLOWER,
            log_dirs=(DIRECTORY,),
            log_dir_paths=("/d",),
            replication=ReplicationPolicy(is_enabled=True),
        )
        super().__init__(
            config,
            one_partition((int(FOLLOWER), *LEADERS), LEADERS[0], epoch, configs),
            controller=lambda: NodeId(-1),
            broker_epoch=lambda: FIRST_BROKER_EPOCH + FOLLOWER,
        )
        self.advance()

    @property
    def index(self) -> LogIndex:
        """Return the follower's own index of the log."""
        return self._data.replicas.by_log[LOG].index

    def follow(self, leader: int) -> None:
        """Learn of the next leader epoch, maybe of one without a leader."""
        change = records.PartitionChangeRecord(partition_id=0, topic_id=TOPIC, leader=leader)
        self.write(change)

    def answer(self, sent: Sent, message: Message | None) -> None:
        """Answer an open request; None for a lost answer."""
        self.sent.remove(sent)
        self.resume(sent.correlation, message)

    def flush(self) -> None:
        """End the fsyncs that the broker has asked for."""
        flushes, self._flushes = self._flushes, []
        for effect in flushes:
            self._data.flushed(
                Flushed(log=LOG, generation=effect.generation, end_offset=effect.end_offset)
            )
        self.advance()

    @override
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
