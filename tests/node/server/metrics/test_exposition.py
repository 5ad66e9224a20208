"""The text of the figures, the figures of a cluster, and the figures about clients."""

import math

import pytest

from kraftproof.node.server.metrics.catalogue import BY_NAME, RAFT
from kraftproof.node.server.metrics.clients import MOST_NAMES, ClientMetrics, named_software
from kraftproof.node.server.metrics.cluster import cluster_gauges
from kraftproof.node.server.metrics.exposition import exposition
from kraftproof.node.server.metrics.figures import Figure, prefixed
from kraftproof.node.wire.messages.generated.api_versions_request import ApiVersionsRequest
from tests.support.node.rich_image import rich_image


def test_the_text_has_help_kind_and_labels() -> None:
    text = exposition(
        [
            *prefixed(RAFT, {"current-leader": -1, "commit-latency-avg": math.nan}),
            Figure(f"{RAFT}current_state", 1, ("leader",)),
            Figure(f"{RAFT}current_state", 0, ("voted",)),
            Figure("kafka_network_request_metrics_requests", 7, ('a"b',)),
        ]
    )
    assert text.splitlines() == [
        f"# HELP {RAFT}current_leader {BY_NAME[RAFT + 'current_leader'].help}",
        f"# TYPE {RAFT}current_leader gauge",
        f"{RAFT}current_leader -1.0",
        f"# HELP {RAFT}commit_latency_avg {BY_NAME[RAFT + 'commit_latency_avg'].help}",
        f"# TYPE {RAFT}commit_latency_avg gauge",
        f"{RAFT}commit_latency_avg NaN",
        f"# HELP {RAFT}current_state {BY_NAME[RAFT + 'current_state'].help}",
        f"# TYPE {RAFT}current_state gauge",
        f'{RAFT}current_state{{state="leader"}} 1.0',
        f'{RAFT}current_state{{state="voted"}} 0.0',
        "# HELP kafka_network_request_metrics_requests_total Answered requests",
        "# TYPE kafka_network_request_metrics_requests_total counter",
        'kafka_network_request_metrics_requests_total{request="a\\"b"} 7.0',
    ]


def test_a_metric_that_is_not_in_the_catalogue_is_a_mistake() -> None:
    with pytest.raises(KeyError, match="kafka_nothing"):
        exposition([Figure("kafka_nothing", 1)])


def test_the_figures_of_a_cluster_are_those_of_its_image() -> None:
    assert cluster_gauges(rich_image()) == {
        "active-broker-count": 1,
        "fenced-broker-count": 1,
        "controlled-shutdown-broker-count": 0,
        "global-topic-count": 1,
        "global-partition-count": 2,
        "offline-partitions-count": 1,
        "preferred-replica-imbalance-count": 1,
    }


@pytest.mark.requirement("590-22")
def test_connections_count_by_software_within_a_bound() -> None:
    clients = ClientMetrics()
    named = ApiVersionsRequest(client_software_name="app", client_software_version="1.0")
    assert named_software(named, 3) == ("app", "1.0")
    assert named_software(named, 2) == ("unknown", "unknown")
    assert named_software(ApiVersionsRequest(client_software_name="a b"), 3) is None
    counted = [clients.connected((f"app-{number}", "1")) for number in range(MOST_NAMES + 5)]
    assert counted[-1] == ("other", "other")
    assert len(clients.figures()) == MOST_NAMES + 1
    for software in counted:
        clients.disconnected(software)
    assert clients.figures() == []
    clients.answered(named, 2.5)
    clients.answered(named, 1.5)
    assert [(figure.value, figure.labels) for figure in clients.figures()] == [
        (2, ("ApiVersions",)),
        (4.0, ("ApiVersions",)),
    ]
