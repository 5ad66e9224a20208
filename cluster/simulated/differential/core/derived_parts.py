"""Compare the indexes of an image with the entities from which the indexes are derived."""

from itertools import chain
from typing import Final

from kraftproof.cluster.simulated.differential.difference import same
from kraftproof.node.core.base.types import NO_NODE, NodeId
from kraftproof.node.core.metadata.image import MetadataImage, Partition

OTHER_NAMES: Final = ("__fuzz.a", "__fuzz_a", "__admin-0", "..admin-0", "other")
"""Names of topics that may exist, and names that collide with them."""


def compare_derived(image: MetadataImage) -> None:
    """Compare each index of an image with a pass over its entities.

    Raises:
        DifferenceError: an index has lost an entity, or has one too many.
    """
    partitions = sorted(
        chain.from_iterable(each.values() for each in image.partitions.values()),
        key=lambda one: (one.topic_id, one.index),
    )
    names = sorted(topic.name for topic in image.topics.values())
    same("the ids by name", [image.topics[image.topic_ids[name]].name for name in names], names)
    same("the number of names", len(image.topic_ids), len(names))
    for name in (*names, *OTHER_NAMES):
        alike = [one for one in names if one.replace(".", "_") == name.replace(".", "_")]
        same(f"{name} collides", image.collides(name), bool(alike) and name not in names)
    _compare_partitions(image, partitions)


def _compare_partitions(image: MetadataImage, partitions: list[Partition]) -> None:
    leaderless = [one for one in partitions if one.leader == NO_NODE]
    same("the partitions without a leader", image.without_leader(), leaderless)
    moving = [one for one in partitions if one.adding or one.removing]
    same("the partitions that move", image.reassigned(), moving)
    nodes = {*image.brokers, *chain.from_iterable(one.replicas for one in partitions), NodeId(99)}
    for node in sorted(nodes):
        members = [one for one in partitions if node in one.isr]
        same(f"the partitions with {node} in the ISR", image.in_isr(node), members)
        leads = any(one.leader == node for one in partitions)
        same(f"{node} leads a partition", image.leads_any(node), leads)
