"""Failed log directories: heartbeats, registrations, ends of brokers, and replicas offline."""

import msgspec
import pytest

from kraftproof.cluster.simulated.invariants.brokers.failed_directories import (
    FailedDirectoriesAreTold,
)
from kraftproof.cluster.simulated.invariants.invariant import ClusterConfig
from kraftproof.cluster.simulated.invariants.partitions.offline import OnlyFailedAreOffline
from kraftproof.node.core.base.config import Timeouts
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.core.events import DirectoryFailed, TimestampFound
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    broker_heartbeat_request,
    broker_heartbeat_response,
    broker_registration_request,
    fetch_request,
    fetch_response,
)
from kraftproof.node.wire.types import Uuid
from tests.cluster.simulated.invariants.invariant_harness import MonitorHarness
from tests.cluster.simulated.invariants.partition_case import LOG, NAME, TOPIC, PartitionCase

LIMIT_NS = milliseconds(3_000)
CONFIG = ClusterConfig(voters=(1,), timeouts=Timeouts(directory_failure_ns=LIMIT_NS))
GONE, OTHER = Uuid(b"d" * 16), Uuid(b"e" * 16)
Heartbeat = broker_heartbeat_request.BrokerHeartbeatRequest
Answer = broker_heartbeat_response.BrokerHeartbeatResponse
Registration = broker_registration_request.BrokerRegistrationRequest


def failing():
    harness = MonitorHarness(FailedDirectoriesAreTold(CONFIG))
    broker = harness.process(4)
    broker.event = DirectoryFailed(directory=GONE, reason="EIO")
    broker.steps()
    broker.event = None
    return harness, broker


@pytest.mark.parametrize(
    ("message", "is_right"),
    [
        (Heartbeat(offline_log_dirs=(GONE,)), True),
        (Heartbeat(offline_log_dirs=(OTHER, GONE)), True),
        (Heartbeat(), False),
        (Heartbeat(offline_log_dirs=(OTHER,)), False),
        (Registration(log_dirs=(OTHER,)), True),
        (Registration(log_dirs=(OTHER, GONE)), False),
    ],
)
def test_heartbeats_name_a_failed_directory_and_registrations_do_not(message, is_right):
    harness, broker = failing()
    broker.sends(message)
    assert (harness.reported == []) is is_right


def test_a_process_before_the_failure_names_nothing():
    harness, _ = failing()
    harness.process(4).sends(Heartbeat())
    assert harness.reported == []


@pytest.mark.parametrize(
    ("asked", "answer", "may_end"),
    [
        (Heartbeat(offline_log_dirs=(GONE,)), Answer(), False),
        (Heartbeat(), Answer(), True),
        (Heartbeat(offline_log_dirs=(GONE,)), Answer(error_code=ErrorCode.NOT_CONTROLLER), True),
    ],
)
def test_a_broker_ends_only_if_no_controller_hears_for_the_whole_time(asked, answer, may_end):
    harness = MonitorHarness(told := FailedDirectoriesAreTold(CONFIG))
    broker = harness.process(4)
    harness.now_ns += 2 * LIMIT_NS
    assert not told.may_end(broker)
    broker.event = DirectoryFailed(directory=GONE, reason="EIO")
    broker.steps()
    harness.now_ns += LIMIT_NS // 2
    assert not told.may_end(broker)
    broker.hears(1, asked, answer)
    harness.now_ns += LIMIT_NS
    assert told.may_end(broker) is may_end


def fetched(error):
    part = fetch_response.PartitionData(partition_index=0, error_code=error, high_watermark=0)
    topic = fetch_response.FetchableTopicResponse(topic="t", topic_id=TOPIC, partitions=(part,))
    return fetch_response.FetchResponse(responses=(topic,))


ASKED = fetch_request.FetchRequest(
    topics=(
        fetch_request.FetchTopic(
            topic="t", topic_id=TOPIC, partitions=(fetch_request.FetchPartition(partition=0),)
        ),
    )
)


@pytest.mark.parametrize(
    ("place", "failed", "error", "reported"),
    [
        (GONE, {GONE}, ErrorCode.KAFKA_STORAGE_ERROR, None),
        (OTHER, {GONE}, ErrorCode.NONE, None),
        (GONE, {GONE}, ErrorCode.NONE, "served, but its directory has failed"),
        (OTHER, {GONE}, ErrorCode.KAFKA_STORAGE_ERROR, "offline, but its directory works"),
        (GONE, set(), ErrorCode.KAFKA_STORAGE_ERROR, "offline, but its directory works"),
    ],
)
def test_the_replicas_of_a_failed_directory_alone_are_offline(place, failed, error, reported):
    case = PartitionCase(OnlyFailedAreOffline())
    broker = case.nodes[1]
    broker.partitions.of(LOG).directory = place
    for directory in failed:
        broker.partitions.fail(directory)
        broker.event = DirectoryFailed(directory=directory, reason="EIO")
        broker.steps()
    case.answer(1, ASKED, fetched(error))
    found = [text for text in case.reported if reported is None or reported in str(text)]
    assert len(found) == (reported is not None)
    if reported is not None:
        assert NAME in str(found[0])


def test_a_look_up_that_began_before_the_failure_may_be_answered():
    """Log seed 1720058: a worker had looked for a time, and the answer came after the failure."""
    case = PartitionCase(OnlyFailedAreOffline())
    broker = case.nodes[1]
    broker.partitions.of(LOG).directory = GONE
    broker.partitions.fail(GONE)
    broker.event = DirectoryFailed(directory=GONE, reason="EIO")
    broker.steps()
    broker.event = TimestampFound(token=1, offset=-1, timestamp_ms=-1, epoch=-1)
    case.answer(1, ASKED, fetched(ErrorCode.NONE))
    assert case.reported == []


def test_a_look_up_may_meet_the_failure_before_the_broker_hears_of_it() -> None:
    """Log seed 700272: the worker's read failed 3 ms after the disk, and before DirectoryFailed."""
    case = PartitionCase(OnlyFailedAreOffline())
    broker = case.nodes[1]
    broker.partitions.of(LOG).directory = GONE
    found = TimestampFound(token=1, offset=-1, timestamp_ms=-1, epoch=-1, has_failed=True)
    broker.event = found
    case.answer(1, ASKED, fetched(ErrorCode.KAFKA_STORAGE_ERROR))
    assert case.reported == []
    broker.event = msgspec.structs.replace(found, has_failed=False)
    case.answer(1, ASKED, fetched(ErrorCode.KAFKA_STORAGE_ERROR))
    assert len(case.reported) == 1
