"""A broker's data plane that follows several partitions, without shell, disk and quorum."""

from msgspec.structs import replace
from typing_extensions import override

from kraftproof.cluster.simulated.differential.bare_broker import BARE_BROKER
from kraftproof.cluster.simulated.differential.bare_data_plane import (
    FIRST_BROKER_EPOCH,
    BareDataPlane,
    registered,
)
from kraftproof.cluster.simulated.differential.copies.fetch_messages import (
    FOLLOWER,
    topic_id,
    topic_name,
)
from kraftproof.cluster.simulated.differential.copies.fetch_model import Copy, Key
from kraftproof.node.core.base.config import ReplicationPolicy
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import Monotonic, NodeId
from kraftproof.node.core.effects import Effect, Flush, Send, Truncate
from kraftproof.node.core.events import Flushed
from kraftproof.node.core.log_effects import RestartLog
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.core.partition.log_index import LogIndex
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Record
from kraftproof.node.wire.types import Uuid

DIRECTORY = Uuid(b"d" * 16)
BROKER_EPOCH = FIRST_BROKER_EPOCH + FOLLOWER


class FetchRig(BareDataPlane):
    """Broker 1 follows the given partitions; its leaders are requests of the caller."""

    def __init__(
        self, policy: ReplicationPolicy, copies: list[Copy], brokers: tuple[int, ...], level: int
    ) -> None:
        self.sent: list[Send] = []
        """The requests since the caller has looked."""
        self.changes: dict[LogId, list[tuple[str, int]]] = {}
        """The cuts and new begins of each log since the caller has looked."""
        self.flushes: list[Flush] = []
        """The fsyncs under way, oldest first."""
        config = replace(
            BARE_BROKER,
            node_id=NodeId(FOLLOWER),
            log_dirs=(DIRECTORY,),
            log_dir_paths=("/d",),
            replication=policy,
        )
        written: list[Record] = [
            _level(level),
            *(registered(broker, (DIRECTORY,)) for broker in (FOLLOWER, *brokers)),
        ]
        for number in sorted({copy.key[0] for copy in copies}):
            name = topic_name(number)
            written.append(records.TopicRecord(name=name, topic_id=topic_id(number)))
        written += [_partition(copy, brokers) for copy in copies]
        super().__init__(
            config,
            apply_all(EMPTY_IMAGE, tuple(written)),
            controller=lambda: NodeId(-1),
            broker_epoch=lambda: BROKER_EPOCH,
        )
        self.advance()

    def index(self, key: Key) -> LogIndex:
        """Return the follower's own index of a log."""
        return self._data.replicas.by_log[LogId(topic_id(key[0]), key[1])].index

    def changes_of(self, key: Key) -> list[tuple[str, int]]:
        """Return and forget the cuts and new begins of a log."""
        return self.changes.pop(LogId(topic_id(key[0]), key[1]), [])

    @property
    def fetch_deadline(self) -> Monotonic | None:
        """Return the time at which the broker wakes for a Fetch."""
        return self._data.replicas.deadline()

    def change(self, *changes: Record) -> None:
        """Commit records."""
        self.write(*changes)

    def flushes_of(self, key: Key) -> list[int]:
        """Return the ends of the fsyncs of a log that are under way, oldest first."""
        log = LogId(topic_id(key[0]), key[1])
        return [one.end_offset for one in self.flushes if one.log == log]

    def flush(self, count: int) -> list[Key]:
        """End the oldest fsyncs that the broker has asked for; return their logs."""
        ended, self.flushes = self.flushes[:count], self.flushes[count:]
        for one in ended:
            event = Flushed(log=one.log, generation=one.generation, end_offset=one.end_offset)
            self._data.flushed(event)
        self.advance()
        return [(one.log.topic_id[0], one.log.partition) for one in ended]

    @override
    def _execute(self, effect: Effect) -> None:
        match effect:
            case Flush():
                self.flushes.append(effect)
            case Send():
                self.sent.append(effect)
            case Truncate(log=log, end_offset=end):
                self.changes.setdefault(log, []).append(("cut", end))
            case RestartLog(log=log, start_offset=start):
                self.changes.setdefault(log, []).append(("begin", start))
            case _:
                return


def led_by(key: Key, leader: int) -> Record:
    """Return the record that gives a partition another leader."""
    return records.PartitionChangeRecord(
        partition_id=key[1], topic_id=topic_id(key[0]), leader=leader
    )


def level_record(level: int) -> Record:
    """Return the record of a level of metadata.version."""
    return _level(level)


def flush_record(topic: int, *, flushes_each: bool) -> Record:
    """Return the record after which a topic flushes each batch, or none."""
    return records.ConfigRecord(
        resource_type=2,
        resource_name=topic_name(topic),
        name="flush.messages",
        value="1" if flushes_each else None,
    )


def _level(level: int) -> Record:
    return records.FeatureLevelRecord(name="metadata.version", feature_level=level)


def _partition(copy: Copy, brokers: tuple[int, ...]) -> Record:
    replicas = (FOLLOWER, *brokers)
    return records.PartitionRecord(
        partition_id=copy.key[1],
        topic_id=topic_id(copy.key[0]),
        replicas=replicas,
        isr=replicas,
        leader=brokers[0],
        leader_epoch=copy.epoch,
        partition_epoch=0,
        directories=(DIRECTORY,) * len(replicas),
    )
