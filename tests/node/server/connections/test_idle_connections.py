"""A live node ends idle connections, and keeps those in use (connections.max.idle.ms)."""

import socket
import time
from typing import TYPE_CHECKING

from kraftproof.node.tools.client import Address, Client
from kraftproof.node.wire.messages import metadata_request
from tests.node.server.conftest import live as live_nodes

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.node.server.conftest import LiveCluster, LiveNode

live = live_nodes
IDLE_S = 1.0
ASK = metadata_request.MetadataRequest(topics=None)


def with_short_idle_time(node: "LiveNode") -> None:
    with node.properties.open("a") as properties:
        properties.write(f"connections.max.idle.ms={int(IDLE_S * 1000)}\n")


def ended_after(connected: socket.socket, begun: float) -> float:
    """Wait for the end of a connection, and return the seconds."""
    connected.settimeout(10)
    assert connected.recv(1) == b""
    return time.monotonic() - begun


def test_idle_connections_are_ended_and_used_ones_are_kept(
    live: "Callable[..., LiveCluster]",
) -> None:
    cluster = live(1, 0, prepare=with_short_idle_time)
    place = ("127.0.0.1", cluster.nodes[0].port)
    begun = time.monotonic()
    with (
        socket.create_connection(place) as silent,
        socket.create_connection(place) as unfinished,
        Client(Address(*place), 10) as used,
    ):
        unfinished.sendall(b"\0\0\0")  # a part of a frame
        while time.monotonic() - begun < 3 * IDLE_S:
            used.ask(ASK)
            time.sleep(IDLE_S / 4)
        assert used.ask(ASK)
        assert ended_after(silent, begun) >= IDLE_S
        assert ended_after(unfinished, begun) >= IDLE_S
