"""Hostile frames after the login, on each kind of listener of one node: nobody is harmed.

The user alice has proven who she is, and has no right. Most frames are whole requests with odd
values. The long test sends as many frames as that of test_hostile_clients; `make test` sends 400 to
each listener.
"""

import contextlib
import random
import socket
import ssl
import struct

import pytest

from kraftproof.cluster.systems.reference.requests.frames import Listener, draw_frame, draw_whole
from kraftproof.cluster.systems.reference.requests.vocabulary import Vocabulary
from kraftproof.node.wire.messages.generated.sasl_authenticate_request import (
    SaslAuthenticateRequest,
)
from kraftproof.node.wire.messages.generated.sasl_handshake_request import SaslHandshakeRequest
from tests.node.server.conftest import CLUSTER_ID, LiveNode
from tests.node.server.security.conftest import SecureCluster, add_every_listener
from tests.node.server.security.test_hostile_clients import (
    LONG_FRAMES,
    MOST_GROWTH,
    print_growth,
    serves,
)
from tests.node.server.security.test_logins import ALICE, error_of, payload

FRAMES_A_CONNECTION = 60
WHOLE_FRAMES = 30
"""The node hangs up on the first frame that is no request, so that whole requests come first."""
FEW_FRAMES = 400
AUTHORIZER = (
    "authorizer.class.name=org.apache.kafka.metadata.authorizer.StandardAuthorizer",
    "super.users=User:admin",
)
HANDSHAKE = payload(SaslHandshakeRequest(mechanism="PLAIN"), 1)
LOGIN = payload(SaslAuthenticateRequest(auth_bytes=ALICE), 2)


@pytest.fixture
def listeners(secure: SecureCluster) -> dict[str, int]:
    """A node with an authorizer and a listener of each protocol, and the port of each."""
    ports = add_every_listener(secure, *AUTHORIZER)
    secure.start()
    return ports


def trusting_everybody() -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    return context


def read_answer(connected: socket.socket) -> bytes:
    with connected.makefile("rb", buffering=0) as reader:
        size = struct.unpack(">i", reader.read(4) or b"\0\0\0\0")[0]
        answer = b""
        while len(answer) < size:
            answer += reader.read(size - len(answer)) or b""
        return answer


def log_in(connected: socket.socket) -> None:
    connected.sendall(HANDSHAKE)
    assert error_of(read_answer(connected)) == 0
    connected.sendall(LOGIN)
    answer = read_answer(connected)
    assert answer[5:7] == b"\0\0", f"alice is not logged in: {answer!r}"


def drain(connected: socket.socket) -> int:
    """Read the answers that have arrived, and return their size: a node waits for its readers."""
    size = 0
    connected.settimeout(0)
    with contextlib.suppress(BlockingIOError, ssl.SSLWantReadError):
        while data := connected.recv(1 << 16):
            size += len(data)
    connected.settimeout(20)
    return size


def send_some(port: int, protocol: str, listener: Listener, chance: random.Random) -> int:
    """Log in and send frames until the node hangs up; return the number of frames.

    A frame without any answer on the connection does not count.
    """
    sent = answered = 0
    with socket.create_connection(("127.0.0.1", port), timeout=20) as plain:
        wrapped = trusting_everybody().wrap_socket(plain) if "SSL" in protocol[-3:] else plain
        with wrapped, contextlib.suppress(OSError):
            if protocol.startswith("SASL"):
                log_in(wrapped)
            for number in range(FRAMES_A_CONNECTION):
                draw = draw_whole if number <= WHOLE_FRAMES else draw_frame
                wrapped.sendall(draw(listener, chance).data)
                sent += 1
                if number == WHOLE_FRAMES:
                    answered += len(wrapped.recv(1 << 16))  # before the node hangs up
                answered += drain(wrapped)
    return sent if answered else 0


def attack(port: int, protocol: str, frames: int, *, is_controller: bool = False) -> None:
    chance = random.Random(f"{protocol} {is_controller} {frames}")
    vocabulary = Vocabulary(cluster_id=CLUSTER_ID, brokers=(1,))
    listener = Listener(is_controller=is_controller, vocabulary=vocabulary)
    sent = 0
    while sent < frames:
        sent += send_some(port, protocol, listener, chance)


def is_well(node: LiveNode) -> bool:
    assert node.process is not None
    return node.process.poll() is None and "Traceback" not in node.output


def attack_all(secure: SecureCluster, listeners: dict[str, int], frames: int) -> None:
    node = secure.nodes[0]
    address = node.properties.read_text().rpartition("CONTROLLER://127.0.0.1:")[2]
    controller = int(address.split()[0])
    for protocol, port in listeners.items():  # the memory that an attack needs anyway
        attack(port, protocol, 100)
    attack(controller, "SASL_SSL", 100, is_controller=True)
    before = node.resident_bytes()
    for protocol, port in listeners.items():
        attack(port, protocol, frames)
        assert is_well(node), node.output
        serves(secure, protocol, port)
        print_growth(f"{protocol}, logged in", frames, node, before)
    attack(controller, "SASL_SSL", frames, is_controller=True)
    assert is_well(node), node.output
    serves(secure, "SASL_SSL", listeners["SASL_SSL"])
    grown = print_growth("SASL_SSL controller, logged in", frames, node, before)
    assert grown < MOST_GROWTH, f"{grown} bytes after {frames} frames to each"


def test_thousands_of_hostile_frames_after_the_login_harm_nobody(
    secure: SecureCluster, listeners: dict[str, int]
) -> None:
    attack_all(secure, listeners, FEW_FRAMES)


@pytest.mark.long
@pytest.mark.timeout(7200)
def test_many_hostile_frames_after_the_login_harm_nobody(
    secure: SecureCluster, listeners: dict[str, int]
) -> None:
    attack_all(secure, listeners, LONG_FRAMES)
