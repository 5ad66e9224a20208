"""Draw a broker with its partitions among other brokers, as plain values and as an image."""

from copy import copy
from dataclasses import dataclass, field
from random import Random
from typing import Final

from kraftproof.cluster.simulated.differential.data.drawn_rights import draw_entries, draw_policy
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import Epoch, Offset
from kraftproof.node.core.log.recovered import LogSpan, RecoveredLog
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.metadata.image import EMPTY_IMAGE, MetadataImage
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Record
from kraftproof.node.wire.types import Uuid

NOBODY: Final = -1
INTERNAL: Final = ("__consumer_offsets", "__transaction_state", "__share_group_state")
NAMES: Final = ("a", "ab", "b")
COMPACTED_BY: Final = ("compact", "compact", "compact,delete", "delete,compact")
FEATURES: Final = ("group.version", "transaction.version", "share.version")
LISTENERS: Final = ("PLAINTEXT", "OTHER")
DIRECTORIES: Final = (Uuid(b"1" * 16), Uuid(b"2" * 16))
"""The directories of this broker, of which the second one may fail."""
ELSEWHERE: Final = Uuid(b"e" * 16)
"""The directory of every other broker."""
PORT: Final = 9092
SIZE: Final = 69
"""The bytes of a batch with its only record, of a byte, from a client or found on the disk.

A number, since a bug in the node's code would otherwise end the import of this module.
"""
_FIRST_EPOCH: Final = 10


@dataclass(slots=True, kw_only=True)
class DrawnPartition:
    """A partition, with the log of this broker if this broker leads the partition."""

    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    leader: int
    epoch: int
    is_in_second: bool
    """Whether the log of this broker is in the second directory."""
    start: int = 0
    end: int = 0
    found: int = 0
    """The end of the log that the broker has found on its disk."""
    committed: int = 0
    """The high watermark of the last checkpoint, at least the start."""
    starts_of_others: dict[int, int] = field(default_factory=dict)
    """The start of the log in the last Fetch of a follower."""


