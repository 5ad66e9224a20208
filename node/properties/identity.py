"""Read the identity of a node: roles, id and directories."""

from kraftproof.node.core.base.types import NodeId
from kraftproof.node.properties.keys import ConfigError, Reader, integer, names

ROLES = ("broker", "controller")


def read_roles(reader: Reader) -> tuple[str, ...]:
    """Return the roles of the node.

    Raises:
        ConfigError: the key is missing, or names an unknown role or a role twice.
    """
    value = reader.required("process.roles", "broker,controller")
    roles = names(value)
    if not roles or len(set(roles)) != len(roles) or any(role not in ROLES for role in roles):
        raise ConfigError(
            f"process.roles={value}: is not valid, expected broker, controller or broker,controller"
        )
    return roles


def read_node_id(reader: Reader) -> NodeId:
    """Return the id of the node.

    Raises:
        ConfigError: the key is missing or no number, or broker.id differs.
    """
    value = reader.required("node.id", "1")
    node_id = integer("node.id", value, 0)
    broker_id = reader.text("broker.id")
    if broker_id is not None and integer("broker.id", broker_id, 0) != node_id:
        raise ConfigError(f"broker.id={broker_id}: differs from node.id={value}; remove broker.id")
    return NodeId(node_id)


def read_directories(reader: Reader) -> tuple[str, ...]:
    """Return the directories to format: metadata.log.dir, if set, and the log directories.

    The first directory is for the metadata log.

    Raises:
        ConfigError: no directory is named.
    """
    value = reader.text("log.dirs") or reader.text("log.dir")
    listed = names(value or "")
    metadata = reader.text("metadata.log.dir")
    if metadata is None and not listed:
        raise ConfigError("log.dirs: is missing; for example log.dirs=/var/lib/kraft")
    ordered = (metadata, *listed) if metadata is not None else listed
    return tuple(dict.fromkeys(ordered))
