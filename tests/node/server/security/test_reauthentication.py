"""Sessions of a listener with connections.max.reauth.ms end, or are prolonged (KIP-368)."""

import struct
import time
from collections.abc import Callable, Iterator

import pytest
from confluent_kafka.admin import AdminClient

from kraftproof.node.wire.messages.generated.sasl_authenticate_request import (
    SaslAuthenticateRequest,
)
from kraftproof.node.wire.messages.generated.sasl_handshake_request import SaslHandshakeRequest
from tests.node.server.security.conftest import (
    ADMIN_PASSWORD,
    ALICE_PASSWORD,
    SecureCluster,
)
from tests.node.server.security.test_logins import HANDSHAKE, LOGIN, METADATA, Raw, payload

SESSION_MS = 1500
ADMIN = payload(SaslAuthenticateRequest(auth_bytes=b"\0admin\0" + ADMIN_PASSWORD.encode()), 2)
WRONG = payload(SaslAuthenticateRequest(auth_bytes=b"\0alice\0wrong"), 2)
SCRAM = payload(SaslHandshakeRequest(mechanism="SCRAM-SHA-256"), 1)
BEFORE_END_S = 1.1
"""A pause after which a client may log in again, and before the end of its session."""
AFTER_END_S = 1.7


@pytest.fixture
def raw(secure: SecureCluster) -> Iterator[Callable[[], Raw]]:
    secure.add(
        1,
        protocol="SASL_PLAINTEXT",
        controller_protocol="PLAINTEXT",
        connections_max_reauth_ms=str(SESSION_MS),
    )
    secure.start()
    opened: list[Raw] = []

    def connect() -> Raw:
        client = Raw(secure.nodes[0].port)
        opened.append(client)
        client.ask(HANDSHAKE)
        assert lifetime_ms(client.ask(LOGIN)) == SESSION_MS
        assert client.ask(METADATA)
        return client

    yield connect
    for client in opened:
        client.close()


def lifetime_ms(answer: bytes) -> int:
    """The session's lifetime at the end of an answer of SaslAuthenticate, before its tags."""
    return int(struct.unpack(">q", answer[-9:-1])[0])


def test_a_session_ends_without_a_new_login(raw: Callable[[], Raw]) -> None:
    idle, busy = raw(), raw()
    time.sleep(BEFORE_END_S)
    assert busy.ask(METADATA), "the session is not over"
    time.sleep(AFTER_END_S - BEFORE_END_S)
    for client in (idle, busy):
        assert client.ask(METADATA) == b"", "a request after the session"
    late = raw()
    time.sleep(AFTER_END_S)
    late.ask(HANDSHAKE)
    assert lifetime_ms(late.ask(LOGIN)) == SESSION_MS, "a late login is a login"
    assert late.ask(METADATA)


def test_a_new_login_prolongs_the_session_for_the_same_user_only(raw: Callable[[], Raw]) -> None:
    client, other, guess, switch = (raw() for _ in range(4))
    time.sleep(BEFORE_END_S)
    assert client.ask(HANDSHAKE)
    assert lifetime_ms(client.ask(LOGIN)) == SESSION_MS
    other.ask(HANDSHAKE)
    assert other.ask(ADMIN) == b"", "another user on the same connection"
    guess.ask(HANDSHAKE)
    assert struct.unpack_from(">h", guess.ask(WRONG), 5)[0] == 58
    assert guess.ask(METADATA) == b"", "the old session does not outlive a failed login"
    assert switch.ask(SCRAM) == b"", "another mechanism on the same connection"
    time.sleep(AFTER_END_S - BEFORE_END_S)
    assert client.ask(METADATA), "the session is longer now"


def test_a_client_of_kafka_logs_in_again_by_itself(
    raw: Callable[[], Raw], secure: SecureCluster
) -> None:
    del raw  # the fixture has started the node
    failures: list[object] = []
    admin = AdminClient(
        {
            "bootstrap.servers": secure.bootstrap,
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "PLAIN",
            "sasl.username": "alice",
            "sasl.password": ALICE_PASSWORD,
            "error_cb": failures.append,
            "log_level": 0,
        }
    )
    begun = time.monotonic()
    while time.monotonic() - begun < 2 * AFTER_END_S:
        assert admin.list_topics(timeout=10).brokers
        time.sleep(0.2)
    assert failures == [], "the client was never thrown out"
