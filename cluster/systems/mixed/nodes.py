"""Roles of the nodes of a mixed cluster: the system of a node, then its roles in the cluster."""

from typing import Final

from kraftproof.cluster.protocol import NodeInfo
from kraftproof.cluster.systems.system import SystemUnavailableError

OURS: Final = "reference"
KAFKAS: Final = "apache-kafka"
DEFAULT_ROLES: Final = {OURS: ("controller",), KAFKAS: ("controller", "broker")}
"""Roles of a node for which `--nodes` names the system only: both vote, Kafka's serves clients."""
FORMS: Final = "reference=2,apache-kafka=1 or reference+controller=3,apache-kafka+broker=2"


def node_roles(asked: tuple[str, ...]) -> tuple[str, ...]:
    """Return the system and the roles of a node.

    Raises:
        SystemUnavailableError: the words name no system, two systems, or roles that the node of
            the system can't have.
    """
    text = "+".join(asked)
    systems = [word for word in asked if word in DEFAULT_ROLES]
    if len(systems) != 1:
        raise SystemUnavailableError(
            f"--nodes {text}: the system mixed needs one of reference and apache-kafka for each "
            f"node, such as {FORMS}"
        )
    (system,) = systems
    roles = tuple(word for word in asked if word != system) or DEFAULT_ROLES[system]
    if system == OURS and len(roles) > 1:
        raise SystemUnavailableError(
            f"--nodes {text}: a node of the reference is a controller or a broker, not both"
        )
    return (system, *roles)


def is_ours(node: NodeInfo) -> bool:
    """Return whether a node is one of the reference."""
    return node.has(OURS)
