"""A process that listens is not ended by what it is sent, on either listener, by anybody.

All request types, whole, cut at every byte and with bytes changed; and each of them in an
envelope. Not: sequences that agree with a node's state (tests/node/core/test_hostile_network.py).
"""

import random
import socket
import struct
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from kraftproof.node.tools.client import Address, Client
from kraftproof.node.wire.codec import SUPPORTED
from kraftproof.node.wire.frames import frame
from kraftproof.node.wire.messages.generated.describe_cluster_request import DescribeClusterRequest
from tests.node.core.test_hostile_network import cuts, in_envelope, payload_of
from tests.node.server.conftest import LiveNode

if TYPE_CHECKING:
    from tests.node.server.conftest import LiveCluster

MUTATIONS = 10


def hostile_payloads(key: int) -> list[bytes]:
    """A request type's versions whole, its newest cut everywhere, and changed bytes."""
    chance = random.Random(key)
    oldest, newest = SUPPORTED[key]
    whole = [payload_of(key, version, chance) for version in range(oldest, newest + 1)]
    mutations = []
    for _ in range(MUTATIONS):
        changed = bytearray(payload_of(key, newest, chance))
        changed[chance.randrange(len(changed))] = chance.randrange(256)
        mutations.append(bytes(changed))
    return [*whole, *cuts(whole[-1]), *mutations]


def send_each(port: int, payloads: list[bytes]) -> None:
    """Each on a connection of its own, without waiting for answers; then one look at the last."""
    for payload in payloads:
        with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
            connection.sendall(frame(payload))


def send_in_envelopes(port: int, contents: list[bytes]) -> None:
    """All on one connection; every envelope is answered."""
    with socket.create_connection(("127.0.0.1", port), timeout=10) as connection:
        received = connection.makefile("rb")
        for content in contents:
            connection.sendall(frame(in_envelope(content)))
            (size,) = struct.unpack(">i", received.read(4))
            assert len(received.read(size)) == size


@pytest.mark.requirement("590-10")
def test_nobody_ends_a_node_by_what_they_send(live: "Callable[[int, int], LiveCluster]") -> None:
    cluster = live(1, 0)
    [node] = cluster.nodes
    broker_port, controller_port = node.port, controller_port_of(node)
    for key in SUPPORTED:
        payloads = hostile_payloads(key)
        send_in_envelopes(controller_port, payloads)
        send_each(controller_port, payloads)
        send_each(broker_port, payloads)
        assert node.process is not None
        assert node.process.poll() is None, node.output
    assert "Traceback" not in node.output
    with Client(Address("127.0.0.1", broker_port), 10) as client:
        assert client.ask(DescribeClusterRequest()) is not None


def controller_port_of(node: LiveNode) -> int:
    text = node.properties.read_text()
    return int(text.partition("CONTROLLER://127.0.0.1:")[2].splitlines()[0])
