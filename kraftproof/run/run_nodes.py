"""The nodes of a run: how many of each role, from --nodes or from the system."""

from dataclasses import replace

from kraftproof.cluster.plugin import blamed, plugin, returned
from kraftproof.cluster.protocol import NodeInfo, nodes_of
from kraftproof.cluster.systems.system import System, SystemUnavailableError
from kraftproof.errors import UsageError
from kraftproof.options import Counts, RunOptions, parse_nodes, refuse_counts
from kraftproof.spelling import nearest


def nodes_of_run(options: RunOptions, system: System) -> tuple[NodeInfo, ...]:
    """Return the nodes of a run; a number without a role has that of its place in the system.

    Raises:
        UsageError: the system has more roles than numbers, or fewer; or it has no such role.
    """
    text = options.nodes or system.nodes
    where = "--nodes" if options.nodes else f"system {system.name}: nodes"
    counts, roles = parse_nodes(text, where), tuple(system.roles_of_nodes)
    refuse_counts(counts, where)
    if any(role is None for role, _ in counts):
        if len(counts) == 1 and system.roles_of_number is not None:
            roles = (system.roles_of_number,)
        if len(counts) != len(roles):
            form, named = "+".join("3" for _ in roles), ",".join(f"{one}=3" for one in roles)
            raise UsageError(f"{where} {text}: the system {system.name} takes {form} or {named}")
        counts = tuple(zip(roles, (count for _, count in counts), strict=True))
    _refuse_roles(counts, system, f"{where} {text}")
    nodes = nodes_of(**{str(role): count for role, count in counts})
    return tuple(replace(node, roles=_roles_of(system, node)) for node in nodes)


def _refuse_roles(counts: Counts, system: System, where: str) -> None:
    """Refuse a role that the system does not have, such as a misspelt one."""
    known = tuple(system.known_roles)
    for role in (one for text, _ in counts for one in str(text).split("+")):
        if known and role not in known:
            raise UsageError(
                f"{where}: unknown role {role!r}{nearest(role, known)}: the roles of the system "
                f"{system.name} are {', '.join(known)}"
            )


def _roles_of(system: System, node: NodeInfo) -> tuple[str, ...]:
    culprit = plugin("system", system.name, system)
    with blamed(culprit, "node_roles", SystemUnavailableError):
        found: object = system.node_roles(node.roles)
    if not isinstance(found, tuple | list) or not all(isinstance(one, str) for one in found):
        raise returned(culprit, "node_roles", found, "a tuple of texts")
    return tuple(found)
