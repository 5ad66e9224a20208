"""Represent the cluster's metadata as an immutable value (KIP-631 "Record Formats").

Entities are frozen structs in persistent maps: a new image shares unchanged parts with the old
image, and an old image costs only a reference. An image also carries derived parts: topics by name,
names that can collide, partitions by broker, and a digest. See apply.py for the effect of records,
and committed.py for the committed image.

Simplifications: eligible leader replicas (KIP-966) and cordoned directories are stored without
effect. Entities that the node replays without use (access control entries, credentials, tokens,
quotas, controller registrations) are stored as their last record. Unknown tagged fields of a whole
record stay with the entity; unknown fields of a change are dropped, since their effect on the
entity is unknown.
"""

from operator import attrgetter
from typing import Final

from immutables import Map
from msgspec import Struct

from kraftproof.node.core.base.types import NO_NODE, Epoch, NodeId, Offset
from kraftproof.node.core.metadata.acl_index import NO_ACLS, AclIndex
from kraftproof.node.core.metadata.quotas import NO_QUOTAS, Quotas
from kraftproof.node.wire.records.metadata import BrokerEndpoint, BrokerFeature, ProducerIdsRecord
from kraftproof.node.wire.types import Uuid
from kraftproof.node.wire.unknown_tags import UnknownTags

PartitionKey = tuple[Uuid, int]
"""The id of a topic and the index of a partition or entry."""
Marked = Map[PartitionKey, int]
"""Sets of partitions as bits: an entry holds the bits of PARTITIONS_A_MARK partitions, so a topic
with many partitions has few entries."""
PARTITIONS_A_MARK: Final = 256
OtherKey = tuple[str | int | Uuid | None, ...]
PRODUCER_IDS: Final[OtherKey] = ("producer ids",)
"""The key of the last ProducerIdsRecord."""


class BrokerRegistration(Struct, frozen=True, kw_only=True, array_like=True):
    """A registered broker, fenced or active (631-38)."""

    broker_id: NodeId
    epoch: Offset
    """The offset of the registration record (631-42)."""
    incarnation: Uuid
    endpoints: tuple[BrokerEndpoint, ...]
    features: tuple[BrokerFeature, ...]
    rack: str | None
    fenced: bool
    in_controlled_shutdown: bool
    log_dirs: tuple[Uuid, ...] = ()
    cordoned_log_dirs: tuple[Uuid, ...] | None = None
    unknown_tags: UnknownTags = ()

    @property
    def may_lead(self) -> bool:
        """Return whether the broker may get leaderships and enter an ISR (631-61)."""
        return not self.fenced and not self.in_controlled_shutdown


class Topic(Struct, frozen=True, kw_only=True, array_like=True):
    """The name and the unique id of a topic (631-67)."""

    name: str
    topic_id: Uuid
    unknown_tags: UnknownTags = ()


class Partition(Struct, frozen=True, kw_only=True, array_like=True):
    """The replicas and the leader of a partition (631-20)."""

    topic_id: Uuid
    index: int
    replicas: tuple[NodeId, ...]
    """The replicas in preferred order."""
    isr: tuple[NodeId, ...]
    removing: tuple[NodeId, ...] = ()
    adding: tuple[NodeId, ...] = ()
    leader: NodeId = NO_NODE
    leader_epoch: Epoch = Epoch(0)
    partition_epoch: int = 0
    recovery_state: int = 0
    directories: tuple[Uuid, ...] = ()
    eligible_leader_replicas: tuple[NodeId, ...] = ()
    last_known_elr: tuple[NodeId, ...] = ()
    unknown_tags: UnknownTags = ()

    @property
    def is_moving(self) -> bool:
        """Return whether a reassignment is under way (631-73)."""
        return bool(self.adding or self.removing)

    @property
    def key(self) -> PartitionKey:
        """Return the partition's key in the indexes."""
        return (self.topic_id, self.index)


class BrokerIndexes(Struct, frozen=True, kw_only=True):
    """The partitions of each broker; a broker without partitions has no entry."""

    replicas: Map[NodeId, Marked] = Map()
    isr: Map[NodeId, Marked] = Map()
    leaders: Map[NodeId, Marked] = Map()
    """The partitions without a leader are under NO_NODE."""
    moving: Map[NodeId, Marked] = Map()
    """The partitions with a reassignment under way, under NO_NODE."""


