"""Waits until a system says that its cluster is ready."""

from collections.abc import Callable

from kraftproof.cluster.plugin import blamed, plugin, returned
from kraftproof.cluster.protocol import Cluster, ClusterError
from kraftproof.cluster.systems.system import System

PAUSE_NS = 50_000_000
LACKS_NS = 120_000_000_000
"""Time in which a system must say what its cluster lacks."""


def silent(lack: str) -> None:
    """Take a lack that nobody reads."""
    del lack


async def wait_until_ready(
    cluster: Cluster, system: System, timeout_ns: int, note: Callable[[str], None] = silent
) -> None:
    """Wait until the system lacks nothing.

    Args:
        cluster: The cluster.
        system: Its system.
        timeout_ns: The longest wait.
        note: Takes each lack, for a caller that ends the wait.

    Raises:
        ClusterError: it is not ready in time; the system says what it lacks.
        PluginError: the system's own check fails.
    """
    deadline_ns = cluster.scope.now() + timeout_ns
    note("")
    while (lacks := await lacks_of(cluster, system)) is not None:
        note(lacks)
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
        lacks: object = await cluster.scope.within(system.lacks(cluster), LACKS_NS)
    if lacks is None or isinstance(lacks, str):
        return lacks
    raise returned(culprit, "lacks", lacks, "a text or None")
