"""Place new replicas: leaders spread evenly, racks alternate, fenced brokers come last.

The placement is deterministic for an image and `random`; the order differs from Kafka's.
"""

from collections import Counter
from collections.abc import Iterable
from itertools import zip_longest
from typing import TYPE_CHECKING

from kraftproof.node.core.base.types import NodeId
from kraftproof.node.core.metadata.default_directory import default_directory
from kraftproof.node.core.metadata.image import BrokerRegistration, MetadataImage
from kraftproof.node.core.metadata.version import DIRECTORIES_FROM, METADATA_VERSION
from kraftproof.node.wire.types import Uuid

if TYPE_CHECKING:
    from random import Random


class Placement:
    """The brokers of an image, on which the topics of a request are placed."""

    __slots__ = (
        "_directories",
        "_has_racks",
        "_image",
        "_rack_of",
        "_spare",
        "_usable",
        "active",
        "registered",
    )

    def __init__(self, image: MetadataImage) -> None:
        self._image = image
        brokers = image.sorted_brokers()
        self.registered = frozenset(image.brokers)
        """The ids of all brokers."""
        self.active = frozenset(broker.broker_id for broker in brokers if broker.may_lead)
        """The ids of brokers that may lead and be in the first ISR (631-40)."""
        self._rack_of = {broker.broker_id: broker.rack or "" for broker in brokers}
        self._has_racks = len(set(self._rack_of.values())) > 1
        self._usable = _racks(broker for broker in brokers if broker.may_lead)
        self._spare = _racks(broker for broker in brokers if not broker.may_lead)
        self._directories: dict[tuple[NodeId, ...], tuple[Uuid, ...]] = {}
        """By replicas: a request may place thousands of partitions on a few sets of brokers."""

    def directories(self, replicas: tuple[NodeId, ...]) -> tuple[Uuid, ...]:
        """Return the log directory of each new replica; none before KIP-858."""
        if self._image.features.get(METADATA_VERSION, 0) < DIRECTORIES_FROM:
            return ()
        known = self._directories.get(replicas)
        if known is None:
            known = tuple(default_directory(self._image, node) for node in replicas)
            self._directories[replicas] = known
        return known

    def place(self, partitions: int, factor: int, random: "Random") -> list[tuple[NodeId, ...]]:
        """Return the replicas of each partition, leader first.

        At least `factor` brokers must be registered, and at least a single broker must be able to
        lead.
        """
        usable, spare = _alternating(self._usable, random), _alternating(self._spare, random)
        assert usable, "no broker may lead"
        assert factor <= len(self.registered), "too few brokers"
        first = random.randrange(len(usable))
        unfenced = min(factor, len(usable))
        active = self._spreads(usable, first, unfenced, partitions)
        others = self._spreads(spare, first, factor - unfenced, partitions)
        return [
            (*active[index % len(active)], *others[index % len(others)])
            for index in range(partitions)
        ]

    def _spreads(
        self, ring: tuple[NodeId, ...], first: int, count: int, partitions: int
    ) -> list[tuple[NodeId, ...]]:
        """Return the brokers of a ring for each partition until they repeat."""
        size = len(ring)
        if not size or not count:
            return [()]
        begins = range(first, first + min(partitions, size))
        return [self._spread(ring, begin % size, count) for begin in begins]

    def _spread(self, ring: tuple[NodeId, ...], begin: int, count: int) -> tuple[NodeId, ...]:
        """Return brokers of a ring from a place on, one of each rack before a second of any."""
        turned = ring[begin:] + ring[:begin]
        if not self._has_racks:
            return turned[:count]
        seen: Counter[str] = Counter()
        rounds: list[int] = []
        for broker_id in turned:
            rack = self._rack_of[broker_id]
            rounds.append(seen[rack])
            seen[rack] += 1
        order = sorted(range(len(turned)), key=rounds.__getitem__)
        return tuple(turned[place] for place in order[:count])


def _racks(brokers: Iterable[BrokerRegistration]) -> list[list[NodeId]]:
    """Return the brokers' ids grouped by rack."""
    racks: dict[str, list[NodeId]] = {}
    for broker in brokers:
        racks.setdefault(broker.rack or "", []).append(broker.broker_id)
    return [racks[rack] for rack in sorted(racks)]


def _alternating(racks: list[list[NodeId]], random: "Random") -> tuple[NodeId, ...]:
    """Return the brokers in an order that alternates racks where possible."""
    if not racks:
        return ()
    columns = [list(rack) for rack in racks]
    if len(columns) == 1:
        random.shuffle(columns[0])
        return tuple(columns[0])
    random.shuffle(columns)
    for column in columns:
        random.shuffle(column)
    return tuple(node for row in zip_longest(*columns) for node in row if node is not None)
