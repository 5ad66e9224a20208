"""The metadata as the specification sees it: brokers, topics, partitions, configurations, features.

An image is never changed: `fold.py` returns a new image, which shares what stayed the same.
"""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from kraftproof.checkers.kraft.specification.ids import Id
from kraftproof.checkers.kraft.specification.rows import PartitionChangeRecord
from kraftproof.checkers.kraft.specification.rows.feature_levels import Levels
from kraftproof.checkers.kraft.specification.rows.kept import NO_SECRETS, Secrets
from kraftproof.checkers.kraft.specification.rows.security import AccessControlEntryRecord

UNCHANGED_LEADER: Final = -2
TOPIC_RESOURCE: Final = 2
"""The resource type of a topic in a ConfigRecord."""
PartitionKey = tuple[Id, int]
"""A topic's id and the index of a partition."""


Entity = frozenset[tuple[str, str | None]]
"""The types of a client's entity with their names; None names the default of a type."""


class ContradictionError(ValueError):
    """A record contradicts the image before it."""


class Broker(Struct, frozen=True, kw_only=True, gc=False):
    """A registered broker."""

    broker_id: int
    epoch: int
    incarnation: Id
    rack: str | None
    fenced: bool
    is_leaving: bool
    """Whether a controlled shutdown has begun."""
    log_dirs: tuple[Id, ...]
    levels: Mapping[str, Levels] = {}
    """The levels of features that the broker supports."""

    @property
    def may_lead(self) -> bool:
        """Whether the broker may lead and be in sync (631-40, 631-61)."""
        return not self.fenced and not self.is_leaving

    @property
    def is_gone(self) -> bool:
        """Whether a controlled shutdown was granted, which frees the id (631-44)."""
        return self.fenced and self.is_leaving


class Partition(Struct, frozen=True, kw_only=True, gc=False):
    """A partition of a topic (631-20)."""

    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    leader: int
    leader_epoch: int
    partition_epoch: int
    removing: tuple[int, ...] = ()
    adding: tuple[int, ...] = ()
    recovery_state: int = 0
    """1 after an unclean election, until the leader has recovered."""
    directories: tuple[Id, ...] = ()
    """The log directory of each replica; empty before KIP-858."""

    def after(self, record: PartitionChangeRecord) -> "Partition":
        """Return the partition after a change.

        Each change raises the partition epoch by one, an election the leader epoch (KIP-497).
        """
        elects = record.leader != UNCHANGED_LEADER
        state = record.leader_recovery_state
        return Partition(
            replicas=_given(record.replicas, self.replicas),
            isr=_given(record.isr, self.isr),
            leader=record.leader if elects else self.leader,
            leader_epoch=self.leader_epoch + elects,
            partition_epoch=self.partition_epoch + 1,
            removing=_given(record.removing_replicas, self.removing),
            adding=_given(record.adding_replicas, self.adding),
            recovery_state=self.recovery_state if state < 0 else state,
            directories=self.directories if record.directories is None else record.directories,
        )


def _given(change: tuple[int, ...] | None, was: tuple[int, ...]) -> tuple[int, ...]:
    return was if change is None else change


class Topic(Struct, frozen=True, kw_only=True, gc=False):
    """A topic with its partitions by index."""

    name: str
    topic_id: Id
    partitions: Mapping[int, Partition]


class Image(Struct, frozen=True, kw_only=True):
    """The metadata up to an offset."""

    brokers: Mapping[int, Broker] = {}
    topics: Mapping[Id, Topic] = {}
    names: Mapping[str, Id] = {}
    configs: Mapping[str, Mapping[str, str]] = {}
    """The configurations of each topic, by the topic's name."""
    features: Mapping[str, int] = {}
    other_configs: Mapping[tuple[int, str], Mapping[str, str]] = {}
    """The configurations of other resources, by resource type and name."""
    controllers: Mapping[int, Mapping[str, Levels]] = {}
    """The levels of features that the registered controllers support, by their ids (KIP-919)."""
    next_producer_id: int = 0
    acls: Mapping[Id, AccessControlEntryRecord] = {}
    """The access control entries by id."""
    quotas: Mapping[Entity, Mapping[str, float]] = {}
    """The quotas of each entity by their keys."""
    secrets: Secrets = NO_SECRETS
    before: "Image | None" = None
    """The image before the open metadata transaction (KIP-868)."""

    def configs_of(self, kind: int, name: str) -> Mapping[str, str]:
        """Return the configurations of a resource."""
        if kind == TOPIC_RESOURCE:
            return self.configs.get(name, {})
        return self.other_configs.get((kind, name), {})

    @property
    def has_mutation_quota(self) -> bool:
        """Whether a quota of any client may refuse new and deleted partitions (KIP-599)."""
        return any("controller_mutation_rate" in values for values in self.quotas.values())

    def topic_named(self, name: str) -> Topic | None:
        """Return the topic with a name, if any."""
        topic_id = self.names.get(name)
        return None if topic_id is None else self.topics[topic_id]

    def may_lead(self, broker_id: int) -> bool:
        """Return whether a broker is registered, unfenced and not shutting down."""
        broker = self.brokers.get(broker_id)
        return broker is not None and broker.may_lead

    def leads_any(self, broker_id: int) -> bool:
        """Return whether a broker leads a partition."""
        return any(
            partition.leader == broker_id
            for topic in self.topics.values()
            for partition in topic.partitions.values()
        )


EMPTY_IMAGE = Image()
