"""A cluster of machines behind ssh: real processes, the firewalls of the hosts, real networks."""

from kraftproof.cluster.protocol import ClusterError, ClusterOptions
from kraftproof.cluster.remote.host import Progress, silent
from kraftproof.cluster.remote.live_cluster import LiveCluster
from kraftproof.cluster.scope import Scope
from kraftproof.cluster.ssh.capabilities import CAPABILITIES
from kraftproof.cluster.ssh.hosts import SshHosts
from kraftproof.cluster.ssh.hosts_file import HostEntry, enough_hosts, read_hosts
from kraftproof.cluster.systems.system import System

__all__ = ("CAPABILITIES", "SshCluster", "hosts_of")


class SshCluster(LiveCluster):
    """The nodes of one run, one on each host."""

    def __init__(
        self,
        options: ClusterOptions,
        scope: Scope,
        system: System,
        progress: Progress = silent,
    ) -> None:
        super().__init__(options, scope, system, SshHosts(options, hosts_of(options), progress))


def hosts_of(options: ClusterOptions) -> tuple[HostEntry, ...]:
    """Return the hosts that a run uses: the first of its file, one for each node.

    Raises:
        HostsFileError: the file can't be used, or has too few hosts.
        ClusterError: the run names no file.
    """
    if options.hosts is None:
        raise ClusterError("--backend ssh needs --hosts FILE (docs/ssh.md)")
    entries = read_hosts(options.hosts)
    enough_hosts(options.hosts, entries, len(options.nodes))
    return entries[: len(options.nodes)]
