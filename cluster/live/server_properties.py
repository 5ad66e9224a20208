"""The server.properties of a node on a live backend: what local processes and containers share.

Not: where a node runs, and who leases its address.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kraftproof.cluster.protocol import NodeInfo

CONTROLLER_LISTENER = "CONTROLLER"
CLIENT_LISTENER = "PLAINTEXT"


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """Where a node's one listener is."""

    host: str
    """The address that it binds and tells clients."""
    port: int
    peer_host: str
    """What other nodes call it: the same, or a name in their hosts file."""


def server_properties(
    node: NodeInfo,
    addresses: Mapping[int, Address],
    voters: Sequence[int],
    directory: Path,
    settings: Mapping[str, str],
) -> str:
    """Return the text of one node's file.

    Args:
        node: The node.
        addresses: Of every node.
        voters: The controllers' ids.
        directory: Where it keeps data and trace, as its own process sees it.
        settings: What all nodes have besides.
    """
    name = CONTROLLER_LISTENER if node.is_controller else CLIENT_LISTENER
    own = addresses[node.node_id]
    quorum = (f"{v}@{addresses[v].peer_host}:{addresses[v].port}" for v in voters)
    entries = {
        "process.roles": "controller" if node.is_controller else "broker",
        "node.id": str(node.node_id),
        "controller.quorum.voters": ",".join(quorum),
        "listeners": f"{name}://{own.host}:{own.port}",
        "controller.listener.names": CONTROLLER_LISTENER,
        "log.dirs": str(directory / "data"),
        "trace.file": str(directory / "trace.jsonl"),
        **settings,
    }
    return "".join(f"{key}={value}\n" for key, value in entries.items())
