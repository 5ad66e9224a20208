"""Snapshots of a real process: their configuration, and what it says of damaged ones."""

from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.properties.config import parse_server_properties
from kraftproof.node.properties.keys import ConfigError

if TYPE_CHECKING:
    from pathlib import Path

    from tests.node.server.conftest import LiveCluster, LiveNode

    MakeCluster = Callable[[int, int], LiveCluster]

BASE = """process.roles=controller
node.id=1
controller.quorum.voters=1@localhost:9093
listeners=CONTROLLER://localhost:9093
controller.listener.names=CONTROLLER
log.dirs=/nowhere
"""
BYTES_KEY = "metadata.log.max.record.bytes.between.snapshots"
INTERVAL_KEY = "metadata.log.max.snapshot.interval.ms"


@pytest.mark.requirement("631-31")
def test_the_defaults_are_the_kips() -> None:
    policy = parse_server_properties(BASE).node.snapshots
    assert (policy.bytes_between, policy.interval_ns) == (20971520, milliseconds(3600000))


@pytest.mark.requirement("631-31")
def test_both_thresholds_are_configured() -> None:
    text = f"{BASE}{BYTES_KEY}=4294967296\n{INTERVAL_KEY}=0\n"
    policy = parse_server_properties(text).node.snapshots
    assert (policy.bytes_between, policy.interval_ns) == (1 << 32, 0)


@pytest.mark.requirement("631-31")
@pytest.mark.parametrize(
    ("key", "value", "smallest"),
    [
        (BYTES_KEY, "0", 1),
        (BYTES_KEY, "many", 1),
        (INTERVAL_KEY, "-1", 0),
        ("metadata.snapshot.fetch.max.bytes", "0", 1),
    ],
)
def test_a_threshold_out_of_bounds_is_one_clear_line(key: str, value: str, smallest: int) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_server_properties(f"{BASE}{key}={value}\n")
    said = f"{key}={value}: is not valid, a whole number from {smallest} to "
    assert str(caught.value).startswith(said)


def create_topics_until(cluster: "LiveCluster", holds: Callable[[], bool]) -> None:
    """Create topics, which write records, until a condition holds."""
    cluster.await_brokers(1)
    admin = AdminClient({"bootstrap.servers": ",".join(cluster.bootstrap), "log_level": 0})
    for number in range(200):
        (future,) = admin.create_topics([NewTopic(f"t-{number}", 1, 1)]).values()
        future.result(30)
        if holds():
            return
    pytest.fail("200 topics were in vain")


def snapshots(node: "LiveNode") -> "list[Path]":
    return sorted(node.directory.rglob("*.checkpoint"))


def first_offset(node: "LiveNode") -> int:
    return min(int(path.stem) for path in node.directory.rglob("__cluster_metadata-0/0*.log"))


def start_anew(cluster: "LiveCluster") -> None:
    (node,) = cluster.nodes
    (node.directory / "trace.jsonl").unlink()
    node.start()


@pytest.mark.requirement("631-31")
@pytest.mark.requirement("631-36")
def test_a_damaged_snapshot_costs_one_line_or_the_start_but_nothing_that_was_committed(
    live: "MakeCluster",
) -> None:
    cluster = live(1, 0)
    (node,) = cluster.nodes
    node.end()
    with node.properties.open("a") as properties:
        properties.write(f"{BYTES_KEY}=600\n")
    start_anew(cluster)
    create_topics_until(cluster, lambda: len(snapshots(node)) == 2)
    node.end()
    newest = snapshots(node)[-1]
    whole = newest.read_bytes()
    newest.write_bytes(whole[:-10])
    start_anew(cluster)
    cluster.await_brokers(1)
    (line,) = [line for line in node.output.splitlines() if newest.name in line]
    assert line.startswith(f"kraft-node: {newest}: no whole snapshot (")
    node.end()
    assert "Traceback" not in node.output


@pytest.mark.requirement("631-36")
def test_a_node_whose_snapshots_are_all_damaged_does_not_start_until_one_is_back(
    live: "MakeCluster",
) -> None:
    cluster = live(1, 0)
    (node,) = cluster.nodes
    node.end()
    with node.properties.open("a") as properties:
        properties.write(f"{BYTES_KEY}=600\n")
    start_anew(cluster)
    create_topics_until(cluster, lambda: first_offset(node) > 0)
    node.end()
    kept = {path: path.read_bytes() for path in snapshots(node)}
    for path in kept:
        path.write_bytes(b"")
    printed = len(node.output.splitlines())
    start_anew(cluster)
    assert node.process is not None
    assert node.process.wait(10) == 1
    (line,) = node.output.splitlines()[printed:]
    assert line.startswith("kraft-node: ")
    assert "no whole snapshot holds the earlier records" in line
    for path, data in kept.items():
        path.write_bytes(data)
    node.start()
    cluster.await_brokers(1)
