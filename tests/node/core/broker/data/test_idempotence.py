"""Idempotent producers: ids from the controller, duplicates, and state on followers."""

import pytest

from kraftproof.node.core.served import served_versions
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    describe_producers_request,
    find_coordinator_request,
    init_producer_id_request,
)
from kraftproof.node.wire.records.metadata import PartitionChangeRecord
from tests.support.node.data_clients import START_MS
from tests.support.node.data_world import TOPIC, DataWorld

GROUPS = {8, 11, 12, 13, 14, 15, 16, 42, 47, 69}
"""The API keys of the requests to a coordinator of groups."""


def init(world, node, transactional_id=None):
    request = init_producer_id_request.InitProducerIdRequest(
        transactional_id=transactional_id, transaction_timeout_ms=1
    )
    token = world.request(world.brokers[node], request, 4)
    world.settle()
    return world.brokers[node].answers.get(token)


def test_ids_are_unique_over_brokers_blocks_and_restarts():
    world = DataWorld()
    ids = [init(world, node).producer_id for node in (1, 2, 1, 3) for _ in range(700)]
    world.restart(2)
    ids += [init(world, 2).producer_id for _ in range(5)]
    assert len(set(ids)) == len(ids)
    assert all(init(world, 1).producer_epoch == 0 for _ in range(3))


def test_a_request_waits_for_the_first_block_and_is_refused_in_time():
    world = DataWorld()
    world.loss = 1.0
    request = init_producer_id_request.InitProducerIdRequest()
    token = world.request(world.brokers[1], request, 4)
    world.run(1900)
    assert token not in world.brokers[1].answers
    world.run(200)
    refused = world.brokers[1].answers[token]
    assert refused.error_code == ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
    world.loss = 0.0
    world.run(100)
    assert init(world, 1).error_code == 0


def test_transactions_and_groups_get_a_clear_answer_at_once():
    world = DataWorld()
    assert init(world, 1, "tx").error_code == ErrorCode.INVALID_TRANSACTION_TIMEOUT
    served = served_versions(on_controller_listener=False)
    assert not GROUPS & served.keys(), "a client learns from ApiVersions that there are no groups"
    for kind in (0, 1):
        assert found(world, 3, key="g", key_type=kind) == [(ErrorCode.NONE, 1)]
        keys = ("g", "h")
        named = found(world, 4, coordinator_keys=keys, key_type=kind)
        assert named == [(ErrorCode.NONE, 1)] * 2, "the broker itself"
    for version in (0, 1):
        assert found(world, version, key="g") == [(ErrorCode.UNSUPPORTED_VERSION, -1)]
    shares = found(world, 6, coordinator_keys=("g",), key_type=2)
    assert shares == [(ErrorCode.UNSUPPORTED_VERSION, -1)]


def found(world, version, **fields):
    """Return error and node of each key's coordinator, from broker 1."""
    request = find_coordinator_request.FindCoordinatorRequest(**fields)
    token = world.request(world.brokers[1], request, version)
    answer = world.brokers[1].answers[token]
    return [(one.error_code, one.node_id) for one in answer.coordinators or (answer,)]


def send(world, node, sequence, **fields):
    token = world.produce(node, 1, producer=(7, fields.pop("epoch", 0), sequence), **fields)
    world.run(400)
    return world.produced(node, token)


def described(world, node, topic="t", index=0):
    asked = describe_producers_request.TopicRequest(name=topic, partition_indexes=(index,))
    request = describe_producers_request.DescribeProducersRequest(topics=(asked,))
    token = world.request(world.brokers[node], request, 0)
    world.settle()
    ((partition,),) = [named.partitions for named in world.brokers[node].answers[token].topics]
    return partition


def test_each_replica_describes_the_last_batch_of_each_producer():
    world = DataWorld()
    world.run(100)
    for sequence in range(2):
        send(world, 1, sequence)
    other = world.produce(1, 3, producer=(9, 2, 0))
    world.run(400)
    assert world.produced(1, other).error_code == 0
    found = described(world, 1)
    assert found.error_code == 0
    assert [
        (one.producer_id, one.producer_epoch, one.last_sequence) for one in found.active_producers
    ] == [(7, 0, 1), (9, 2, 2)]
    times = [one.last_timestamp for one in found.active_producers]
    assert times[0] < times[1]
    assert {one.coordinator_epoch for one in found.active_producers} == {-1}
    assert {one.current_txn_start_offset for one in found.active_producers} == {-1}
    assert described(world, 2) == found


