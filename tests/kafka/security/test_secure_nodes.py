"""A node of one system and a node of the other log in at each other, over TLS, with an authorizer.

The broker sends its own user to the controller. The controller judges the user of the client, whom
the broker names in the Envelope (590-19).
"""

import contextlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from confluent_kafka import KafkaError, KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

from kraftproof.cluster.local import ports
from tests.kafka.java import Java
from tests.kafka.mixed import (
    Member,
    broker_properties,
    controller_properties,
    our_node,
    real_node,
)
from tests.kafka.systems import until
from tests.node.server.security.conftest import (
    ADMIN_PASSWORD,
    ALICE_PASSWORD,
    Certificates,
    plain_line,
    tls_entries,
)

pytestmark = pytest.mark.kafka
READY_SECONDS = 60
CALL_SECONDS = 15
USERS = {"admin": ADMIN_PASSWORD, "alice": ALICE_PASSWORD}
Start = Callable[[Path, str], AbstractContextManager[Member]]


def secured(path: Path, files: Certificates) -> Path:
    """Add the security of both listeners to a file of either system."""
    line = plain_line("admin", ADMIN_PASSWORD, USERS)
    entries = {
        "listener.security.protocol.map": "CONTROLLER:SASL_SSL,PLAINTEXT:SASL_PLAINTEXT",
        "inter.broker.listener.name": "PLAINTEXT",
        "sasl.enabled.mechanisms": "PLAIN",
        "sasl.mechanism.controller.protocol": "PLAIN",
        "sasl.mechanism.inter.broker.protocol": "PLAIN",
        "listener.name.controller.plain.sasl.jaas.config": line,
        "listener.name.plaintext.plain.sasl.jaas.config": line,
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:admin",
        **tls_entries(files.node, files.truststore),
    }
    with path.open("a") as file:
        file.writelines(f"{key}={value}\n" for key, value in entries.items())
    return path


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("node-certificates"))


@pytest.fixture
def addresses(tmp_path: Path) -> Iterator[tuple[str, str]]:
    lease = ports.lease(tmp_path.name, tmp_path, 2)
    yield f"127.0.0.1:{lease.ports[0]}", f"127.0.0.1:{lease.ports[1]}"
    ports.release(lease)


def admin_client(address: str, user: str) -> AdminClient:
    return AdminClient(
        {
            "bootstrap.servers": address,
            "security.protocol": "SASL_PLAINTEXT",
            "sasl.mechanism": "PLAIN",
            "sasl.username": user,
            "sasl.password": USERS[user],
            "log_level": 0,
        }
    )


def lists_brokers(client: AdminClient) -> bool:
    with contextlib.suppress(KafkaException):
        return bool(client.list_topics(timeout=2).brokers)
    return False


def create(client: AdminClient, name: str) -> KafkaError | None:
    (future,) = client.create_topics([NewTopic(name, 1, 1)]).values()
    try:
        future.result(CALL_SECONDS)
    except KafkaException as error:
        found: KafkaError = error.args[0]
        return found
    return None


def runs_secured(
    start_controller: Start,
    start_broker: Start,
    files: Certificates,
    directory: Path,
    addresses: tuple[str, str],
) -> None:
    listening, serving = addresses
    theirs = secured(controller_properties(directory / "controller", listening), files)
    path = broker_properties(directory / "broker", serving, listening, log_cleaner_enable="false")
    secured(path, files)
    with start_controller(theirs, listening) as controller, start_broker(path, serving) as broker:
        admin = admin_client(serving, "admin")
        said = controller.output, broker.output
        assert until(lambda: lists_brokers(admin), READY_SECONDS), said
        assert create(admin, "granted") is None
        refused = create(admin_client(serving, "alice"), "refused")
        assert refused is not None
        assert refused.code() == KafkaError.TOPIC_AUTHORIZATION_FAILED, refused
        assert until(lambda: "granted" in admin.list_topics(timeout=CALL_SECONDS).topics)
        assert "refused" not in admin.list_topics(timeout=CALL_SECONDS).topics


@pytest.mark.requirement("590-19")
def test_a_real_broker_at_our_controller(
    java: Java, files: Certificates, tmp_path: Path, addresses: tuple[str, str]
) -> None:
    runs_secured(
        our_node,
        lambda path, address: real_node(java, path, address),
        files,
        tmp_path,
        addresses,
    )


@pytest.mark.requirement("590-19")
def test_our_broker_at_a_real_controller(
    java: Java, files: Certificates, tmp_path: Path, addresses: tuple[str, str]
) -> None:
    runs_secured(
        lambda path, address: real_node(java, path, address),
        our_node,
        files,
        tmp_path,
        addresses,
    )
