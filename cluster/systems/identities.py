"""Compare the names that nodes give to their cluster: a node of another cluster spoils a run."""

from typing import Final

from kraftproof.cluster.plugin import blamed, plugin, returned
from kraftproof.cluster.protocol import Cluster, ClusterError
from kraftproof.cluster.systems.system import System

ASK_NS: Final = 60 * 1_000_000_000
"""Time in which a system must name the cluster of a node."""


async def several_clusters(cluster: Cluster, system: System) -> str | None:
    """Ask each node for the name of its cluster; return a sentence if the names differ.

    Raises:
        PluginError: the system fails to ask.
    """
    names: dict[str, int] = {}
    for node in cluster.nodes:
        culprit = plugin("system", system.name, system)
        with blamed(culprit, "identity", ClusterError):
            asking = system.identity(cluster, node.node_id)
            name: object = await cluster.scope.within(asking, ASK_NS)
        if name is not None and not isinstance(name, str):
            raise returned(culprit, "identity", name, "a text or None")
        if name is not None:
            names.setdefault(name, node.node_id)
    if len(names) < 2:
        return None
    answered = ", ".join(f"node {node_id} to {name}" for name, node_id in names.items())
    return f"contaminated: the nodes belong to {len(names)} clusters: {answered}"
