"""Kafka's jars, one real Kafka node and one cluster of ours, each made once for all tests here."""

import asyncio
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from kraftproof.cluster.local import ports
from kraftproof.cluster.protocol import ClusterOptions, nodes_of
from kraftproof.images.kafka import ensure_jars
from kraftproof.node.storage.log import DIRECTORY_NAME
from tests.kafka.definitions import Definition, read_definitions
from tests.kafka.java import OPTIONS, Java, end
from tests.kafka.java_host.host import ToolHost
from tests.kafka.systems import (
    Ours,
    Running,
    controller_addresses,
    has_broker,
    kafka_properties,
    make_cluster,
    until,
)

CONTROLLERS = 3
BROKERS = 2
CLUSTER_ID = "XcZZOzUqS4yHOjhMQB6JLQ"
READY_SECONDS = 60


@pytest.fixture(scope="session")
def jars() -> Path:
    said: list[str] = []
    return ensure_jars(said.append)


@pytest.fixture(scope="session")
def java(jars: Path) -> Iterator[Java]:
    host = ToolHost(jars, OPTIONS)
    yield Java(jars, host)
    host.end()


@pytest.fixture(scope="session")
def definitions(jars: Path) -> dict[str, Definition]:
    return read_definitions(jars)


@pytest.fixture(scope="session")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ours]:
    """Three controllers and two brokers."""
    options = ClusterOptions(
        nodes=nodes_of(controller=CONTROLLERS, broker=BROKERS),
        seed=4,
        directory=tmp_path_factory.mktemp("ours"),
        timeouts="default",
    )
    with asyncio.Runner() as runner:
        cluster = runner.run(make_cluster(options))
        try:
            runner.run(cluster.start())
            files = [cluster.node_files(node.node_id) for node in cluster.nodes]
            yield Ours(
                brokers=cluster.bootstrap(),
                controllers=",".join(controller_addresses(files[0] / "server.properties")),
                log_directory=files[0] / "data" / DIRECTORY_NAME,
                cluster=cluster,
                runner=runner,
            )
        finally:
            runner.run(cluster.stop())


@pytest.fixture(scope="session")
def real(java: Java, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    """One Kafka node, controller and broker, whose quorum may change (so it has more records)."""
    directory = tmp_path_factory.mktemp("kafka")
    lease = ports.lease(directory.name, directory, 2)
    broker, controller = (f"127.0.0.1:{port}" for port in lease.ports)
    properties = directory / "server.properties"
    properties.write_text(kafka_properties(directory / "data", broker, controller))
    format_arguments = ("format", "--standalone", "-t", CLUSTER_ID, "-c", str(properties))
    java.output("kafka.tools.StorageTool", *format_arguments)
    with (directory / "output.log").open("wb") as output:
        process = subprocess.Popen(
            java.command("kafka.Kafka", str(properties)), stdout=output, stderr=output
        )
    try:
        assert until(lambda: has_broker(broker), READY_SECONDS), (
            directory / "output.log"
        ).read_text()
        yield Running(
            brokers=broker,
            controllers=controller,
            log_directory=directory / "data" / DIRECTORY_NAME,
        )
    finally:
        end(process)
        ports.release(lease)
