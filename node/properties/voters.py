"""Read the voters of the quorum: controller.quorum.voters (KIP-595, "Configurations").

The voters are static. Simplification: controller.quorum.bootstrap.servers names no ids. Without
controller.quorum.voters, the voters are those of the formatting (--standalone and
--initial-controllers), or the sole controller that Kafka's sample files describe.
"""

from collections.abc import Callable
from typing import Final

from kraftproof.node.core.base.config import Endpoint, Voter
from kraftproof.node.core.base.types import NodeId
from kraftproof.node.properties.keys import ConfigError, Reader, host_port, names

KEY: Final = "controller.quorum.voters"
SERVERS_KEY: Final = "controller.quorum.bootstrap.servers"
EXAMPLE: Final = "1@localhost:9093"
NEVER_IN_HOSTS: Final = frozenset("@;/")
"""Characters that cannot occur in a voter's host; they show a wrong separator in the list."""

FormattedVoters = Callable[[str], tuple[Voter, ...]]
"""Returns the voters that the formatting wrote into a metadata directory; empty without voters."""


def no_voters(_: str) -> tuple[Voter, ...]:
    """Return no voter, for a directory that was formatted for static voters."""
    return ()


def read_voters(
    reader: Reader,
    node_id: NodeId,
    roles: tuple[str, ...],
    endpoints: tuple[Endpoint, ...],
    formatted: Callable[[], tuple[Voter, ...]] = tuple,
) -> tuple[Voter, ...]:
    """Return the voters of the quorum (595-01, 631-79).

    Raises:
        ConfigError: the voters are missing or malformed, or contradict the role of the node.
    """
    if reader.text(KEY) is None and reader.text(SERVERS_KEY) is not None:
        voters = formatted() or (_sole_voter(reader, node_id, endpoints),)
        _check_role(f"{SERVERS_KEY}: the formatted voters", node_id, roles, voters)
        return voters
    key, value = KEY, reader.required(KEY, EXAMPLE)
    named: list[Voter] = []
    for part in names(value):
        number, at, address = part.partition("@")
        if not at or not number.isdecimal() or int(number) > 0x7FFFFFFF:
            raise ConfigError(f"{key}={value}: {part!r} is not id@host:port")
        host, port = host_port(key, address, value)
        if not host or any(sign.isspace() or sign in NEVER_IN_HOSTS for sign in host):
            raise ConfigError(f"{key}={value}: {address!r} is not host:port")
        voter = Voter(node_id=NodeId(int(number)), host=host, port=port)
        if any(voter.node_id == other.node_id for other in named):
            raise ConfigError(f"{key}={value}: voter {number} is named twice")
        named.append(voter)
    if not named:
        raise ConfigError(f"{key}={value}: names no voter; for example {key}={EXAMPLE}")
    _check_role(f"{key}={value}", node_id, roles, tuple(named))
    return tuple(named)


def _check_role(
    source: str, node_id: NodeId, roles: tuple[str, ...], voters: tuple[Voter, ...]
) -> None:
    is_voter = any(voter.node_id == node_id for voter in voters)
    if "controller" in roles and not is_voter:
        raise ConfigError(f"{source}: lacks this controller, node.id={node_id}")
    if "controller" not in roles and is_voter:
        raise ConfigError(f"{source}: node.id={node_id} is a broker only, not a controller")


def _sole_voter(reader: Reader, node_id: NodeId, endpoints: tuple[Endpoint, ...]) -> Voter:
    """Return this controller, which is the only server that may be asked for the quorum."""
    value = reader.required(SERVERS_KEY, "localhost:9093")
    servers = [host_port(SERVERS_KEY, server, value) for server in names(value)]
    for endpoint in endpoints:
        if endpoint.is_controller and servers == [(endpoint.host, endpoint.port)]:
            return Voter(node_id=node_id, host=endpoint.host, port=endpoint.port)
    raise ConfigError(
        f"{KEY}: is missing; {SERVERS_KEY}={value} is enough only for a single controller with "
        "this address, or for voters named by kraft-storage format --initial-controllers; for "
        f"example {KEY}={EXAMPLE}"
    )
