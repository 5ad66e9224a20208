"""CreatePartitions: counts, assignments, refusals."""

import pytest

from kraftproof.node.wire.errors import ErrorCode
from tests.node.core.controller.desk import creation
from tests.node.core.controller.partitions.asking import cluster, fence, partition
from tests.node.core.controller.partitions.requests import codes, growth, reassignment

PARTITIONS = ErrorCode.INVALID_PARTITIONS
ASSIGNMENT = ErrorCode.INVALID_REPLICA_ASSIGNMENT


def test_a_topic_grows_by_placed_partitions() -> None:
    desk = cluster((1, 2), (2, 3))
    assert codes(desk.ask(growth(5))) == [ErrorCode.NONE]
    new = [partition(desk, index) for index in range(2, 5)]
    assert [len(set(one.replicas)) for one in new] == [2, 2, 2]
    assert all(one.isr == one.replicas and one.leader == one.replicas[0] for one in new)
    assert {(one.leader_epoch, one.partition_epoch) for one in new} == {(0, 0)}


def test_a_topic_grows_by_assigned_partitions() -> None:
    desk = cluster((1, 2))
    fence(desk, 3)
    assert codes(desk.ask(growth(3, (4, 5), (3, 4)))) == [ErrorCode.NONE]
    assert (partition(desk, 1).replicas, partition(desk, 1).leader) == ((4, 5), 4)
    last = partition(desk, 2)
    assert (last.replicas, last.isr, last.leader) == ((3, 4), (4,), 4)


@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (growth(2), PARTITIONS),
        (growth(1), PARTITIONS),
        (growth(-1), PARTITIONS),
        (growth(3, names=("x",)), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (growth(3, (1, 2), (2, 3)), ASSIGNMENT),
        (growth(3, (1,)), ASSIGNMENT),
        (growth(3, (1, 1)), ASSIGNMENT),
        (growth(3, (1, 9)), ASSIGNMENT),
        (growth(3, (5, 4)), ASSIGNMENT),
        (growth(3, names=("t", "t")), ErrorCode.INVALID_REQUEST),
        (growth(10_003), ErrorCode.POLICY_VIOLATION),
        (growth((1 << 31) - 1), ErrorCode.POLICY_VIOLATION),
        (growth(3, validate_only=True), ErrorCode.NONE),
    ],
)
def test_a_refused_or_validated_request_changes_nothing(request_, code) -> None:
    desk = cluster((1, 2), (2, 3))
    for broker_id in (4, 5):
        fence(desk, broker_id)
    was = desk.image.digest
    assert codes(desk.ask(request_)) == [code]
    assert desk.image.digest == was


def test_nothing_is_placed_on_fenced_brokers_alone() -> None:
    desk = cluster((1,), brokers=1)
    fence(desk, 1)
    assert codes(desk.ask(growth(2))) == [ErrorCode.INVALID_REPLICATION_FACTOR]


def test_replicas_of_a_reassignment_count() -> None:
    """Kafka takes the present replicas of partition 0, those that are added included."""
    desk = cluster((1, 2))
    desk.ask(reassignment((3, 4)))
    desk.ask(growth(2))
    assert len(partition(desk, 1).replicas) == 4


def test_topics_grow_alone() -> None:
    desk = cluster((1,))
    desk.ask(creation("u"))
    assert codes(desk.ask(growth(2, names=("x", "u")))) == [
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.NONE,
    ]
