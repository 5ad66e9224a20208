"""A status goes red where the disk or the messages show something else, and only there."""

import pytest

from kraftproof.cluster.simulated.invariants.quorum.evidence import QuorumEvidence
from kraftproof.cluster.simulated.invariants.quorum.status import StatusIsAccurate
from kraftproof.node.core.base.log_id import METADATA_LOG
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.events import Flushed
from kraftproof.node.core.raft.fetch_rpc import FETCH_VERSION
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import fetch_response
from tests.cluster.simulated.invariants.invariant_harness import (
    CONFIG,
    MonitorHarness,
    fetch,
    image_of,
    topic,
)

EPOCH = 7
LOG_END = 5


def fetch_answer(high_watermark=0, error=ErrorCode.NONE):
    partition = fetch_response.PartitionData(error_code=error, high_watermark=high_watermark)
    topic = fetch_response.FetchableTopicResponse(partitions=(partition,))
    return fetch_response.FetchResponse(responses=(topic,))


def harness_of(node_id=1, durable=None):
    evidence = QuorumEvidence(CONFIG)
    harness = MonitorHarness(evidence, StatusIsAccurate(CONFIG, evidence))
    return harness, harness.process(node_id, durable=durable)


class Led:
    """Node 1 has won epoch 7 and has flushed five records of the epoch."""

    def __init__(self):
        self.harness, self.process = harness_of()
        self.process.persists(epoch=EPOCH, voted_for=1, leader=1)
        for _ in range(LOG_END):
            self.process.appends(epoch=EPOCH)
        self.process.event = Flushed(log=METADATA_LOG, generation=0, end_offset=LOG_END)
        self.says()

    def says(self, **changes):
        right = {"voted_for": 1, "log_end": LOG_END, "last_epoch": EPOCH, "flushed": LOG_END}
        self.process.leads(EPOCH, **{**right, **changes})
        return self.harness.reported

    def hears(self, request):
        self.process.receives(request, version=FETCH_VERSION)


def test_a_leader_that_says_what_it_is():
    led = Led()
    led.hears(fetch(2, 3))
    assert led.says(high_watermark=3) == []
    led.hears(fetch(3, LOG_END))
    assert led.says(high_watermark=LOG_END) == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"role": "resigned", "leader": -1},
        {"epoch": 8},
        {"voted_for": 2},
        {"leader": 2},
        {"log_end": LOG_END + 1},
        {"last_epoch": 6},
        {"snapshot_end": 1},
        {"high_watermark": 2},
        {"high_watermark": 4},
    ],
)
def test_a_leader_that_says_something_else(wrong):
    led = Led()
    led.hears(fetch(2, 3))
    right = {"voted_for": 1, "log_end": LOG_END, "last_epoch": EPOCH, "high_watermark": 3}
    led.process.appends(epoch=EPOCH)
    led.process.truncates(LOG_END)
    led.process.moves(**{"role": "leader", "epoch": EPOCH, "leader": 1, **right, **wrong})
    assert len(led.harness.reported) == 1


@pytest.mark.parametrize(
    "request_",
    [
        fetch(2, 3, epoch=6),
        fetch(2, 3, last_fetched=6),
        fetch(2, LOG_END + 1),
        fetch(4, 3),
        fetch(2, 3, cluster_id="another"),
    ],
    ids=["old epoch", "other last epoch", "past the end", "no voter", "another cluster"],
)
def test_a_fetch_that_acknowledges_nothing(request_):
    led = Led()
    led.hears(request_)
    assert led.says(high_watermark=0) == []
    assert len(led.says(high_watermark=3)) == 1


def test_records_before_the_epoch_commit_with_the_first_of_the_epoch():
    harness, process = harness_of()
    process.appends(epoch=EPOCH - 1)
    process.persists(epoch=EPOCH, voted_for=1, leader=1)
    process.appends(epoch=EPOCH)
    right = {"voted_for": 1, "log_end": 2, "last_epoch": EPOCH}
    process.receives(fetch(2, 1, last_fetched=EPOCH - 1), version=FETCH_VERSION)
    process.leads(EPOCH, **right)
    assert harness.reported == []
    process.leads(EPOCH, **right, high_watermark=1)
    assert len(harness.reported) == 1


def test_a_status_that_stays_as_it_was():
    led = Led()
    led.hears(fetch(2, LOG_END))
    led.process.steps()
    assert len(led.harness.reported) == 1


def test_a_node_that_serves_a_fetch_leads():
    harness, process = harness_of(durable=QuorumState(epoch=EPOCH, voted_for=1, leader=1))
    process.moves(role="resigned", epoch=EPOCH, voted_for=1, leader=-1)
    event = process.receives(fetch(2, 0), version=FETCH_VERSION)
    process.replies(event, fetch_answer(error=ErrorCode.NOT_LEADER_OR_FOLLOWER))
    assert harness.reported == []
    process.replies(event, fetch_answer())
    assert len(harness.reported) == 1


def test_a_restarted_leader_does_not_lead():
    harness, process = harness_of(durable=QuorumState(epoch=EPOCH, voted_for=1, leader=1))
    process.leads(EPOCH, voted_for=1)
    assert len(harness.reported) == 1


def test_a_follower_knows_the_high_watermark_that_it_was_told():
    harness, process = harness_of(2, durable=QuorumState(epoch=EPOCH, leader=1))
    process.appends(epoch=EPOCH)
    follows = {"epoch": EPOCH, "leader": 1, "log_end": 1, "last_epoch": EPOCH}
    process.moves(**follows)
    process.moves(**follows, high_watermark=1)
    assert len(harness.reported) == 1
    process.hears(1, fetch(2, 0), fetch_answer(high_watermark=1))
    process.moves(**follows, high_watermark=1)
    assert len(harness.reported) == 1


def test_an_image_is_the_one_that_was_published():
    harness, process = harness_of(2, durable=QuorumState(epoch=1, leader=2))
    process.hears(1, fetch(2, 0), fetch_answer(high_watermark=3))
    image = image_of(topic())
    process.publishes(3, image)
    told = {"leader": -1, "high_watermark": 3, "image_offset": 3}
    process.moves(**told, image_digest=image.digest)
    assert harness.reported == []
    process.moves(**told, image_digest=image.digest + 1)
    assert len(harness.reported) == 1
    process.moves(leader=-1, high_watermark=2, image_offset=3, image_digest=image.digest)
    assert len(harness.reported) == 2
