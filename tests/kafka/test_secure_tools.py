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

pytestmark = pytest.mark.kafka
BOB_PASSWORD = "bob-secret-6e6e"  # noqa: S105 - the test makes the user
TOPIC = "secure"


class Tools:
    """Kafka's tools with the client properties of one login each."""

    def __init__(self, java: Java, secure: SecureCluster, ports: dict[str, int]) -> None:
        self._java = java
        self._secure = secure
        self._ports = ports

    def run(self, main_class: str, entries: dict[str, str], *arguments: str, option: str) -> str:
        """Run a tool to its end, which must be a success, and return its output."""
        protocol = entries["security.protocol"]
        config = self._secure.folder / f"{protocol}-{len(arguments)}.properties"
        pairs = self._secure.trusting(entries)
        config.write_text("".join(f"{key}={value}\n" for key, value in pairs.items()))
        server = ("--bootstrap-server", f"127.0.0.1:{self._ports[protocol]}")
        done = self._java.run(
            f"org.apache.kafka.tools.{main_class}", *server, option, str(config), *arguments
        )
        assert done.returncode == 0, done.stdout + done.stderr
        assert "Exception" not in done.stdout + done.stderr, done.stdout + done.stderr
        return done.stdout


@pytest.fixture(scope="module")
def tools(java: Java, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tools]:
    files = Certificates(tmp_path_factory.mktemp("tool-certificates"))
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


def mutual(folder: Path) -> dict[str, str]:
    return tls_entries(folder / "client.pem", folder / "trusted.pem")


@pytest.mark.requirement("631-86")
@pytest.mark.requirement("631-87")
def test_tools_of_kafka_log_in_with_each_mechanism(tools: Tools, java: Java) -> None:
    alice = sasl_entries("SASL_SSL", "alice", ALICE_PASSWORD)
    for number in ("256", "512"):
        credential = f"SCRAM-SHA-{number}=[iterations=8192,password={BOB_PASSWORD}]"
        told = (
            tools.run(
                "ConfigCommand",
                alice,
                *("--alter", "--entity-type", "users", "--entity-name", "bob"),
                *("--add-config", credential),
                option="--command-config",
            )
            if False
            else run_configs(java, tools, alice, credential)
        )
        assert "Completed updating config for user bob" in told
    certificates = tools._secure.certificates.folder  # noqa: SLF001 - the certificates of the test
    by_certificate = {"security.protocol": "SSL", **mutual(certificates)}
    topic = ("--create", "--topic", TOPIC, "--partitions", "1", "--replication-factor", "1")
    told = tools.run("TopicCommand", by_certificate, *topic, option="--command-config")
    assert f"Created topic {TOPIC}" in told
    produce(java, tools, sasl_entries("SASL_SSL", "bob", BOB_PASSWORD, "SCRAM-SHA-512"))
    by_scram = sasl_entries("SASL_PLAINTEXT", "bob", BOB_PASSWORD, "SCRAM-SHA-256")
    wanted = ("--topic", TOPIC, "--partition", "0", "--offset", "earliest", "--max-messages", "5")
    told = tools.run("consumer.ConsoleConsumer", by_scram, *wanted, option="--command-config")
    assert len(told.splitlines()) == 5
    token = ("--create", "--max-life-time-period", "-1")
    told = tools.run("DelegationTokenCommand", alice, *token, option="--command-config")
    token_id, hmac = re.findall(r"^(\S+)\s+(\S+)\s+User:alice", told, re.MULTILINE)[0]
    line = f'{SCRAM_MODULE} required username="{token_id}" password="{hmac}" tokenauth="true";'
    bearer = {**by_scram, "sasl.jaas.config": line}
    told = tools.run("TopicCommand", bearer, "--list", option="--command-config")
    assert TOPIC in told


def run_configs(java: Java, tools: Tools, entries: dict[str, str], credential: str) -> str:
    """Run kafka-configs, whose class is in another package."""
    config = tools._secure.folder / "configs.properties"  # noqa: SLF001
    pairs = tools._secure.trusting(entries)  # noqa: SLF001
    config.write_text("".join(f"{key}={value}\n" for key, value in pairs.items()))
    address = f"127.0.0.1:{tools._ports['SASL_SSL']}"  # noqa: SLF001
    return java.output(
        "kafka.admin.ConfigCommand",
        *("--bootstrap-server", address, "--command-config", str(config)),
        *("--alter", "--entity-type", "users", "--entity-name", "bob"),
        *("--add-config", credential),
    )
