"""Waits until a system says that its cluster is ready."""

from kraftproof.cluster.plugin import blamed, plugin, returned
from kraftproof.cluster.protocol import Cluster, ClusterError
from kraftproof.cluster.systems.system import System

PAUSE_NS = 50_000_000
LOOK_NS = 500_000_000
"""Time between two looks for nodes that have ended."""


async def wait_until_ready(cluster: Cluster, system: System, timeout_ns: int) -> None:
    """Wait until the system lacks nothing.

    A node that has ended does not come back: the wait is over soon after its end.

    Raises:
        ClusterError: it is not ready in time, or a node has ended; the system says what it lacks.
        PluginError: the system's own check fails.
    """
    deadline_ns = cluster.scope.now() + timeout_ns
    look_ns = cluster.scope.now()
    while (lacks := await lacks_of(cluster, system)) is not None:
        if cluster.scope.now() > deadline_ns:
            raise ClusterError(
                f"the system {system.name} is not ready after {timeout_ns // 10**9} s: {lacks}; "
                "look at the output of the nodes"
            )
        if cluster.scope.now() >= look_ns:
            look_ns = cluster.scope.now() + LOOK_NS
            if await _has_ended_node(cluster):
                raise ClusterError(f"the system {system.name} does not become ready: {lacks}")
        await cluster.scope.sleep(PAUSE_NS)


async def _has_ended_node(cluster: Cluster) -> bool:
    for node in cluster.nodes:
        if await cluster.process_id(node.node_id) is None:
            return True
    return False


async def lacks_of(cluster: Cluster, system: System) -> str | None:
    """Ask the system for the lack of its cluster; return None if the cluster is ready.

    Raises:
        PluginError: the system's own check fails.
    """
    culprit = plugin("system", system.name, system)
    with blamed(culprit, "lacks", ClusterError):
        lacks: object = await system.lacks(cluster)
    if lacks is None or isinstance(lacks, str):
        return lacks
    raise returned(culprit, "lacks", lacks, "a text or None")
