"""The raft metrics: what the figures are, and the text that they are read as."""

import asyncio
import math
import re

import pytest

from kraftproof.node.core.base.config import NodeConfig, Voter
from kraftproof.node.core.base.types import NANOSECONDS_PER_MS, Epoch, Monotonic, NodeId, Offset
from kraftproof.node.core.effects import Send
from kraftproof.node.core.status import NodeStatus
from kraftproof.node.server.clocks import LoopTimers
from kraftproof.node.server.metrics.catalogue import (
    CATALOGUE,
    CONTROLLER,
    RAFT,
)
from kraftproof.node.server.metrics.exposition import exposition
from kraftproof.node.server.metrics.figures import prefixed
from kraftproof.node.server.metrics.node_metrics import unknown_voters
from kraftproof.node.server.metrics.raft import RaftMetrics
from kraftproof.node.server.metrics.sliding_windows import BUCKET_NS, Window
from kraftproof.node.server.peer_transport import PeerTransport
from kraftproof.node.shell.peer_lanes import PeerLanes
from kraftproof.node.shell.ports import Observer
from kraftproof.node.wire.messages.generated.api_versions_request import ApiVersionsRequest

MS = 1_000_000
SECOND = 1000 * MS


def status(
    role: str = "follower",
    *,
    epoch: int = 3,
    leader: int = -1,
    vote: int = -1,
    end: int = 0,
    flushed: int = 0,
    high_watermark: int = 0,
    snapshot_end: int = 0,
    broker_state: int | None = None,
    applied: int = 0,
) -> NodeStatus:
    return NodeStatus(
        role=role,
        epoch=Epoch(epoch),
        leader=NodeId(leader),
        high_watermark=Offset(high_watermark),
        flushed=Offset(flushed),
        log_end=Offset(end),
        image_offset=Offset(applied),
        image_digest=0,
        broker_state=broker_state,
        voted_for=NodeId(vote),
        last_epoch=Epoch(epoch - 1),
        snapshot_end=Offset(snapshot_end),
    )


def at(milliseconds: int) -> Monotonic:
    return Monotonic(milliseconds * MS)


def test_a_window_forgets_and_never_grows() -> None:
    window = Window(0)
    assert math.isnan(window.average(0))
    assert math.isnan(window.largest(0))
    window.record(2, 0)
    window.record(6, BUCKET_NS - 1)
    assert (window.average(BUCKET_NS), window.largest(BUCKET_NS)) == (4, 6)
    window.record(1, BUCKET_NS + 1)
    assert (window.average(BUCKET_NS + 1), window.largest(BUCKET_NS + 1)) == (3, 6)
    assert (window.average(2 * BUCKET_NS), window.largest(2 * BUCKET_NS)) == (1, 1)
    assert math.isnan(window.average(9 * BUCKET_NS))
    assert window.rate(9 * BUCKET_NS) == 0


def test_a_rate_is_over_the_time_that_was_watched() -> None:
    window = Window(0)
    for second in range(10):
        window.record(30, second * SECOND)
    assert window.rate(10 * SECOND) == 30
    assert window.rate(40 * SECOND) == 7.5


def known(metrics: RaftMetrics) -> list[float]:
    return [*metrics.gauges(at(2), unknown_voters=2).values()][:6]


@pytest.mark.requirement("595-70")
def test_the_gauges_say_what_the_node_knows_and_what_it_does_not() -> None:
    metrics = RaftMetrics(status("unattached", epoch=0), at(0))
    assert known(metrics) == [-1, 0, -1, 0, -1, 0]
    metrics.observe(status(leader=2, vote=1, end=9, high_watermark=7), at(2))
    assert known(metrics) == [2, 3, 1, 9, 2, 7]


@pytest.mark.requirement("595-71")
def test_exactly_one_state_holds_and_follows_each_transition() -> None:
    metrics = RaftMetrics(status("unattached"), at(0))
    for number, role in enumerate(("voted", "candidate", "leader", "resigned", "follower")):
        metrics.observe(status(role), at(number))
        assert [name for name, holds in metrics.states().items() if holds] == [role]
    assert metrics.gauges(at(9), 2)["number-unknown-voter-connections"] == 2


