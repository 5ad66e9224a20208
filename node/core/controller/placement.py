"""Where new replicas go: leaders spread evenly, racks alternate, fenced brokers come last.

Deterministic for a given image and `random`. Not: Kafka's own placement to the letter.
"""

from collections.abc import Iterable
from itertools import zip_longest
from typing import TYPE_CHECKING

from kraftproof.node.core.base.types import NodeId
from kraftproof.node.core.metadata.image import BrokerRegistration, MetadataImage

if TYPE_CHECKING:
    from random import Random


def place(
    image: MetadataImage, partitions: int, factor: int, random: "Random"
) -> list[tuple[NodeId, ...]]:
    """The replicas of each partition, leader first.

    At least `factor` brokers must be registered, one of which may lead.
    """
    brokers = image.sorted_brokers()
    usable = _alternating((broker for broker in brokers if broker.may_lead), random)
    spare = _alternating((broker for broker in brokers if not broker.may_lead), random)
    assert usable, "no broker may lead"
    assert factor <= len(brokers), "too few brokers"
    first = random.randrange(len(usable))
    unfenced = min(factor, len(usable))
    return [
        (
            *_from_ring(usable, first + number, unfenced),
            *_from_ring(spare, first + number, factor - unfenced),
        )
        for number in range(partitions)
    ]


def _from_ring(ring: list[NodeId], start: int, count: int) -> list[NodeId]:
    return [ring[place % len(ring)] for place in range(start, start + count)]


def _alternating(brokers: Iterable[BrokerRegistration], random: "Random") -> list[NodeId]:
    """The brokers in an order in which neighbours stand in different racks where possible."""
    racks: dict[str, list[NodeId]] = {}
    for broker in brokers:
        racks.setdefault(broker.rack or "", []).append(broker.broker_id)
    columns = [racks[rack] for rack in sorted(racks)]
    random.shuffle(columns)
    for column in columns:
        random.shuffle(column)
    return [node for row in zip_longest(*columns) for node in row if node is not None]
