"""A live node ends idle connections, and keeps those in use (connections.max.idle.ms)."""

import socket
import struct
import time
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

from kraftproof.node.server.connection import Connection
from kraftproof.node.tools.client import Address, Client
from kraftproof.node.wire.messages import metadata_request
from tests.node.server.conftest import live as live_nodes
from tests.node.server.connections.test_muted_connection import Owner, Socket

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.node.server.conftest import LiveCluster, LiveNode

live = live_nodes
IDLE_S = 2.0
LONGEST_S = 30.0
"""Much longer than the node needs on a loaded machine."""
API_VERSIONS = 18
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


@pytest.mark.long
def test_a_client_that_reads_no_answer_loses_its_place(
    live: "Callable[..., LiveCluster]",
) -> None:
    cluster = live(1, 0, prepare=with_short_idle_time)
    request = struct.pack(">ihhih", 10, API_VERSIONS, 0, 1, -1)
    with socket.socket() as greedy:
        greedy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        greedy.connect(("127.0.0.1", cluster.nodes[0].port))
        greedy.settimeout(IDLE_S)
        with pytest.raises((ConnectionResetError, BrokenPipeError)):
            send_for(greedy, request * 100, LONGEST_S)


class Reading(Socket):
    """A socket whose client has so many bytes still to read."""

    def __init__(self) -> None:
        super().__init__()
        self.left = 0

    def get_write_buffer_size(self) -> int:
        return self.left


def test_a_client_that_reads_slowly_is_not_idle() -> None:
    connection, reading = Connection(Owner()), Reading()
    connection.connection_made(reading)
    for left, reads in ((900, False), (900, False), (899, True), (500, True), (500, False)):
        reading.left, before = left, time.monotonic_ns()
        connection.note_reading()
        assert connection.is_idle_since(before) != reads


def send_for(connected: socket.socket, requests: bytes, longest_s: float) -> None:
    """Send requests for a time; a time without room for more is no error."""
    end = time.monotonic() + longest_s
    while time.monotonic() < end:
        with suppress(TimeoutError):
            connected.send(requests)
