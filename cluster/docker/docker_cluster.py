"""A cluster of containers: kill, pause, restart, partitions and clocks, all of real processes."""

from collections.abc import Mapping

from kraftproof.cluster.docker.capabilities import CAPABILITIES
from kraftproof.cluster.docker.hosts import DockerHosts
from kraftproof.cluster.protocol import ClusterOptions
from kraftproof.cluster.remote.host import Progress, silent
from kraftproof.cluster.remote.live_cluster import LiveCluster
from kraftproof.cluster.remote.plan import host_names_of
from kraftproof.cluster.scope import Scope
from kraftproof.cluster.systems.system import System

__all__ = ("CAPABILITIES", "DockerCluster")


class DockerCluster(LiveCluster):
    """The containers of one run."""

    def __init__(
        self,
        options: ClusterOptions,
        scope: Scope,
        system: System,
        progress: Progress = silent,
        *,
        ready_timeout_ns: int | None = None,
    ) -> None:
        hosts = DockerHosts(options, progress, host_names_of(system, options.nodes))
        super().__init__(options, scope, system, hosts, ready_timeout_ns=ready_timeout_ns)
        self._docker = hosts

    @property
    def pods(self) -> Mapping[int, str]:
        """The container id of each node's pod."""
        return self._docker.machines.pods
