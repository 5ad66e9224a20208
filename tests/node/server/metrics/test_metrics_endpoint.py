"""The metrics endpoint: under bad requests, and a live cluster's figures."""

import asyncio
import json
import re
import urllib.request
from collections.abc import Callable
from typing import TYPE_CHECKING

import pytest

from kraftproof.node.server.metrics import endpoint as metrics_endpoint
from kraftproof.node.server.metrics.catalogue import CATALOGUE, CONTROLLER, Kind
from kraftproof.node.server.metrics.endpoint import MetricsEndpoint
from scripts.metrics_page import dashboard
from tests.node.server.conftest import free_ports
from tests.node.server.test_live import eventually

if TYPE_CHECKING:
    from tests.node.server.conftest import LiveCluster, LiveNode

pytestmark = pytest.mark.filterwarnings("ignore:.*_text is deprecated:DeprecationWarning")


async def exchange(port: int, request: bytes) -> bytes:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(request)
    answer = await asyncio.wait_for(reader.read(), 5)
    writer.close()
    return answer


@pytest.mark.parametrize(
    ("request_bytes", "said"),
    [
        (b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n", b"HTTP/1.1 200 OK"),
        (b"GET /metrics?x=1 HTTP/1.0\r\n\r\n", b"HTTP/1.1 200 OK"),
        (b"GET /secret HTTP/1.1\r\n\r\n", b"HTTP/1.1 404 "),
        (b"POST /metrics HTTP/1.1\r\n\r\n", b"HTTP/1.1 405 "),
        (b"\x00\x00\x00\x10\x00\x12\r\n\r\n", b"HTTP/1.1 400 "),
        (b"GET /" + b"a" * 20_000 + b" HTTP/1.1\r\n\r\n", b"HTTP/1.1 431 "),
        (b"GET /metrics HTTP/1.1\r\n", b"HTTP/1.1 408 "),
    ],
)
def test_requests_are_bounded(
    monkeypatch: pytest.MonkeyPatch, request_bytes: bytes, said: bytes
) -> None:
    monkeypatch.setattr(metrics_endpoint, "REQUEST_SECONDS", 0.2)

    async def scenario() -> None:
        (port,) = free_ports(1)
        endpoint = MetricsEndpoint("127.0.0.1", port, lambda: "figures\n")
        await endpoint.open()
        answer = await exchange(port, request_bytes)
        assert answer.startswith(said)
        assert answer.endswith(b"\r\n\r\nfigures\n") == (b" 200 " in said)
        endpoint.close()

    asyncio.run(scenario())


def test_too_many_connections_are_told_so() -> None:
    async def scenario() -> None:
        (port,) = free_ports(1)
        endpoint = MetricsEndpoint("127.0.0.1", port, lambda: "figures\n")
        await endpoint.open()
        silent = [
            await asyncio.open_connection("127.0.0.1", port)
            for _ in range(metrics_endpoint.CONNECTIONS)
        ]
        await asyncio.sleep(0.05)
        answer = await exchange(port, b"GET /metrics HTTP/1.1\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 503 ")
        for _, writer in silent:
            writer.close()
        await asyncio.sleep(0.05)
        answer = await exchange(port, b"GET /metrics HTTP/1.1\r\n\r\n")
        assert answer.startswith(b"HTTP/1.1 200 ")
        endpoint.close()

    asyncio.run(scenario())


def figures(node: "LiveNode") -> dict[str, float]:
    """Every sample of a node's endpoint; names without the prefix."""
    address = f"http://127.0.0.1:{node.metrics_port}/metrics"
    with urllib.request.urlopen(address, timeout=5) as answer:
        assert answer.headers["Content-Type"].startswith("text/plain; version=0.0.4")
        lines = answer.read().decode().splitlines()
    samples = [line.rsplit(" ", 1) for line in lines if not line.startswith("#")]
    return {name.removeprefix("kafka_server_raft_metrics_"): float(at) for name, at in samples}


OF_PROMETHEUS = {"job", "instance"}
"""The labels that Prometheus adds to each sample."""


def shown_labels(node: "LiveNode") -> dict[str, set[str]]:
    """The labels of each metric that a node exposes."""
    address = f"http://127.0.0.1:{node.metrics_port}/metrics"
    with urllib.request.urlopen(address, timeout=5) as answer:
        lines = answer.read().decode().splitlines()
    found: dict[str, set[str]] = {}
    for line in lines:
        if not line.startswith("#"):
            name, _, rest = line.partition("{")
            labels = set(re.findall(r'(\w+)="', rest))
            found.setdefault(name.split(" ")[0], set()).update(labels)
    return found


def check_labels(labels: dict[str, set[str]], target: dict[str, str]) -> None:
    """Each label of an expression and of its legend is a label of each metric there."""
    expression = target["expr"]
    grouped = re.findall(r"\bby \(([^)]*)\)", expression)
    asked = {name.strip() for group in grouped for name in group.split(",")}
    asked |= set(re.findall(r"(\w+)\s*[=!]~?", expression))
    asked |= set(re.findall(r"\{\{\s*(\w+)\s*\}\}", target.get("legendFormat", "")))
    for metric in re.findall(r"kafka_\w+", expression):
        assert asked <= labels[metric] | OF_PROMETHEUS, (target, labels[metric])


def check_the_catalogue(cluster: "LiveCluster", found: dict[int, dict[str, float]]) -> None:
    """Every listed metric, and every metric of a panel, is exposed by a running node."""
    labels: dict[str, set[str]] = {}
    for node in cluster.nodes:
        for name, of_metric in shown_labels(node).items():
            labels.setdefault(name, set()).update(of_metric)
    names = set(labels)
    listed = {
        metric.name + ("_total" if metric.kind is Kind.COUNTER else "") for metric in CATALOGUE
    }
    assert names == listed
    for panel in json.loads(dashboard())["panels"]:
        for target in panel.get("targets", ()):
            asked = re.findall(r"kafka_\w+", target["expr"])
            assert asked, target
            assert set(asked) <= names, target
            check_labels(labels, target)
    controllers = [figure for figure in found.values() if CONTROLLER + "metadata_lag" in figure]
    assert len(controllers) == 3
    assert sum(figure[CONTROLLER + "active_controller_count"] for figure in controllers) == 1
    (active,) = (one for one in controllers if one[CONTROLLER + "active_controller_count"])
    assert active[CONTROLLER + "global_topic_count"] == 20
    assert active[CONTROLLER + "active_broker_count"] == 1
    assert active[CONTROLLER + "metadata_commit_latency_ms"] > 0
    assert active[CONTROLLER + "metadata_commit_rate_per_sec"] > 0
    broker = found[4]
    assert (broker["kafka_server_broker_state"], broker["kafka_server_metadata_lag"]) == (3, 0)
    named = [name for name in broker if "socket_server_metrics_connections{" in name]
    assert any('client_software_name="kafka-python"' in name for name in named), named
    created = 'kafka_network_request_metrics_requests_total{request="CreateTopics"}'
    assert broker[created] == 20


def states(found: dict[str, float]) -> list[str]:
    prefix = 'current_state{state="'
    held = [name for name, value in found.items() if name.startswith(prefix) and value == 1]
    return [name.removeprefix(prefix).removesuffix('"}') for name in held]


@pytest.mark.requirement("595-70")
@pytest.mark.requirement("595-71")
@pytest.mark.requirement("595-72")
@pytest.mark.requirement("595-73")
@pytest.mark.requirement("595-74")
@pytest.mark.requirement("590-22")
@pytest.mark.requirement("631-101")
@pytest.mark.requirement("631-102")
@pytest.mark.requirement("631-103")
@pytest.mark.requirement("631-104")
def test_a_live_cluster_shows_its_leader_its_states_and_its_times(
    live: "Callable[..., LiveCluster]",
) -> None:
    from kafka.admin import KafkaAdminClient, NewTopic

    cluster = live(3, 1, has_metrics=True)
    admin = KafkaAdminClient(bootstrap_servers=cluster.bootstrap)
    for number in range(20):
        admin.create_topics([NewTopic(f"topic-{number}", 1, 1)])
    found = {number: figures(node) for number, node in enumerate(cluster.nodes, start=1)}
    names = {name.lower() for figure in found.values() for name in figure}
    check_the_catalogue(cluster, found)
    admin.close()
    assert not [name for name in names if "zookeeper" in name or "sessionexpire" in name]
    (leader,) = {int(figure["current_leader"]) for figure in found.values()}
    assert {figure["current_epoch"] for figure in found.values()} == {found[1]["current_epoch"]}
    roles = ["follower", "follower", "follower", "observer"]
    roles[leader - 1] = "leader"
    assert [states(figure) for figure in found.values()] == [[role] for role in roles]
    leading = found[leader]
    assert leading["log_end_offset"] >= leading["high_watermark"] > 20
    assert leading["log_end_epoch"] == leading["current_epoch"] >= 1
    assert leading["current_vote"] == leader
    assert leading["append_records_rate"] > 0
    assert "fetch_records_rate" not in leading
    names = ("commit_latency", "high_watermark_time", "fsync_time", "apply_time", "request_time")
    for name in ("election_latency", *names):
        assert 0 < leading[f"{name}_avg"] <= leading[f"{name}_max"] < 30_000, name
    lag = "kafka_controller_metadata_snapshot_offset_lag"
    assert lag not in found[4], "a broker"
    assert all(found[number][lag] == found[number]["high_watermark"] for number in (1, 2, 3))
    for number, figure in found.items():
        assert 0 <= figure["poll_idle_ratio_avg"] <= 1
        assert 0 <= figure["number_unknown_voter_connections"] <= 3
        if number != leader:
            assert figure["fetch_records_rate"] > 0
            assert "append_records_rate" not in figure
            assert "commit_latency_avg" not in figure
    cluster.nodes[leader - 1].end()
    others = [node for number, node in enumerate(cluster.nodes, start=1) if number != leader]
    assert eventually(lambda: all(figures(n)["current_leader"] not in {-1, leader} for n in others))
    successor = next(node for node in others if states(figures(node)) == ["leader"])
    assert figures(successor)["election_latency_avg"] > 0