def test_producers_of_an_unknown_partition_are_an_error():
    world = DataWorld()
    world.run(100)
    unknown = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    assert described(world, 1, "no-such-topic").error_code == unknown
    assert described(world, 1, index=7).error_code == unknown


def test_a_retry_gets_the_offset_of_the_first_attempt():
    world = DataWorld()
    world.run(100)
    offsets = [send(world, 1, sequence).base_offset for sequence in (0, 1, 2, 1, 2, 3)]
    assert offsets == [0, 1, 2, 1, 2, 3]
    assert world.brokers[1].replica.index.end_offset == 4
    assert send(world, 1, 9).error_code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert send(world, 1, 0, epoch=-0).error_code == 0


@pytest.mark.parametrize("is_stamped", [True, False])
@pytest.mark.parametrize("leader", [1, 2])
def test_a_retry_gets_the_time_of_the_first_attempt(is_stamped, leader):
    """Kafka answers the time of the batch in the log, also without LogAppendTime."""
    kind = "LogAppendTime" if is_stamped else "CreateTime"
    world = DataWorld(configs={"message.timestamp.type": kind})
    world.run(100)
    first = send(world, 1, 0, timestamp_ms=START_MS)
    assert (first.log_append_time_ms > START_MS) is is_stamped
    if leader != 1:
        change = PartitionChangeRecord(partition_id=0, topic_id=TOPIC, leader=leader)
        world.write(change)
        world.publish()
        world.run(200)
    retry = send(world, leader, 0, timestamp_ms=START_MS + 5)
    assert (retry.error_code, retry.base_offset, retry.log_start_offset) == (0, 0, 0)
    assert retry.log_append_time_ms == (first.log_append_time_ms if is_stamped else START_MS)


def test_a_retry_is_acknowledged_only_after_its_first_attempt_has_committed():
    world = DataWorld()
    world.run(100)
    world.kill(2)
    first = world.produce(1, 1, producer=(7, 0, 0), timeout_ms=60_000)
    retry = world.produce(1, 1, producer=(7, 0, 0), timeout_ms=60_000)
    world.run(500)
    assert world.produced(1, first) is None
    assert world.produced(1, retry) is None
    world.fence(2)
    world.publish()
    world.run(100)
    assert [world.produced(1, token).base_offset for token in (first, retry)] == [0, 0]


@pytest.mark.parametrize("restart", [False, True])
def test_a_new_leader_knows_the_sequences_from_its_log(restart):
    world = DataWorld()
    world.run(100)
    for sequence in range(3):
        assert send(world, 1, sequence).error_code == 0
    world.run(200)
    if restart:
        world.restart(2)
        world.publish()
        world.run(2000)
    world.kill(1)
    world.fence(1)
    world.publish()
    assert world.partition.leader == 2
    assert send(world, 2, 2).base_offset == 2
    assert send(world, 2, 4).error_code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
    assert send(world, 2, 3).base_offset == 3


def test_a_truncated_batch_may_be_sent_again():
    world = DataWorld()
    world.run(100)
    assert send(world, 1, 0).error_code == 0
    world.kill(2)
    world.kill(3)
    send(world, 1, 1, acks=1)
    world.kill(1)
    world.fence(1)
    for node in (2, 3):
        world.resume(node)
    world.publish()
    world.run(100)
    assert send(world, 2, 1).base_offset == 1
    world.restart(1)
    world.publish()
    world.run(1500)
    world.kill(2)
    world.fence(2)
    world.publish()
    leader = world.partition.leader
    assert send(world, leader, 1).base_offset == 1
    assert send(world, leader, 2).base_offset == 2


def test_a_lost_batch_is_no_duplicate_when_its_former_leader_leads_again():
    """Broker 1 had sequence 1 and truncated it; the retry must be appended, not acknowledged."""
    world = DataWorld()
    world.run(100)
    assert send(world, 1, 0).error_code == 0
    world.kill(2)
    world.kill(3)
    send(world, 1, 1, acks=1)
    world.kill(1)
    world.fence(1)
    world.resume(2)
    world.resume(3)
    world.publish()
    world.produce(2, 1)
    world.run(300)
    world.resume(1)
    world.unfence(1)
    world.publish()
    world.run(1500)
    assert world.partition.isr == (2, 3, 1)
    world.write(PartitionChangeRecord(partition_id=0, topic_id=TOPIC, leader=1))
    world.publish()
    assert send(world, 1, 1).base_offset == 2