@pytest.mark.requirement("595-71")
def test_a_voter_counts_as_unknown_until_the_node_has_turned_to_it() -> None:
    config = NodeConfig(
        node_id=NodeId(1),
        cluster_id="a-cluster",
        is_controller=True,
        is_broker=False,
        voters=tuple(Voter(node_id=NodeId(n), host="127.0.0.1", port=1) for n in (1, 2, 3)),
        endpoints=(),
    )

    async def scenario() -> None:
        peers = PeerLanes(
            PeerTransport(config, {}, "PLAINTEXT"), LoopTimers(), Observer(), post=lambda _: None
        )
        seen = [unknown_voters(config, peers.destinations)]
        for correlation, voter in enumerate((3, 3, 2)):
            send = Send(
                destination=NodeId(voter),
                correlation=correlation,
                message=ApiVersionsRequest(),
                version=0,
                timeout_ns=NANOSECONDS_PER_MS,
            )
            peers.send(send)
            seen.append(unknown_voters(config, peers.destinations))
        peers.close()
        assert seen == [2, 1, 1, 0]

    asyncio.run(scenario())


@pytest.mark.requirement("631-104")
def test_no_metric_of_zookeeper_sessions_is_reported() -> None:
    metrics = RaftMetrics(status("leader", leader=1), at(0))
    text = exposition(
        [
            *prefixed(RAFT, metrics.gauges(at(1), 0)),
            *prefixed(CONTROLLER, metrics.controller_gauges(at(1))),
        ]
    )
    assert "current_leader" in text
    assert not any("session" in metric.name for metric in CATALOGUE)
    assert not re.search("zookeeper|session.?expire", text, re.IGNORECASE)


@pytest.mark.requirement("595-72")
def test_an_election_lasts_from_the_first_candidacy_to_a_known_leader() -> None:
    metrics = RaftMetrics(status("follower", leader=2), at(0))
    metrics.observe(status("candidate", epoch=4), at(100))
    metrics.observe(status("voted", epoch=4), at(150))
    metrics.observe(status("candidate", epoch=5), at(200))
    assert math.isnan(metrics.gauges(at(200), 0)["election-latency-avg"])
    metrics.observe(status("leader", epoch=5, leader=1), at(260))
    metrics.observe(status("candidate", epoch=6), at(400))
    metrics.observe(status("follower", epoch=6, leader=3), at(440))
    gauges = metrics.gauges(at(440), 0)
    assert (gauges["election-latency-avg"], gauges["election-latency-max"]) == (100, 160)
    later = metrics.gauges(Monotonic(at(440) + 2 * BUCKET_NS), 0)
    assert math.isnan(later["election-latency-max"])


@pytest.mark.requirement("595-72")
@pytest.mark.requirement("595-74")
def test_a_commit_lasts_from_the_append_until_the_high_watermark_is_past_it() -> None:
    metrics = RaftMetrics(status("leader", leader=1, end=5, flushed=5, high_watermark=5), at(0))
    metrics.observe(status("leader", leader=1, end=7, flushed=5, high_watermark=5), at(10))
    metrics.observe(status("leader", leader=1, end=8, flushed=7, high_watermark=5), at(14))
    metrics.observe(status("leader", leader=1, end=8, flushed=8, high_watermark=6), at(20))
    assert math.isnan(metrics.gauges(at(20), 0)["commit-latency-max"])
    metrics.observe(status("leader", leader=1, end=8, flushed=8, high_watermark=8), at(30))
    gauges = metrics.gauges(at(30), 0)
    assert (gauges["commit-latency-avg"], gauges["commit-latency-max"]) == (18, 20)
    assert (gauges["high-watermark-time-avg"], gauges["high-watermark-time-max"]) == (13, 16)


@pytest.mark.requirement("595-72")
def test_what_a_lost_leader_appended_is_no_commit() -> None:
    metrics = RaftMetrics(status("leader", leader=1), at(0))
    metrics.observe(status("leader", leader=1, end=4), at(10))
    metrics.observe(status("follower", epoch=4, leader=2, end=4), at(20))
    metrics.observe(status("leader", epoch=5, leader=1, end=4, high_watermark=4), at(30))
    assert math.isnan(metrics.gauges(at(30), 0)["commit-latency-avg"])


