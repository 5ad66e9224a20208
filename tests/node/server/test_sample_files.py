"""Nodes start with the sample files of Kafka's distribution, and follow dynamic changes."""

import contextlib
import socket
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kraftproof.node.tools.client import Address, Client, ClientError
from kraftproof.node.tools.storage import run as format_storage
from kraftproof.node.wire.messages import (
    describe_cluster_request,
    incremental_alter_configs_request,
)
from tests.node.properties.samples import COMBINED, CONTROLLER, text_of
from tests.node.server.conftest import CLUSTER_ID, LiveNode, free_ports


@contextlib.contextmanager
def started(directory: Path, sample: dict[str, str]) -> Iterator[tuple[LiveNode, list[int]]]:
    """Run a node of a sample file; only ports and directories are others."""
    ports = free_ports(2)
    text = text_of({**sample, "log.dirs": str(directory / "data")})
    text = text.replace(":9092", f":{ports[0]}").replace(":9093", f":{ports[1]}")
    node = LiveNode(directory, ports[0])
    node.properties.write_text(text)
    arguments = ["format", "--standalone", "-t", CLUSTER_ID, "-c", str(node.properties)]
    assert format_storage(arguments) == 0
    node.start()
    try:
        yield node, ports
    finally:
        node.end()


def asked(port: int, message, seconds: float = 120):
    """Return the answer to a request once the node serves clients."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            with Client(Address("localhost", port), 5) as client:
                return client.ask(message)
        except ClientError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


def test_the_combined_sample_serves_and_its_connections_are_limited_while_it_runs(
    tmp_path: Path,
) -> None:
    with started(tmp_path, COMBINED) as (node, (port, _)):
        assert until_a_broker_is_unfenced(port) == CLUSTER_ID
        warnings = [line for line in node.output.splitlines() if "no effect" in line]
        assert len(warnings) == 5, warnings
        assert warnings[0].endswith(
            "num.network.threads: this key of Kafka has no effect in this node"
        )
        request = incremental_alter_configs_request
        change = request.AlterableConfig(name="max.connections", config_operation=0, value="1")
        resource = request.AlterConfigsResource(
            resource_type=4, resource_name="", configs=(change,)
        )
        done = asked(port, request.IncrementalAlterConfigsRequest(resources=(resource,)))
        assert done.responses[0].error_code == 0
        assert until_second_connection_is_closed(port)


def until_second_connection_is_closed(port: int, seconds: float = 5) -> bool:
    """Whether the node comes to close a second connection beside a first."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        with contextlib.ExitStack() as stack:
            address = ("localhost", port)
            sockets = [stack.enter_context(socket.create_connection(address)) for _ in range(2)]
            sockets[1].settimeout(0.2)
            with contextlib.suppress(TimeoutError):
                try:
                    return sockets[1].recv(1) == b""
                except ConnectionResetError:
                    return True
    return False


def until_a_broker_is_unfenced(port: int, seconds: float = 120) -> str:
    """Return the cluster's id once the cluster names a broker.

    The listener serves before the controller unfences the broker, and a fenced broker is not
    named.
    """
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        answer = asked(port, describe_cluster_request.DescribeClusterRequest())
        if answer.brokers:
            assert len(answer.brokers) == 1
            return answer.cluster_id
        time.sleep(0.05)
    raise AssertionError(f"no broker is unfenced after {seconds} s")


@pytest.mark.requirement("631-79")
def test_the_controller_sample_serves(tmp_path: Path) -> None:
    with started(tmp_path, CONTROLLER) as (_, (_, port)):
        request = describe_cluster_request.DescribeClusterRequest(endpoint_type=2)
        assert [node.broker_id for node in asked(port, request).brokers] == [1]
