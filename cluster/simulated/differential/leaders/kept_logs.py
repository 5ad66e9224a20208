"""A data plane with a few partitions, led or followed, and with a wall clock that steps."""

from typing import Final

from msgspec import Struct
from msgspec.structs import replace
from typing_extensions import override

from kraftproof.cluster.simulated.differential.bare_broker import BARE_BROKER
from kraftproof.cluster.simulated.differential.bare_data_plane import (
    FIRST_BROKER_EPOCH,
    START_MS,
    BareDataPlane,
    registered,
)
from kraftproof.cluster.simulated.differential.one_partition import DIRECTORY
from kraftproof.node.core.base.config import ReplicationPolicy
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import (
    Instant,
    Monotonic,
    NodeId,
    WallClock,
    milliseconds,
)
from kraftproof.node.core.effects import Effect, Reply
from kraftproof.node.core.log_effects import RaiseLogStart, WriteCheckpoints
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.metadata.image import EMPTY_IMAGE, MetadataImage
from kraftproof.node.core.partition.replica import Replica
from kraftproof.node.wire.messages import Message, fetch_request
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Record
from kraftproof.node.wire.records.raw_batch import parse_batch
from kraftproof.node.wire.types import Uuid

BROKER: Final = NodeId(1)
OTHER: Final = NodeId(2)
FETCH_VERSION: Final = 12
LARGE: Final = 1 << 30


class KeptTopic(Struct, frozen=True, kw_only=True):
    """A topic with one partition; the first replica leads the partition."""

    number: int
    replicas: tuple[NodeId, ...]
    policy: str
    age_ms: int
    size: int

    @property
    def name(self) -> str:
        """Return the name of the topic."""
        return f"kept-{self.number}"

    @property
    def log(self) -> LogId:
        """Return the log of the partition."""
        return LogId(Uuid(bytes([self.number + 1]) * 16), 0)

    @property
    def is_led(self) -> bool:
        """Return whether the broker leads the partition."""
        return self.replicas[0] == BROKER


class KeptLogs(BareDataPlane):
    """Broker 1 with its replicas of the topics."""

    def __init__(
        self, topics: tuple[KeptTopic, ...], policy: ReplicationPolicy, now_ns: int
    ) -> None:
        self.step_ms = 0
        """The sum of the steps of the wall clock."""
        self.raised: list[RaiseLogStart] = []
        self.checkpoints: list[WriteCheckpoints] = []
        self.answers: dict[int, Message] = {}
        super().__init__(
            replace(
                BARE_BROKER,
                node_id=BROKER,
                log_dirs=(DIRECTORY,),
                log_dir_paths=("/d",),
                replication=policy,
            ),
            _image(topics),
            controller=lambda: NodeId(-1),
            broker_epoch=lambda: FIRST_BROKER_EPOCH + BROKER,
            now_ns=now_ns,
        )
        self.advance()

    @property
    @override
    def _now(self) -> Instant:
        return Instant(Monotonic(self.now_ns), WallClock(milliseconds(self.wall_ms)))

    @property
    def wall_ms(self) -> int:
        """Return the time of the wall clock."""
        return START_MS + self.time_ms + self.step_ms

    @property
    def deadline_ns(self) -> int | None:
        """Return the time at which the broker wants to act."""
        return self._data.deadline()

    def replica(self, topic: KeptTopic) -> Replica:
        """Return the broker's replica of a topic."""
        return self._data.replicas.by_log[topic.log]

    def append(self, topic: KeptTopic, data: bytes) -> None:
        """Append a batch, as the leader or as a follower."""
        replica, batch = self.replica(topic), parse_batch(data)
        if topic.is_led:
            replica.append_produced(batch, self._now)
        else:
            replica.append_fetched(batch, self._now)
        self._data.replicas.note_change(topic.log)
        self.advance()

    def fetch(self, topic: KeptTopic, offset: int, wait_ms: int) -> int:
        """Send the Fetch of a consumer that waits for more bytes than ever come."""
        part = fetch_request.FetchPartition(
            partition=0, fetch_offset=offset, partition_max_bytes=LARGE
        )
        request = fetch_request.FetchRequest(
            max_wait_ms=wait_ms,
            min_bytes=LARGE,
            max_bytes=LARGE,
            session_epoch=-1,
            topics=(fetch_request.FetchTopic(topic=topic.name, partitions=(part,)),),
        )
        return self.ask_anonymously(request, FETCH_VERSION)

    def set_expiration(self, broker: str, value: str | None) -> None:
        """Set or remove producer.id.expiration.ms of the broker, or of all brokers ("")."""
        record = records.ConfigRecord(
            resource_type=4, resource_name=broker, name="producer.id.expiration.ms", value=value
        )
        self.write(record)

    def stop(self) -> None:
        """End the broker in order."""
        self._data.stop()
        self.advance()

    @override
    def _execute(self, effect: Effect) -> None:
        match effect:
            case RaiseLogStart():
                self.raised.append(effect)
            case WriteCheckpoints():
                self.checkpoints.append(effect)
            case Reply(request=request, message=message):
                self.answers[request] = message
            case _:
                return


def _image(topics: tuple[KeptTopic, ...]) -> MetadataImage:
    written: list[Record] = [registered(broker, (DIRECTORY,)) for broker in (BROKER, OTHER)]
    for topic in topics:
        configs = {
            "cleanup.policy": topic.policy,
            "retention.ms": str(topic.age_ms),
            "retention.bytes": str(topic.size),
        }
        written.append(records.TopicRecord(name=topic.name, topic_id=topic.log.topic_id))
        written += [
            records.ConfigRecord(resource_type=2, resource_name=topic.name, name=name, value=value)
            for name, value in configs.items()
        ]
        written.append(
            records.PartitionRecord(
                partition_id=0,
                topic_id=topic.log.topic_id,
                replicas=topic.replicas,
                isr=topic.replicas,
                leader=topic.replicas[0],
                leader_epoch=0,
                partition_epoch=0,
                directories=(DIRECTORY,) * len(topic.replicas),
            )
        )
    return apply_all(EMPTY_IMAGE, tuple(written))