@pytest.mark.requirement("595-73")
def test_leaders_append_and_the_others_fetch() -> None:
    metrics = RaftMetrics(status("follower", leader=2, end=100), at(0))
    metrics.observe(status("follower", leader=2, end=120), at(1000))
    gauges = metrics.gauges(at(2000), 0)
    assert gauges["fetch-records-rate"] == 10
    assert "append-records-rate" not in gauges
    metrics.observe(status("leader", epoch=4, leader=1, end=160), at(4000))
    gauges = metrics.gauges(at(4000), 0)
    assert gauges["append-records-rate"] == 10
    assert "fetch-records-rate" not in gauges
    metrics.observe(status("candidate", epoch=5, end=160), at(5000))
    assert not {"append-records-rate", "fetch-records-rate"} & metrics.gauges(at(5000), 0).keys()


@pytest.mark.requirement("595-73")
def test_the_idle_share_is_between_0_and_1() -> None:
    metrics = RaftMetrics(status(), at(0))
    assert math.isnan(metrics.gauges(at(0), 0)["poll-idle-ratio-avg"])
    metrics.idled(at(0), at(3000))
    assert metrics.gauges(at(4000), 0)["poll-idle-ratio-avg"] == 0.75
    metrics.idled(at(0), at(90_000))
    assert metrics.gauges(at(90_000), 0)["poll-idle-ratio-avg"] == 1


@pytest.mark.requirement("595-74")
def test_the_shell_times_requests_fsyncs_and_applying() -> None:
    metrics = RaftMetrics(status("leader", leader=1), at(0))
    metrics.answered(at(10), at(30))
    metrics.flushed(at(10), at(11))
    metrics.applied(at(10), at(12))
    gauges = metrics.gauges(at(30), 0)
    names = ("request-time-avg", "fsync-time-max", "apply-time-avg")
    assert [gauges[name] for name in names] == [20, 1, 2]


@pytest.mark.requirement("631-103")
def test_the_snapshot_lag_is_from_the_snapshot_to_the_last_stable_offset() -> None:
    """The last stable offset itself without a snapshot; the log's end plays no part."""

    def lag(role: str, end: int) -> float | None:
        shown = status(role, end=90, high_watermark=70, snapshot_end=end)
        gauges = RaftMetrics(shown, at(0)).controller_gauges(at(0))
        return gauges.get("metadata-snapshot-offset-lag")

    assert (lag("leader", 0), lag("follower", 50), lag("candidate", 70)) == (70, 20, 0)
    assert lag("observer", 50) is None


@pytest.mark.requirement("631-101")
def test_the_lag_is_what_has_committed_and_is_not_applied() -> None:
    shown = status("follower", leader=2, end=90, high_watermark=70, broker_state=3, applied=61)
    metrics = RaftMetrics(shown, at(0))
    controller, broker = metrics.controller_gauges(at(0)), metrics.broker_gauges()
    assert controller["metadata-lag"] == broker["metadata-lag"] == 9
    assert controller["last-applied-record-offset"] == 60
    assert controller["last-committed-record-offset"] == 69
    assert broker["broker-metadata-metrics-last-applied-record-offset"] == 60
    assert broker["broker-state"] == 3
    assert RaftMetrics(status("follower"), at(0)).broker_gauges() == {}
    assert RaftMetrics(status("observer"), at(0)).controller_gauges(at(0)) == {}


@pytest.mark.requirement("631-102")
def test_commits_are_timed_and_counted_on_the_active_controller_only() -> None:
    metrics = RaftMetrics(status("leader", leader=1, end=5, flushed=5, high_watermark=5), at(0))
    metrics.observe(status("leader", leader=1, end=9, flushed=5, high_watermark=5), at(10))
    assert metrics.controller_gauges(at(10))["metadata-commit-rate-per-sec"] == 0
    metrics.observe(status("leader", leader=1, end=9, flushed=9, high_watermark=9), at(40))
    gauges = metrics.controller_gauges(at(2000))
    assert gauges["metadata-commit-latency-ms"] == 30
    assert gauges["metadata-commit-rate-per-sec"] == 2
    assert (gauges["active-controller-count"], gauges["new-active-controllers-count"]) == (1, 1)
    metrics.observe(status("follower", epoch=4, leader=2, end=9, high_watermark=9), at(2000))
    gauges = metrics.controller_gauges(at(2000))
    assert "metadata-commit-latency-ms" not in gauges
    assert "metadata-commit-rate-per-sec" not in gauges
    assert (gauges["active-controller-count"], gauges["new-active-controllers-count"]) == (0, 2)
