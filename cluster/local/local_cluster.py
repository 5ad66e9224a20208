"""A cluster of processes on loopback. It can kill, pause and restart; it can't cut links."""

from kraftproof.cluster.local.hosts import CAPABILITIES, LocalHosts
from kraftproof.cluster.protocol import ClusterOptions
from kraftproof.cluster.remote.host import Progress, silent
from kraftproof.cluster.remote.live_cluster import READY_TIMEOUT_NS, LiveCluster
from kraftproof.cluster.scope import Scope
from kraftproof.cluster.systems.system import System

__all__ = ("CAPABILITIES", "READY_TIMEOUT_NS", "LocalCluster")


class LocalCluster(LiveCluster):
    """The processes of one run."""

    def __init__(
        self,
        options: ClusterOptions,
        scope: Scope,
        system: System,
        progress: Progress = silent,
    ) -> None:
        super().__init__(options, scope, system, LocalHosts(options, progress))
