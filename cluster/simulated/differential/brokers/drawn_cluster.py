"""Draw a small cluster that changes step by step, as plain values and as an image.

Only what changes gets a new object in the image, as when records are applied.
"""

from dataclasses import dataclass, field, replace
from random import Random
from typing import Final

from immutables import Map

from kraftproof.node.core.base.directory_ids import LOST, MIGRATING, UNASSIGNED
from kraftproof.node.core.base.types import NO_NODE, Epoch, NodeId, Offset
from kraftproof.node.core.metadata.image import (
    BrokerRegistration,
    MetadataImage,
    Partition,
    Topic,
)
from kraftproof.node.wire.records.metadata import BrokerEndpoint
from kraftproof.node.wire.types import ZERO_UUID, Uuid

BROKERS: Final = (1, 2, 3, 4)
NAMES: Final = ("__consumer_offsets", "a", "a.b", "b", "Z")
MOST_PARTITIONS: Final = 4
LISTENERS: Final = ("PLAINTEXT", "OTHER")
PORT: Final = 9092
FIRST, SECOND = Uuid(b"\1" * 16), Uuid(b"\2" * 16)
PLACES: Final = (MIGRATING, UNASSIGNED, LOST, FIRST, FIRST, SECOND)


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnBroker:
    """A registered broker; its host changes with each registration."""

    registration: int
    fenced: bool
    rack: str | None
    listeners: tuple[str, ...]
    has_both: bool
    """Whether both directories work."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnPartition:
    """The assignment of a partition."""

    replicas: tuple[int, ...]
    isr: tuple[int, ...]
    leader: int
    epoch: int
    eligible: tuple[int, ...]
    last_known: tuple[int, ...]
    places: tuple[Uuid, ...]
    """The directory of each replica, or none for all."""


@dataclass(slots=True, kw_only=True)
class DrawnCluster:
    """The brokers, and the topics with their partitions."""

    brokers: dict[int, DrawnBroker] = field(default_factory=dict)
    topics: dict[str, dict[int, DrawnPartition]] = field(default_factory=dict)
    ids: dict[str, Uuid] = field(default_factory=dict)
    changes: int = 0
    _registrations: Map[NodeId, BrokerRegistration] = field(default_factory=Map)
    _partitions: dict[str, Map[int, Partition]] = field(default_factory=dict)

    def change(self, random: Random) -> None:
        """Change a broker, a topic, or a partition."""
        self.changes += 1
        kind = random.random()
        if kind < 0.5:
            self._change_broker(random)
        elif kind < 0.7 or not self.topics:
            self._change_topic(random)
        else:
            self._change_partition(random)

    def _change_broker(self, random: Random) -> None:
        number = random.choice(BROKERS)
        broker = self.brokers.get(number)
        if broker is None or random.random() < 0.2:
            self.brokers[number] = DrawnBroker(
                registration=self.changes,
                fenced=random.random() < 0.3,
                rack=random.choice((None, "r")),
                listeners=LISTENERS[: random.choice((1, 2, 2))],
                has_both=random.random() < 0.6,
            )
        elif random.random() < 0.2:
            del self.brokers[number]
        else:
            self.brokers[number] = replace(broker, fenced=not broker.fenced)
        self._registrations = Map({NodeId(one): self._registration(one) for one in self.brokers})

    def _change_topic(self, random: Random) -> None:
        name = random.choice(NAMES)
        if name in self.topics:
            del self.topics[name], self.ids[name], self._partitions[name]
            return
        self.ids[name] = Uuid(random.randbytes(16))
        self.topics[name] = {
            index: _draw_partition(random, 0) for index in range(random.randint(1, MOST_PARTITIONS))
        }
        self._build(name)

    def _change_partition(self, random: Random) -> None:
        name = random.choice(sorted(self.topics))
        index = random.choice(sorted(self.topics[name]))
        self.topics[name][index] = _draw_partition(random, self.changes)
        self._build(name)

    def _build(self, name: str) -> None:
        self._partitions[name] = Map(
            {index: _partition(self.ids[name], index, one) for index, one in self._of(name)}
        )

    def _of(self, name: str) -> list[tuple[int, DrawnPartition]]:
        return sorted(self.topics[name].items())

    @property
    def active(self) -> list[int]:
        """Return the unfenced brokers, in order."""
        return [number for number in sorted(self.brokers) if not self.brokers[number].fenced]

    def has_lost(self, partition: DrawnPartition, number: int) -> bool:
        """Return whether the directory of an active broker's replica has failed."""
        places = dict(zip(partition.replicas, partition.places, strict=False))
        place = places.get(number)
        return place == LOST or (place == SECOND and not self.brokers[number].has_both)

    def host(self, number: int, listener: str) -> str:
        """Return the host of a broker's listener."""
        return f"{listener.lower()}-{number}-{self.brokers[number].registration}"

    def image(self) -> MetadataImage:
        """Return the cluster as an image."""
        topics = {self.ids[name]: name for name in self.topics}
        return MetadataImage(
            brokers=self._registrations,
            topics=Map({key: Topic(name=name, topic_id=key) for key, name in topics.items()}),
            partitions=Map({key: self._partitions[name] for key, name in topics.items()}),
            topic_ids=Map(self.ids),
        )

    def _registration(self, number: int) -> BrokerRegistration:
        broker = self.brokers[number]
        return BrokerRegistration(
            broker_id=NodeId(number),
            epoch=Offset(broker.registration),
            incarnation=ZERO_UUID,
            endpoints=tuple(
                BrokerEndpoint(
                    name=name, host=self.host(number, name), port=PORT + number, security_protocol=0
                )
                for name in broker.listeners
            ),
            features=(),
            rack=broker.rack,
            fenced=broker.fenced,
            log_dirs=(FIRST, SECOND) if broker.has_both else (FIRST,),
            # It serves until it is fenced, so that no answer differs.
            in_controlled_shutdown=broker.registration % 3 == 0,
        )


def _draw_partition(random: Random, epoch: int) -> DrawnPartition:
    replicas = tuple(random.sample(BROKERS, random.randint(1, 3)))
    isr = tuple(random.sample(replicas, random.randint(1, len(replicas))))
    return DrawnPartition(
        replicas=replicas,
        isr=isr,
        leader=random.choice((*isr, NO_NODE)),
        epoch=epoch,
        eligible=tuple(each for each in replicas if each not in isr),
        last_known=isr[:1] if random.random() < 0.2 else (),
        places=tuple(random.choices(PLACES, k=len(replicas))) if random.random() < 0.7 else (),
    )


def _nodes(numbers: tuple[int, ...]) -> tuple[NodeId, ...]:
    return tuple(map(NodeId, numbers))


def _partition(topic_id: Uuid, index: int, drawn: DrawnPartition) -> Partition:
    return Partition(
        topic_id=topic_id,
        index=index,
        replicas=_nodes(drawn.replicas),
        isr=_nodes(drawn.isr),
        leader=NodeId(drawn.leader),
        leader_epoch=Epoch(drawn.epoch),
        directories=drawn.places,
        eligible_leader_replicas=_nodes(drawn.eligible),
        last_known_elr=_nodes(drawn.last_known),
    )
