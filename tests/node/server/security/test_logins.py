"""Logins at live nodes: the order of requests, each error, and the principal at the controller."""

import socket
import struct
import time
from collections.abc import Callable, Iterator

import pytest

from kraftproof.node.tools.client import ClientError
from kraftproof.node.wire.codec import encode_request, header_versions
from kraftproof.node.wire.frames import frame
from kraftproof.node.wire.headers import RequestHeader, encode_request_header
from kraftproof.node.wire.messages.generated.api_versions_request import ApiVersionsRequest
from kraftproof.node.wire.messages.generated.describe_cluster_request import DescribeClusterRequest
from kraftproof.node.wire.messages.generated.metadata_request import MetadataRequest
from kraftproof.node.wire.messages.generated.sasl_authenticate_request import (
    SaslAuthenticateRequest,
)
from kraftproof.node.wire.messages.generated.sasl_handshake_request import SaslHandshakeRequest
from kraftproof.node.wire.schema import Message
from tests.node.server.security.conftest import (
    ADMIN_PASSWORD,
    ALICE_PASSWORD,
    SecureCluster,
    sasl_entries,
)

ALICE = b"\0alice\0" + ALICE_PASSWORD.encode()


def payload(message: Message, version: int) -> bytes:
    header = RequestHeader(
        api_key=message.API_KEY, version=version, correlation_id=7, client_id="x"
    )
    header_version, _ = header_versions(message.API_KEY, version)
    return frame(encode_request_header(header, header_version), encode_request(message, version))


class Raw:
    """A socket that sends frames and reads the answers."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), 10)
        self._reader = self._socket.makefile("rb")

    def ask(self, data: bytes) -> bytes:
        """Send a frame and return the answer; nothing if the node hangs up."""
        try:
            self._socket.sendall(data)
            size = self._reader.read(4)
        except ConnectionError:
            return b""
        return self._reader.read(struct.unpack(">i", size)[0]) if size else b""

    def close(self) -> None:
        self._reader.close()
        self._socket.close()


@pytest.fixture
def raw(secure: SecureCluster) -> Iterator[Callable[[], Raw]]:
    secure.add(1, protocol="SASL_PLAINTEXT", controller_protocol="SASL_PLAINTEXT")
    secure.start()
    opened: list[Raw] = []

    def connect() -> Raw:
        opened.append(Raw(secure.nodes[0].port))
        return opened[-1]

    yield connect
    for client in opened:
        client.close()


HANDSHAKE = payload(SaslHandshakeRequest(mechanism="PLAIN"), 1)
VERSIONS = payload(ApiVersionsRequest(client_software_name="a", client_software_version="1"), 3)
LOGIN = payload(SaslAuthenticateRequest(auth_bytes=ALICE), 2)
METADATA = payload(MetadataRequest(topics=()), 9)


def error_of(answer: bytes) -> int:
    """The error code behind the correlation id (and the tags of a flexible header)."""
    return int(struct.unpack_from(">h", answer, 4)[0])


def test_the_order_of_a_login_and_what_ends_the_connection(raw: Callable[[], Raw]) -> None:
    client = raw()
    assert client.ask(VERSIONS)
    assert error_of(client.ask(HANDSHAKE)) == 0
    assert client.ask(LOGIN)
    assert client.ask(METADATA), "after the login requests are served"
    refused: list[list[bytes]] = [
        [METADATA],
        [LOGIN],
        [VERSIONS, VERSIONS],
        [HANDSHAKE, VERSIONS],
        [HANDSHAKE, METADATA],
        [frame(b"")],
        [frame(b"\xff" * 40)],
    ]
    for requests in refused:
        client = raw()
        answers = [client.ask(request) for request in requests]
        assert answers[-1] == b"", requests
        assert all(answers[:-1])
        client.close()
    client = raw()
    answer = client.ask(payload(SaslHandshakeRequest(mechanism="GSSAPI"), 1))
    assert error_of(answer) == 33
    assert b"SCRAM-SHA-512" in answer, "the refusal lists the mechanisms"
    assert client.ask(HANDSHAKE) == b""
    client = raw()
    assert client.ask(HANDSHAKE)
    assert error_of(client.ask(HANDSHAKE)) == 34


def test_tokens_without_headers_follow_version_0(raw: Callable[[], Raw]) -> None:
    client = raw()
    assert error_of(client.ask(payload(SaslHandshakeRequest(mechanism="PLAIN"), 0))) == 0
    assert client.ask(frame(ALICE)) == b"", "the empty token ends the login"
    assert client.ask(METADATA)
    client = raw()
    client.ask(payload(SaslHandshakeRequest(mechanism="PLAIN"), 0))
    assert client.ask(frame(b"\0alice\0wrong")) == b""
    assert client.ask(METADATA) == b""


def test_a_wrong_password_is_answered_after_a_pause_and_ends_the_connection(
    raw: Callable[[], Raw],
) -> None:
    for wrong in (b"\0alice\0wrong", b"\0nobody\0x", b"bob" + ALICE, b"\xff", b"", b"\0\0\0\0"):
        client = raw()
        client.ask(HANDSHAKE)
        begun = time.monotonic()
        answer = client.ask(payload(SaslAuthenticateRequest(auth_bytes=wrong), 2))
        assert struct.unpack_from(">h", answer, 5)[0] == 58
        assert time.monotonic() - begun >= 0.1
        assert ALICE_PASSWORD.encode() not in answer
        assert client.ask(METADATA) == b""
    client = raw()
    client.ask(HANDSHAKE)
    too_large = struct.pack(">i", 524_289)
    assert client.ask(too_large) == b"", "refused at its announced size"


def test_a_login_is_needed_on_both_listeners_and_with_the_right_password(
    secure: SecureCluster,
) -> None:
    secure.add(1)
    secure.start()
    for user, password in (("admin", ADMIN_PASSWORD), ("alice", ALICE_PASSWORD)):
        with secure.client(secure.trusting(sasl_entries("SASL_SSL", user, password))) as client:
            assert client.ask(DescribeClusterRequest())
    with pytest.raises(ClientError, match="SASL_AUTHENTICATION_FAILED"):
        secure.client(secure.trusting(sasl_entries("SASL_SSL", "alice", ADMIN_PASSWORD)))
    for entries in (secure.trusting({"security.protocol": "SSL"}), {}):
        with secure.client(entries) as stranger, pytest.raises(ClientError):
            stranger.ask(DescribeClusterRequest())
