"""Kafka's own tools and clients against our node: TLS, every mechanism, and delegation tokens."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kafka.java import Java
from tests.node.server.security.conftest import (
    ALICE_PASSWORD,
    SCRAM_MODULE,
    Certificates,
    SecureCluster,
    add_every_listener,
    sasl_entries,
    tls_entries,
)

pytestmark = [pytest.mark.kafka, pytest.mark.slow]
BOB_PASSWORD = "bob-secret-6e6e"
TOPIC = "secure"
RECORDS = "5"


class Tools:
    """Kafka's tools against a node with each kind of listener."""

    def __init__(self, java: Java, secure: SecureCluster, ports: dict[str, int]) -> None:
        self._java = java
        self._secure = secure
        self._ports = ports

    def config(self, entries: dict[str, str], **more: str) -> Path:
        """Write the properties of a client that trusts our certificates."""
        path = self._secure.folder / f"{len(list(self._secure.folder.iterdir()))}.properties"
        pairs = {**self._secure.trusting(entries), **more}
        path.write_text("".join(f"{key}={value}\n" for key, value in pairs.items()))
        return path

    def address(self, entries: dict[str, str]) -> str:
        return f"127.0.0.1:{self._ports[entries['security.protocol']]}"

    def run(self, main_class: str, *arguments: str) -> str:
        """Run a tool to its end, which must be a success, and return its output."""
        done = self._java.run(main_class, *arguments)
        assert done.returncode == 0, done.stdout + done.stderr
        assert "Exception" not in done.stdout + done.stderr, done.stdout + done.stderr
        return done.stdout

    def admin(self, main_class: str, entries: dict[str, str], *arguments: str) -> str:
        """Run a tool that takes --command-config."""
        server = ("--bootstrap-server", self.address(entries))
        config = ("--command-config", str(self.config(entries)))
        return self.run(main_class, *server, *config, *arguments)


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> Certificates:
    return Certificates(tmp_path_factory.mktemp("tool-certificates"))


@pytest.fixture(scope="module")
def tools(
    java: Java, files: Certificates, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Tools]:
    secure = SecureCluster(tmp_path_factory.mktemp("tools"), files)
    ports = add_every_listener(
        secure,
        "listener.name.ssl.ssl.client.auth=required",
        "delegation.token.secret.key=a-secret-of-the-tests",
    )
    try:
        secure.start()
        yield Tools(java, secure, ports)
        assert "Traceback" not in secure.nodes[0].output
    finally:
        for node in secure.nodes:
            node.end()


@pytest.mark.requirement("631-86")
@pytest.mark.requirement("631-87")
@pytest.mark.requirement("590-19")
def test_tools_of_kafka_log_in_with_each_mechanism(tools: Tools, files: Certificates) -> None:
    alice = sasl_entries("SASL_SSL", "alice", ALICE_PASSWORD)
    user = ("--alter", "--entity-type", "users", "--entity-name", "bob")
    for number in (256, 512):  # Kafka refuses a request that names a user twice
        credential = f"SCRAM-SHA-{number}=[iterations=8192,password={BOB_PASSWORD}]"
        tools.admin("kafka.admin.ConfigCommand", alice, *user, "--add-config", credential)
    by_certificate = {"security.protocol": "SSL", **tls_entries(files.client, files.truststore)}
    topic = ("--create", "--topic", TOPIC, "--partitions", "1", "--replication-factor", "1")
    told = tools.admin("org.apache.kafka.tools.TopicCommand", by_certificate, *topic)
    assert f"Created topic {TOPIC}" in told
    strong = sasl_entries("SASL_SSL", "bob", BOB_PASSWORD, "SCRAM-SHA-512")
    config = tools.config(strong, **{"bootstrap.servers": tools.address(strong)})
    told = tools.run(
        "org.apache.kafka.tools.ProducerPerformance",
        *("--topic", TOPIC, "--num-records", RECORDS, "--record-size", "10"),
        *("--throughput", "-1", "--producer.config", str(config)),
    )
    assert f"{RECORDS} records sent" in told
    weak = sasl_entries("SASL_PLAINTEXT", "bob", BOB_PASSWORD, "SCRAM-SHA-256")
    told = tools.run(
        "org.apache.kafka.tools.consumer.ConsoleConsumer",
        *("--bootstrap-server", tools.address(weak), "--consumer.config", str(tools.config(weak))),
        *("--topic", TOPIC, "--partition", "0", "--offset", "earliest", "--max-messages", RECORDS),
    )
    assert len([line for line in told.splitlines() if len(line) == 10]) == int(RECORDS)
    token = ("--create", "--max-life-time-period", "-1")
    told = tools.admin("org.apache.kafka.tools.DelegationTokenCommand", alice, *token)
    found = re.search(r"^(\S{22})\s+(\S{80,})\s+User:alice", told, re.MULTILINE)
    assert found is not None, told
    line = f'{SCRAM_MODULE} required username="{found[1]}" password="{found[2]}" tokenauth="true";'
    bearer = {**weak, "sasl.jaas.config": line}
    told = tools.admin("org.apache.kafka.tools.TopicCommand", bearer, "--list")
    assert TOPIC in told