class DrawnBroker:
    """A broker; each partition has at most a record a batch, and followers copy nothing."""

    def __init__(self, random: Random) -> None:
        self.own = random.choice((0, 1))
        self.others = (0 if self.own else 2, 3)
        self.fenced = frozenset(one for one in self.others if random.random() < 0.3)
        self.listeners = {
            one: LISTENERS[: random.choice((1, 2, 2))] for one in (self.own, *self.others)
        }
        self.racks = {one: random.choice((None, "r")) for one in self.others} | {self.own: None}
        self.features = {
            one: tuple(each for each in FEATURES if random.random() < 0.25)
            for one in (self.own, *self.others)
        }
        self.has_failed = random.random() < 0.4
        self.policy = draw_policy(random)
        self.min_isr = {name: random.choice((1, 1, 2)) for name in NAMES}
        self.compacted = frozenset(name for name in NAMES if random.random() < 0.2)
        ahead = copy(random)
        self.policies = {name: ahead.choice(COMPACTED_BY) for name in sorted(self.compacted)}
        """The cleanup.policy of each compacted topic."""
        self.stamped = frozenset(name for name in NAMES if ahead.random() < 0.4)
        """The topics whose records get the time of their append."""
        self._entries = draw_entries(random)
        internal = [name for name in INTERNAL if random.random() < 0.6]
        self.ids = {name: Uuid(random.randbytes(16)) for name in (*NAMES, *internal)}
        self.partitions = {
            name: {index: self._partition(random) for index in range(random.randint(1, 4))}
            for name in self.ids
        }

    def _partition(self, random: Random) -> DrawnPartition:
        nodes = [self.own, *self.others]
        size = random.randint(1, 3)
        replicas = (self.own,) if random.random() < 0.3 else tuple(random.sample(nodes, size))
        isr = random.choice((replicas, replicas, replicas[:1]))
        leader = random.choice((*isr, *isr, NOBODY))
        if self.own in isr and random.random() < 0.6:
            leader = self.own
        drawn = DrawnPartition(
            replicas=replicas,
            isr=isr,
            leader=leader,
            epoch=random.choice((0, 3)),
            is_in_second=random.random() < 0.3,
        )
        if self.own in replicas and random.random() < 0.4:
            drawn.found = drawn.end = random.randint(1, 3)
            drawn.start = random.randint(0, drawn.end)
            drawn.committed = random.randint(drawn.start, drawn.end)
        return drawn

    # What the broker must answer

    def error(self, name: str, index: int, known_epoch: int = -1) -> ErrorCode:
        """Return the error of a request to the leader of a partition."""
        found = self.partitions.get(name, {}).get(index)
        error = self.error_of_replica(name, index)
        if found is None or error:
            return error
        if known_epoch not in {-1, found.epoch}:
            is_older = known_epoch < found.epoch
            newer, older = ErrorCode.UNKNOWN_LEADER_EPOCH, ErrorCode.FENCED_LEADER_EPOCH
            return older if is_older else newer
        return ErrorCode.NONE if found.leader == self.own else ErrorCode.NOT_LEADER_OR_FOLLOWER

    def error_of_replica(self, name: str, index: int) -> ErrorCode:
        """Return the error of a request to any replica of a partition."""
        found = self.partitions.get(name, {}).get(index)
        if found is None:
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if self.own not in found.replicas:
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        is_lost = self.has_failed and found.is_in_second
        return ErrorCode.KAFKA_STORAGE_ERROR if is_lost else ErrorCode.NONE

    def needed(self, name: str, one: DrawnPartition) -> int:
        """Return the least size of the ISR with which records are committed."""
        return min(self.min_isr.get(name, 1), len(one.replicas))

    def high_watermark(self, name: str, index: int) -> int:
        """Return the end of the committed records of a led partition."""
        one = self.partitions[name][index]
        is_committed = one.isr == (self.own,) and len(one.isr) >= self.needed(name, one)
        return one.end if is_committed else max(one.committed, one.start)

    def leader(self, name: str, index: int) -> tuple[int, int]:
        """Return the leader and the leader epoch of a partition; -1 for an unknown one."""
        found = self.partitions.get(name, {}).get(index)
        return (NOBODY, -1) if found is None else (found.leader, found.epoch)

    def endpoints(self, nodes: list[int], listener: str) -> list[tuple[object, ...]]:
        """Return the endpoints of the active ones of some brokers, in their order."""
        return [
            (node, host(node, listener), PORT + node, self.racks[node])
            for node in dict.fromkeys(nodes)
            if node != NOBODY and node not in self.fenced and listener in self.listeners[node]
        ]

    # The image and the disk

    def recovered(self) -> tuple[RecoveredLog, ...]:
        """Return the logs on the disk; each has a single span."""
        return tuple(
            RecoveredLog(
                log=LogId(topic_id, index),
                topic=name,
                directory=DIRECTORIES[one.is_in_second],
                start_offset=Offset(one.start),
                end_offset=Offset(one.end),
                high_watermark=Offset(one.committed),
                epochs=((Epoch(0), Offset(0)),),
                spans=(LogSpan(Offset(0), 0, 1),),
                size=SIZE * one.end,
            )
            for name, topic_id in self.ids.items()
            for index, one in self.partitions[name].items()
            if one.found
        )

    def image(self) -> MetadataImage:
        """Return the cluster as an image."""
        written: list[Record] = [*map(self._registration, (self.own, *self.others)), *self._entries]
        for name, topic_id in self.ids.items():
            written.append(records.TopicRecord(name=name, topic_id=topic_id))
            written += [_config(name, *each) for each in self._configs(name)]
            for index, one in self.partitions[name].items():
                written.append(self._record(topic_id, index, one))
        return apply_all(EMPTY_IMAGE, tuple(written))

    def _configs(self, name: str) -> list[tuple[str, str]]:
        found = [("min.insync.replicas", str(self.min_isr.get(name, 1)))]
        if name in self.stamped:
            found.append(("message.timestamp.type", "LogAppendTime"))
        policy = self.policies.get(name)
        return found if policy is None else [*found, ("cleanup.policy", policy)]

    def _registration(self, node: int) -> records.RegisterBrokerRecord:
        return records.RegisterBrokerRecord(
            broker_id=node,
            incarnation_id=Uuid(bytes([node + 1]) * 16),
            broker_epoch=_FIRST_EPOCH + node,
            end_points=tuple(
                records.BrokerEndpoint(
                    name=name, host=host(node, name), port=PORT + node, security_protocol=0
                )
                for name in self.listeners[node]
            ),
            features=tuple(
                records.BrokerFeature(name=name, min_supported_version=0, max_supported_version=1)
                for name in self.features[node]
            ),
            rack=self.racks[node],
            fenced=node in self.fenced,
            log_dirs=DIRECTORIES if node == self.own else (ELSEWHERE,),
        )

    def _record(self, topic_id: Uuid, index: int, one: DrawnPartition) -> records.PartitionRecord:
        return records.PartitionRecord(
            partition_id=index,
            topic_id=topic_id,
            replicas=one.replicas,
            isr=one.isr,
            leader=one.leader,
            leader_epoch=one.epoch,
            partition_epoch=0,
            directories=tuple(
                DIRECTORIES[one.is_in_second] if node == self.own else ELSEWHERE
                for node in one.replicas
            ),
        )


def host(node: int, listener: str) -> str:
    """Return the host of a listener of a broker."""
    return f"{listener.lower()}-{node}"


def _config(topic: str, name: str, value: str) -> records.ConfigRecord:
    return records.ConfigRecord(resource_type=2, resource_name=topic, name=name, value=value)
