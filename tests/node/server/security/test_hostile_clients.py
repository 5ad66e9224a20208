"""Hostile bytes before the login, on each kind of listener of one node: nobody is harmed.

The long test sends 200,000 frames to each listener, or KRAFTPROOF_HOSTILE_FRAMES; `make test`
sends 1,000 to each. `make fuzz-listeners` sends FRAMES=1000000 to each.
"""

import contextlib
import os
import random
import socket
import ssl
import struct

import pytest

from kraftproof.node.tools.client import Address, Client
from kraftproof.node.tools.command_config import client_security
from kraftproof.node.wire.frames import frame
from kraftproof.node.wire.messages.generated.describe_cluster_request import DescribeClusterRequest
from kraftproof.node.wire.messages.generated.describe_cluster_response import (
    DescribeClusterResponse,
)
from tests.node.server.conftest import LiveNode
from tests.node.server.security.conftest import (
    ALICE_PASSWORD,
    SecureCluster,
    add_every_listener,
    sasl_entries,
)

MOST_GROWTH = 30 * 1024 * 1024
FRAMES_A_CONNECTION = 20
FEW_FRAMES = 1000
LONG_FRAMES = int(os.environ.get("KRAFTPROOF_HOSTILE_FRAMES", "200000"))
"""To each listener."""


def hostile(chance: random.Random) -> bytes:
    """A frame that no honest client sends before its login."""
    kind = chance.randrange(6)
    if kind == 0:
        return chance.randbytes(chance.randrange(1, 200))
    if kind == 1:
        return struct.pack(">i", chance.choice((-1, 2**31 - 1, 524_289, 10**8)))
    if kind == 2:  # a handshake for a mechanism of random bytes
        return frame(struct.pack(">hhih", 17, chance.randrange(3), 1, -1) + chance.randbytes(9))
    if kind == 3:  # a token without a handshake
        return frame(struct.pack(">hhih", 36, chance.randrange(3), 1, -1) + chance.randbytes(60))
    if kind == 4:  # a request of any kind
        header = struct.pack(">hhih", chance.randrange(100), chance.randrange(10), 1, -1)
        return frame(header + chance.randbytes(chance.randrange(300)))
    length = chance.randrange(1, 60)
    return frame(struct.pack(">hhihH", 17, 1, 1, -1, 5) + b"PLAIN") + frame(
        chance.randbytes(length)
    )


@pytest.fixture
def listeners(secure: SecureCluster) -> dict[str, int]:
    """A node with a listener of each protocol, and the port of each."""
    ports = add_every_listener(secure, "connection.failed.authentication.delay.ms=0")
    secure.start()
    return ports


def serves(secure: SecureCluster, protocol: str, port: int) -> None:
    """An honest client is served, and sees the port of its own listener."""
    entries = {"security.protocol": protocol}
    if protocol.startswith("SASL"):
        entries = sasl_entries(protocol, "alice", ALICE_PASSWORD)
    with Client(Address("127.0.0.1", port), 20, client_security(secure.trusting(entries))) as one:
        answer = one.ask(DescribeClusterRequest())
    assert isinstance(answer, DescribeClusterResponse)
    assert [broker.port for broker in answer.brokers] == [port]


def send_some(port: int, context: ssl.SSLContext | None, chance: random.Random) -> int:
    """Send hostile frames on one connection until the node hangs up; return their number."""
    sent = 0
    with (
        contextlib.suppress(OSError),
        socket.create_connection(("127.0.0.1", port), timeout=20) as plain,
    ):
        in_tls = context is not None and chance.random() < 0.3
        wrapped = context.wrap_socket(plain) if context is not None and in_tls else plain
        with wrapped:
            for _ in range(chance.randrange(1, FRAMES_A_CONNECTION)):
                wrapped.sendall(hostile(chance))
                sent += 1
    return max(sent, 1)


def attack(port: int, *, has_tls: bool, frames: int, seed: str) -> None:
    chance = random.Random(seed)
    context = None
    if has_tls:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    sent = 0
    while sent < frames:
        sent += send_some(port, context, chance)


def print_growth(listener: str, frames: int, node: LiveNode, before: int) -> int:
    grown = node.resident_bytes() - before
    print(f"{listener}: {frames:,} frames; {grown / 2**20:.1f} MB more memory", flush=True)
    return grown


def attack_all(secure: SecureCluster, listeners: dict[str, int], frames: int) -> None:
    node = secure.nodes[0]
    controller = int(
        node.properties.read_text().rpartition("CONTROLLER://127.0.0.1:")[2].split()[0]
    )
    targets = {**listeners, "SASL_SSL controller": controller}
    for protocol, port in targets.items():  # what an attack needs anyway is in the memory then
        attack(port, has_tls="SSL" in protocol.split("SASL")[-1], frames=200, seed="warm")
    before = node.resident_bytes()
    for protocol, port in targets.items():
        attack(
            port,
            has_tls="_SSL" in protocol or protocol == "SSL",
            frames=frames,
            seed=protocol,
        )
        assert node.process is not None
        assert node.process.poll() is None, node.output
        if protocol in listeners:
            serves(secure, protocol, port)
        grown = print_growth(protocol, frames, node, before)
    assert grown < MOST_GROWTH, f"{grown} bytes after {frames} frames to each"
    assert "Traceback" not in node.output


def test_thousands_of_hostile_frames_before_the_login_harm_nobody(
    secure: SecureCluster, listeners: dict[str, int]
) -> None:
    for protocol, port in listeners.items():
        serves(secure, protocol, port)
    attack_all(secure, listeners, FEW_FRAMES)


@pytest.mark.long
@pytest.mark.timeout(7200)
def test_many_hostile_frames_before_the_login_harm_nobody(
    secure: SecureCluster, listeners: dict[str, int]
) -> None:
    attack_all(secure, listeners, LONG_FRAMES)


def test_silent_connections_make_room_for_a_client(
    secure: SecureCluster, listeners: dict[str, int]
) -> None:
    node = secure.nodes[0]
    node.end()
    node.properties.write_text(node.properties.read_text() + "max.connections=20\n")
    (node.directory / "trace.jsonl").unlink()
    secure.start()
    for protocol in ("SSL", "SASL_PLAINTEXT", "SASL_SSL"):
        port = listeners[protocol]
        silent = [socket.create_connection(("127.0.0.1", port), 10) for _ in range(60)]
        serves(secure, protocol, port)
        for one in silent:
            one.close()
