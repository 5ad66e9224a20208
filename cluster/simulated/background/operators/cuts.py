"""Cut a node off from others in the background of a run, and heal the cut."""

from collections.abc import Iterable, Sequence

from kraftproof.cluster.protocol import Link
from kraftproof.cluster.simulated.world import World


def links_between(node_id: int, others: Iterable[int]) -> list[Link]:
    """Return the links between a node and others, both directions of each."""
    return [
        link
        for other in others
        if other != node_id
        for link in (Link(node_id, other), Link(other, node_id))
    ]


def cut_links(world: World, links: Sequence[Link]) -> None:
    """Cut links."""
    for link in links:
        world.links.cut(link)


def heal_links(world: World, links: Sequence[Link]) -> None:
    """Heal a cut before the final phase, which heals every link and cuts off missing nodes."""
    if not world.is_in_final_phase:
        for link in links:
            world.links.heal(link)
