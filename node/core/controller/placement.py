"""Place new replicas: leaders spread evenly, racks alternate, fenced brokers come last.

The placement is deterministic for an image and `random`; the order differs from Kafka's.
"""

from collections.abc import Iterable
from itertools import zip_longest
from typing import TYPE_CHECKING

from kraftproof.node.core.base.types import NodeId
from kraftproof.node.core.metadata.image import BrokerRegistration, MetadataImage

if TYPE_CHECKING:
    from random import Random


class Placement:
    """The brokers of an image, on which the topics of a request are placed."""

    __slots__ = ("_spare", "_usable", "active", "registered")

    def __init__(self, image: MetadataImage) -> None:
        brokers = image.sorted_brokers()
        self.registered = frozenset(image.brokers)
        """The ids of all brokers."""
        self.active = frozenset(broker.broker_id for broker in brokers if broker.may_lead)
        """The ids of brokers that may lead and be in the first ISR (631-40)."""
        self._usable = _racks(broker for broker in brokers if broker.may_lead)
        self._spare = _racks(broker for broker in brokers if not broker.may_lead)

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
        return [
            (
                *_from_ring(usable, first + number, unfenced),
                *_from_ring(spare, first + number, factor - unfenced),
            )
            for number in range(partitions)
        ]


def _from_ring(ring: tuple[NodeId, ...], start: int, count: int) -> tuple[NodeId, ...]:
    if count == 0:
        return ()
    begin = start % len(ring)
    end = begin + count
    return ring[begin:end] if end <= len(ring) else (*ring[begin:], *ring[: end - len(ring)])


def _racks(brokers: Iterable[BrokerRegistration]) -> list[list[NodeId]]:
    """Return the brokers' ids grouped by rack."""
    racks: dict[str, list[NodeId]] = {}
    for broker in brokers:
        racks.setdefault(broker.rack or "", []).append(broker.broker_id)
    return [racks[rack] for rack in sorted(racks)]


def _alternating(racks: list[list[NodeId]], random: "Random") -> tuple[NodeId, ...]:
    """Return the brokers in an order that alternates racks where possible."""
    columns = [list(rack) for rack in racks]
    random.shuffle(columns)
    for column in columns:
        random.shuffle(column)
    if len(columns) == 1:
        return tuple(columns[0])
    return tuple(node for row in zip_longest(*columns) for node in row if node is not None)
