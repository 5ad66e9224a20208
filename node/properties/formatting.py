"""Read the part of a server.properties that matters for the formatting of its directories."""

from msgspec import Struct

from kraftproof.node.core.base.config import Endpoint
from kraftproof.node.core.base.types import NodeId
from kraftproof.node.properties.identity import read_directories, read_node_id, read_roles
from kraftproof.node.properties.keys import USED_KEYS, ConfigError, Reader, names, read_keys
from kraftproof.node.properties.known_keys import unused_keys
from kraftproof.node.properties.listeners import read_bindings, read_endpoints
from kraftproof.node.properties.voters import KEY as VOTERS_KEY

DEFAULT_LISTENER = "CONTROLLER"


class FormatConfig(Struct, frozen=True, kw_only=True):
    """The identity of a node and the kind of its quorum."""

    node_id: NodeId
    directories: tuple[str, ...]
    """The directories to format; the first is for the metadata log."""
    is_controller: bool
    has_static_voters: bool
    """Whether controller.quorum.voters is set."""
    controller_listener: str
    """The first name of controller.listener.names."""


def read_format_config(text: str) -> FormatConfig:
    """Return the inputs of kraft-storage. A file without roles is for static voters.

    Raises:
        ConfigError: a key is unknown or malformed.
    """
    reader = _reader(text)
    roles = read_roles(reader) if reader.has("process.roles") else ()
    listeners = names(reader.text("controller.listener.names") or DEFAULT_LISTENER)
    return FormatConfig(
        node_id=read_node_id(reader),
        directories=read_directories(reader),
        is_controller="controller" in roles,
        has_static_voters=not roles or reader.text(VOTERS_KEY) is not None,
        controller_listener=listeners[0],
    )


def read_controller_endpoint(text: str) -> Endpoint:
    """Return the address at which this controller is a voter.

    Raises:
        ConfigError: the file has no listener of a controller.
    """
    reader = _reader(text)
    endpoints = read_endpoints(reader, read_bindings(reader, read_roles(reader)))
    for endpoint in endpoints:
        if endpoint.is_controller:
            return endpoint
    raise ConfigError("listeners: no listener is for controllers")


def _reader(text: str) -> Reader:
    pairs = read_keys(text)
    unused_keys(pairs, USED_KEYS)
    return Reader(pairs)
