"""Calls of a system in which its mistakes are told from ours: each has its name in the error."""

import ssl
from collections.abc import Mapping

from kraftproof.cluster.plugin import blamed, plugin, returned
from kraftproof.cluster.protocol import Capability, Cluster, ClusterError, ClusterOptions
from kraftproof.cluster.systems.system import System


def capabilities_of(system: System, can: frozenset[Capability]) -> frozenset[Capability]:
    """Return what can be done to the nodes of a system, of all that a backend can do.

    Raises:
        PluginError: the system fails to say so, or returns no set.
    """
    culprit = plugin("system", system.name, system)
    with blamed(culprit, "capabilities"):
        found: object = system.capabilities(can)
    if not isinstance(found, frozenset | set):
        raise returned(culprit, "capabilities", found, "a frozenset of capabilities")
    return frozenset(found)


def guarantees_of(system: System, options: ClusterOptions) -> Mapping[str, str]:
    """Return the guarantees that a system declares for a run.

    Raises:
        PluginError: the system fails to say so, or returns no dict.
    """
    culprit = plugin("system", system.name, system)
    with blamed(culprit, "declares"):
        found: object = system.declares(dict(options.node_config))
    if not isinstance(found, Mapping):
        raise returned(culprit, "declares", found, "a dict of functions and guarantees")
    return {str(f): str(one) for f, one in found.items()}


def resigns_s_of(system: System, options: ClusterOptions) -> float | None:
    """Return for how many seconds a leader may go on after another leads a later epoch.

    Raises:
        PluginError: the system fails to say so, or returns no number.
    """
    culprit = plugin("system", system.name, system)
    with blamed(culprit, "resigns_s"):
        found: object = system.resigns_s(options)
    if found is not None and not isinstance(found, int | float):
        raise returned(culprit, "resigns_s", found, "a number of seconds or None")
    return found


def bootstrap_of(system: System, cluster: Cluster) -> str:
    """Return the host:port list for ordinary clients.

    Raises:
        PluginError: the system fails to say so, or returns no text.
    """
    culprit = plugin("system", system.name, system)
    with blamed(culprit, "bootstrap", ClusterError):
        found: object = system.bootstrap(cluster)
    if not isinstance(found, str):
        raise returned(culprit, "bootstrap", found, "a text")
    return found


def login_of(system: System, options: ClusterOptions) -> object | None:
    """Return the credentials of the system's clients; None without a login.

    Raises:
        PluginError: the system fails to say so.
    """
    with blamed(plugin("system", system.name, system), "login"):
        return system.login(options)


def tls_of(system: System, options: ClusterOptions) -> ssl.SSLContext | None:
    """Return the TLS context of the system's clients; None for plain connections.

    Raises:
        PluginError: the system fails to make one, or returns no context.
    """
    culprit = plugin("system", system.name, system)
    with blamed(culprit, "tls"):
        found: object = system.tls(options)
    if found is not None and not isinstance(found, ssl.SSLContext):
        raise returned(culprit, "tls", found, "an SSLContext or None")
    return found


async def wall_clock_of(system: System, cluster: Cluster, node_id: int) -> int | None:
    """Return the wall clock that a node reports now, in ns since the epoch; None without an answer.

    Raises:
        PluginError: the system fails to ask, or returns no whole number.
    """
    culprit = plugin("system", system.name, system)
    with blamed(culprit, "wall_clock", ClusterError):
        found: object = await system.wall_clock(cluster, node_id)
    if found is not None and (not isinstance(found, int) or isinstance(found, bool)):
        raise returned(culprit, "wall_clock", found, "a whole number of nanoseconds or None")
    return found
