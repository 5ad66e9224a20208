"""The cluster's metadata as one immutable value (KIP-631 "Record Formats", "Membership States").

Entities are frozen structs in persistent maps, so a new image shares all that did not change with
the old one, and keeping an old one costs a reference. Beside the entities an image carries what
`apply` derives from them: topics by name, names that may collide, partitions by broker, and a
digest. Not: how records
change an image (apply.py), nor which image is committed (committed.py).

Simplifications: eligible leader replicas (KIP-966) and cordoned directories are kept, and have no
effect yet; entities that this node replays but does not use yet (access control entries,
credentials, tokens, quotas, controller registrations) are kept as their last record. Tagged fields
that are not known stay with the entity whose whole record had them; those of a change are dropped,
since nothing says how they change the entity.
"""

from typing import Final

from immutables import Map
from msgspec import Struct

from kraftproof.node.core.base.types import NO_NODE, Epoch, NodeId, Offset
from kraftproof.node.wire.messages.metadata import BrokerEndpoint, BrokerFeature
from kraftproof.node.wire.types import Uuid
from kraftproof.node.wire.unknown_tags import UnknownTags

PartitionKey = tuple[Uuid, int]
"""A topic's id and a partition's index in it."""
Marked = Map[PartitionKey, int]
"""Partitions, PARTITIONS_A_MARK to an entry: by the number of the entry within its topic, a bit
for each. So a topic of many partitions has few entries that go with it."""
PARTITIONS_A_MARK: Final = 256
OtherKey = tuple[str | int | Uuid | None, ...]


class BrokerRegistration(Struct, frozen=True, kw_only=True, array_like=True):
    """A registered broker: fenced, or active (631-38)."""

    broker_id: NodeId
    epoch: Offset
    """The offset of the record that registered it (631-42)."""
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
        """Whether it may be given leaderships and enter an ISR (631-61)."""
        return not self.fenced and not self.in_controlled_shutdown


class Topic(Struct, frozen=True, kw_only=True, array_like=True):
    """A topic's name and its unique id (631-67)."""

    name: str
    topic_id: Uuid
    unknown_tags: UnknownTags = ()


class Partition(Struct, frozen=True, kw_only=True, array_like=True):
    """A partition's replicas and who leads them (631-20)."""

    topic_id: Uuid
    index: int
    replicas: tuple[NodeId, ...]
    """In preferred order."""
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
    def key(self) -> PartitionKey:
        """What identifies it in the image's indexes."""
        return (self.topic_id, self.index)


class BrokerIndexes(Struct, frozen=True, kw_only=True):
    """Partitions by broker; a broker without any has no entry."""

    replicas: Map[NodeId, Marked] = Map()
    isr: Map[NodeId, Marked] = Map()
    leaders: Map[NodeId, Marked] = Map()


class MetadataImage(Struct, frozen=True, kw_only=True):
    """Everything the log says, up to some offset. Sort whatever you iterate over."""

    brokers: Map[NodeId, BrokerRegistration] = Map()
    topics: Map[Uuid, Topic] = Map()
    partitions: Map[Uuid, Map[int, Partition]] = Map()
    features: Map[str, int] = Map()
    configs: Map[tuple[int, str], Map[str, str]] = Map()
    """By resource type and name (631-21)."""
    others: Map[OtherKey, Struct] = Map()
    topic_ids: Map[str, Uuid] = Map()
    unified_names: Map[str, int] = Map()
    """How many topics have each name once its dots are underscores; names without both left out."""
    by_broker: BrokerIndexes = BrokerIndexes()
    digest: int = 0
    before: "MetadataImage | None" = None
    """While a metadata transaction is open: the image before it, which is what may be shown."""

    @property
    def shown(self) -> "MetadataImage":
        """The image that clients, brokers and snapshots may see (KIP-868)."""
        return self if self.before is None else self.before

    def sorted_brokers(self) -> list[BrokerRegistration]:
        """All registrations, by id."""
        return [self.brokers[broker_id] for broker_id in sorted(self.brokers)]

    def sorted_topics(self) -> list[Topic]:
        """All topics, by name."""
        return [self.topics[self.topic_ids[name]] for name in sorted(self.topic_ids)]

    def partitions_of(self, topic_id: Uuid) -> list[Partition]:
        """A topic's partitions, by index."""
        partitions = self.partitions.get(topic_id, Map())
        return [partitions[index] for index in sorted(partitions)]

    def topic_named(self, name: str) -> Topic | None:
        """The topic of this name."""
        topic_id = self.topic_ids.get(name)
        return None if topic_id is None else self.topics[topic_id]

    def collides(self, name: str) -> bool:
        """Whether a topic exists whose name differs from this one in dots and underscores only."""
        return unified(name) in self.unified_names and name not in self.topic_ids

    def in_isr(self, broker_id: NodeId) -> list[Partition]:
        """The partitions whose ISR has this broker, in a fixed order."""
        marked = self.by_broker.isr.get(broker_id, Map())
        found: list[Partition] = []
        for topic_id, entry in sorted(marked):
            partitions, bits = self.partitions[topic_id], marked[topic_id, entry]
            first = entry * PARTITIONS_A_MARK
            indexes = range(first, first + bits.bit_length())
            found += [partitions[index] for bit, index in enumerate(indexes) if bits >> bit & 1]
        return found

    def leads_any(self, broker_id: NodeId) -> bool:
        """Whether this broker leads a partition."""
        return broker_id in self.by_broker.leaders


def unified(name: str) -> str:
    """A topic's name as metrics have it, in which dots are underscores."""
    return name.replace(".", "_")


EMPTY_IMAGE = MetadataImage()
