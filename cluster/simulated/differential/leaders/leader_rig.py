"""A broker's data plane that leads one partition, without shell, disk and quorum."""

from typing import Final

from msgspec.structs import replace
from typing_extensions import override

from kraftproof.cluster.simulated.differential.bare_broker import BARE_BROKER
from kraftproof.cluster.simulated.differential.bare_data_plane import (
    FIRST_BROKER_EPOCH,
    BareDataPlane,
)
from kraftproof.cluster.simulated.differential.one_partition import (
    DIRECTORY,
    NAME,
    TOPIC,
    one_partition,
)
from kraftproof.node.core.base.config import Endpoint, ReplicationPolicy
from kraftproof.node.core.base.types import (
    Epoch,
    NodeId,
    Offset,
    milliseconds,
)
from kraftproof.node.core.effects import Append, Effect, EndRequest, Flush, Reply
from kraftproof.node.core.events import Flushed, TimestampFound
from kraftproof.node.core.log_effects import (
    FindTimestamp,
    ReplyWithBatches,
    ReplyWithVolumes,
)
from kraftproof.node.wire.messages import Message
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Record
from kraftproof.node.wire.records.raw_batch import RawBatch
from kraftproof.node.wire.types import Uuid

LEADER: Final = NodeId(1)
BROKERS: Final = (1, 0, 2, 3, 4)
"""The registered brokers, which may be replicas."""
_PATH: Final = "/d"
_ANOTHER: Final = Uuid(b"another director")
NEVER_NS: Final = milliseconds(1 << 40)
"""A lag after which no member is removed in a comparison."""


class LeaderRig(BareDataPlane):
    """Broker 1 leads partition 0 of the topic; the other replicas are requests of the caller."""

    def __init__(
        self,
        replicas: tuple[int, ...],
        epoch: int,
        configs: dict[str, str],
    ) -> None:
        self.batches: list[RawBatch] = []
        self.answers: dict[int, Message | None] = {}
        """By token of a request; None for the end of a request without an answer."""
        self.searches: list[FindTimestamp] = []
        self.open_searches: list[FindTimestamp] = []
        """The searches that the disk has not finished."""
        self._flushes: list[Flush] = []
        config = replace(
            BARE_BROKER,
            node_id=LEADER,
            endpoints=(Endpoint(name="PLAINTEXT", host="b1", port=9092, is_controller=False),),
            log_dirs=(DIRECTORY,),
            log_dir_paths=(_PATH,),
            replication=ReplicationPolicy(is_enabled=True, lag_ns=NEVER_NS),
        )
        super().__init__(
            config,
            one_partition(replicas, LEADER, epoch, configs, brokers=BROKERS),
            controller=lambda: NodeId(-1),
            broker_epoch=lambda: FIRST_BROKER_EPOCH + LEADER,
        )
        self.advance()

    def lead_again(self) -> None:
        """Begin the next leader epoch, with the same leader."""
        change = records.PartitionChangeRecord(partition_id=0, topic_id=TOPIC, leader=LEADER)
        self._change(change)

    def lose(self, leader: int) -> None:
        """Give the leadership to another replica, or to none."""
        change = records.PartitionChangeRecord(
            partition_id=0, topic_id=TOPIC, leader=NodeId(leader)
        )
        self._change(change)

    def reassign(self, followers: tuple[int, ...]) -> None:
        """Change the replicas, all of which are in the ISR, within the leader epoch."""
        replicas = (LEADER, *map(NodeId, followers))
        change = records.PartitionChangeRecord(
            partition_id=0,
            topic_id=TOPIC,
            replicas=replicas,
            isr=replicas,
            directories=(DIRECTORY,) * len(replicas),
        )
        self._change(change)

    def fence(self, broker: int, *, is_fenced: bool) -> None:
        """Fence or unfence a broker."""
        change = records.BrokerRegistrationChangeRecord(
            broker_id=broker,
            broker_epoch=FIRST_BROKER_EPOCH + broker,
            fenced=1 if is_fenced else -1,
        )
        self._change(change)

    def fail_disk(self, broker: int, *, has_failed: bool) -> None:
        """Replace the directory of a broker by another one, or bring the directory back."""
        change = records.BrokerRegistrationChangeRecord(
            broker_id=broker,
            broker_epoch=FIRST_BROKER_EPOCH + broker,
            log_dirs=(_ANOTHER if has_failed else DIRECTORY,),
        )
        self._change(change)

    def configure(self, name: str, value: str | None) -> None:
        """Set a configuration of the topic, or remove the configuration."""
        change = records.ConfigRecord(resource_type=2, resource_name=NAME, name=name, value=value)
        self._change(change)

    def flush(self) -> None:
        """End the fsyncs that the broker has asked for."""
        for effect in self._flushes:
            done = Flushed(
                log=effect.log, generation=effect.generation, end_offset=effect.end_offset
            )
            self._data.flushed(done)
        self._flushes.clear()
        self.advance()

    def find(self, search: FindTimestamp) -> None:
        """End a search of the disk."""
        self.open_searches.remove(search)
        self._data.timestamp_found(self._find(search))
        self.advance()

    def _change(self, record: Record) -> None:
        """Commit one more record."""
        self.write(record)

    @override
    def _execute(self, effect: Effect) -> None:
        match effect:
            case Append(batch=RawBatch() as batch):
                self.batches.append(batch)
            case Flush():
                self._flushes.append(effect)
            case FindTimestamp():
                self.searches.append(effect)
                self.open_searches.append(effect)
            case Reply(request=request, message=message):
                self.answers[request] = message
            case ReplyWithVolumes(request=request, message=described):
                self.answers[request] = described
            case ReplyWithBatches():
                self.answers[effect.request] = self._read(effect)
            case EndRequest(request=request):
                self.answers[request] = None
            case _:
                return

    def _find(self, effect: FindTimestamp) -> TimestampFound:
        """Return the first batch of a range whose newest record has the time or a later one."""
        for batch in self.batches:
            is_within = effect.start_offset <= batch.base_offset < effect.end_offset
            if is_within and batch.max_timestamp_ms >= effect.timestamp_ms:
                return TimestampFound(
                    token=effect.token,
                    offset=Offset(batch.base_offset),
                    timestamp_ms=batch.max_timestamp_ms,
                    epoch=Epoch(batch.epoch),
                )
        return TimestampFound(
            token=effect.token, offset=Offset(-1), timestamp_ms=-1, epoch=Epoch(-1)
        )

    def _read(self, effect: ReplyWithBatches) -> Message:
        """Return the answer with the batches that a shell reads."""
        topics = [list(topic.partitions) for topic in effect.message.responses]
        for read in effect.reads:
            data = b""
            for batch in self.batches:
                if batch.next_offset <= read.offset or batch.next_offset > read.end_offset:
                    continue
                is_large = len(data) + batch.size > min(read.max_bytes, effect.max_bytes)
                if is_large and (data or not read.may_exceed):
                    break
                data += batch.data
            part = topics[read.topic_index][read.partition_index]
            topics[read.topic_index][read.partition_index] = replace(part, records=data)
        responses = tuple(
            replace(topic, partitions=tuple(partitions))
            for topic, partitions in zip(effect.message.responses, topics, strict=True)
        )
        return replace(effect.message, responses=responses)