_NO_PARTITIONS: Final[Map[int, Partition]] = Map()
_BY_INDEX: Final = attrgetter("index")


class MetadataImage(Struct, frozen=True, kw_only=True):
    """The metadata up to an offset; iterate in sorted order only, for determinism."""

    brokers: Map[NodeId, BrokerRegistration] = Map()
    topics: Map[Uuid, Topic] = Map()
    partitions: Map[Uuid, Map[int, Partition]] = Map()
    features: Map[str, int] = Map()
    configs: Map[tuple[int, str], Map[str, str]] = Map()
    """The configurations by resource type and name (631-21)."""
    others: Map[OtherKey, Struct] = Map()
    topic_ids: Map[str, Uuid] = Map()
    unified_names: Map[str, int] = Map()
    """Number of topics for each name with dots replaced by underscores; other names are left
    out."""
    by_broker: BrokerIndexes = BrokerIndexes()
    acls: AclIndex = NO_ACLS
    """The access control entries among `others`, by resource (631-23)."""
    quotas: Quotas = NO_QUOTAS
    """The quotas of clients among `others`, by entity (631-88)."""
    digest: int = 0
    before: "MetadataImage | None" = None
    """The image before the open metadata transaction, which stays the visible image."""

    @property
    def shown(self) -> "MetadataImage":
        """Return the image that clients, brokers and snapshots may see (KIP-868)."""
        return self if self.before is None else self.before

    def sorted_brokers(self) -> list[BrokerRegistration]:
        """Return the registrations in order of ids."""
        return [self.brokers[broker_id] for broker_id in sorted(self.brokers)]

    def sorted_topics(self) -> list[Topic]:
        """Return the topics in order of names."""
        return [self.topics[self.topic_ids[name]] for name in sorted(self.topic_ids)]

    def partitions_of(self, topic_id: Uuid) -> list[Partition]:
        """Return a topic's partitions in order of indexes."""
        return sorted(self.partitions.get(topic_id, _NO_PARTITIONS).values(), key=_BY_INDEX)

    def topic_named(self, name: str) -> Topic | None:
        """Return the topic with the name, if any."""
        topic_id = self.topic_ids.get(name)
        return None if topic_id is None else self.topics[topic_id]

    def collides(self, name: str) -> bool:
        """Return whether an existing topic's name differs only in dots and underscores."""
        return unified(name) in self.unified_names and name not in self.topic_ids

    def in_isr(self, broker_id: NodeId) -> list[Partition]:
        """Return the partitions whose ISR contains the broker, in a fixed order."""
        return self._marked(self.by_broker.isr.get(broker_id, Map()))

    def without_leader(self) -> list[Partition]:
        """Return the partitions without a leader, in a fixed order."""
        return self._marked(self.by_broker.leaders.get(NO_NODE, Map()))

    def reassigned(self) -> list[Partition]:
        """Return the partitions with a reassignment under way, in a fixed order."""
        return self._marked(self.by_broker.moving.get(NO_NODE, Map()))

    def _marked(self, marked: Marked) -> list[Partition]:
        found: list[Partition] = []
        for key in sorted(marked):
            topic_id, entry = key
            partitions, bits = self.partitions[topic_id], marked[key]
            before_first = entry * PARTITIONS_A_MARK - 1
            while bits:
                lowest = bits & -bits
                found.append(partitions[before_first + lowest.bit_length()])
                bits ^= lowest
        return found

    def may_lead(self, broker_id: NodeId) -> bool:
        """Return whether the broker is registered, unfenced and not shutting down."""
        broker = self.brokers.get(broker_id)
        return broker is not None and broker.may_lead

    @property
    def next_producer_id(self) -> int:
        """Return the first producer id that no broker has got."""
        kept = self.others.get(PRODUCER_IDS)
        return kept.next_producer_id if isinstance(kept, ProducerIdsRecord) else 0

    def leads_any(self, broker_id: NodeId) -> bool:
        """Return whether the broker leads a partition."""
        return broker_id in self.by_broker.leaders


def unified(name: str) -> str:
    """Return a topic's name as used in metrics, with underscores for dots."""
    return name.replace(".", "_")


EMPTY_IMAGE = MetadataImage()
