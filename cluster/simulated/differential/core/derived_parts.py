"""Compare the indexes of an image with the entities from which the indexes are derived."""

from collections.abc import Iterable
from itertools import chain
from typing import Final

from kraftproof.cluster.simulated.differential.difference import same
from kraftproof.node.core.base.types import NO_NODE, NodeId
from kraftproof.node.core.metadata.image import MetadataImage, Partition
from kraftproof.node.wire.records.metadata import AccessControlEntryRecord, ClientQuotaRecord

OTHER_NAMES: Final = ("__fuzz.a", "__fuzz_a", "__admin-0", "..admin-0", "other")
"""Names of topics that may exist, and names that collide with them."""
WILDCARD: Final = "*"
PREFIXED = 4


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
    _compare_entries(image)
    _compare_quotas(image)


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


def _compare_entries(image: MetadataImage) -> None:
    """Compare the entries of each resource that an entry names, and of longer and shorter names."""
    kept = [one for one in image.others.values() if isinstance(one, AccessControlEntryRecord)]
    same("the entries", _ids(image.acls.all_entries()), _ids(kept))
    resources = {(one.resource_type, one.resource_name) for one in kept}
    for kind, named in sorted(resources):
        for name in (named, f"{named}-1", named[:-1]):
            applying = [
                one
                for one in kept
                if one.resource_type == kind
                and (
                    name.startswith(one.resource_name)
                    if one.pattern_type == PREFIXED
                    else one.resource_name in {name, WILDCARD}
                )
            ]
            found = image.acls.entries_for(kind, name)
            same(f"the entries of resource {name} of kind {kind}", _ids(found), _ids(applying))


def _ids(entries: Iterable[AccessControlEntryRecord]) -> list[str]:
    return sorted(one.id.hex() for one in entries)


def _compare_quotas(image: MetadataImage) -> None:
    expected: dict[frozenset[tuple[str, str | None]], dict[str, float]] = {}
    for one in image.others.values():
        if isinstance(one, ClientQuotaRecord):
            entity = frozenset((part.entity_type, part.entity_name) for part in one.entity)
            expected.setdefault(entity, {})[one.key] = one.value
    found = {frozenset(entity): dict(values) for entity, values in image.quotas.by_entity.items()}
    same("the quotas by entity", found, expected)
