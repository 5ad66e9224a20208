"""Waits until a system says that its cluster is ready."""

from kraftproof.cluster.plugin import blamed, plugin, returned
from kraftproof.cluster.protocol import Cluster, ClusterError
from kraftproof.cluster.systems.system import System

PAUSE_NS = 50_000_000


async def wait_until_ready(cluster: Cluster, system: System, timeout_ns: int) -> None:
    """Wait until the system lacks nothing.

    Raises:
        ClusterError: it is not ready in time; the system says what it lacks.
        PluginError: the system's own check fails.
    """
    deadline_ns = cluster.scope.now() + timeout_ns
    while (lacks := await lacks_of(cluster, system)) is not None:
        if cluster.scope.now() > deadline_ns:
            raise ClusterError(
                f"the system {system.name} is not ready after {timeout_ns // 10**9} s: {lacks}; "
                "look at the output of the nodes"
            )
        await cluster.scope.sleep(PAUSE_NS)


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
