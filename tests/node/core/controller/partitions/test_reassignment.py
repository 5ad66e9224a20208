"""Reassignments: begun, completed, replaced, cancelled, listed, and across failovers."""

import pytest

from kraftproof.node.wire.errors import ErrorCode
from tests.node.core.controller.desk import Desk, deletion, registration
from tests.node.core.controller.partitions.asking import (
    alter,
    cluster,
    fence,
    partition,
    unfence,
)
from tests.node.core.controller.partitions.requests import (
    allow_unclean,
    codes,
    listing,
    reassignment,
)


def state(desk: Desk, index: int = 0):
    now = partition(desk, index)
    return now.replicas, now.adding, now.removing, now.isr, now.leader


@pytest.mark.requirement("631-70")
@pytest.mark.requirement("631-73")
def test_new_replicas_are_added_first_and_old_ones_dropped_at_the_end() -> None:
    desk = cluster((1, 2, 3))
    answer = desk.ask(reassignment((3, 4, 5)))
    assert (answer.error_code, codes(answer)) == (ErrorCode.NONE, [ErrorCode.NONE])
    assert state(desk) == ((3, 4, 5, 1, 2), (4, 5), (1, 2), (1, 2, 3), 1)
    alter(desk, 1, 2, 3, 4)
    assert state(desk)[1:3] == ((4, 5), (1, 2))
    assert alter(desk, 1, 2, 3, 4, 5).error_code == ErrorCode.NEW_LEADER_ELECTED
    assert state(desk) == ((3, 4, 5), (), (), (3, 4, 5), 3)


@pytest.mark.requirement("631-72")
@pytest.mark.parametrize(
    ("target", "isr", "leader"),
    [((1, 2), (1, 2), 1), ((2, 1), (1, 2), 1), ((3,), (3,), 3), ((2, 3), (2, 3), 2)],
)
def test_a_target_among_the_replicas_is_reached_by_one_record(target, isr, leader) -> None:
    desk = cluster((1, 2, 3))
    was = partition(desk)
    assert codes(desk.ask(reassignment(target))) == [ErrorCode.NONE]
    now = partition(desk)
    assert state(desk) == (target, (), (), isr, leader)
    assert now.partition_epoch == was.partition_epoch + 1
    assert now.leader_epoch == was.leader_epoch + 1, "a dropped replica is fenced"


@pytest.mark.requirement("631-72")
def test_a_smaller_target_needs_one_replica_in_sync() -> None:
    desk = cluster((1, 2, 3))
    fence(desk, 3)
    unfence(desk, 3)
    assert codes(desk.ask(reassignment((3,)))) == [ErrorCode.NONE]
    assert state(desk) == ((3, 1, 2), (), (1, 2), (1, 2), 1), "3 is not in sync"
    assert alter(desk, 1, 2, 3).error_code == ErrorCode.NEW_LEADER_ELECTED
    assert state(desk) == ((3,), (), (), (3,), 3)


@pytest.mark.requirement("631-72")
def test_a_smaller_target_does_not_wait_for_its_other_replicas() -> None:
    desk = cluster((1, 2, 3))
    fence(desk, 3)
    unfence(desk, 3)
    assert codes(desk.ask(reassignment((1, 3)))) == [ErrorCode.NONE]
    assert state(desk) == ((1, 3), (), (), (1,), 1), "3 is not in sync yet"


def test_another_order_of_the_same_replicas_is_a_change_at_once() -> None:
    desk = cluster((1, 2, 3))
    epoch = partition(desk).leader_epoch
    desk.ask(reassignment((3, 2, 1)))
    assert state(desk) == ((3, 2, 1), (), (), (1, 2, 3), 1)
    assert partition(desk).leader_epoch == epoch
    end = partition(desk)
    assert codes(desk.ask(reassignment((3, 2, 1)))) == [ErrorCode.NONE]
    assert partition(desk) == end


@pytest.mark.requirement("631-71")
@pytest.mark.parametrize(
    ("request_", "code"),
    [
        (reassignment(()), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (reassignment((1, 1)), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (reassignment((1, 9)), ErrorCode.INVALID_REPLICA_ASSIGNMENT),
        (reassignment(None), ErrorCode.NO_REASSIGNMENT_IN_PROGRESS),
        (reassignment((1,), name="x"), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (reassignment((1,), first=7), ErrorCode.UNKNOWN_TOPIC_OR_PARTITION),
        (reassignment((1, 2), may_resize=False), ErrorCode.INVALID_REPLICATION_FACTOR),
    ],
)
def test_a_refused_reassignment_changes_nothing(request_, code) -> None:
    desk = cluster((1, 2, 3))
    was = desk.image.digest
    answer = desk.ask(request_)
    assert (answer.error_code, codes(answer)) == (ErrorCode.NONE, [code])
    assert desk.image.digest == was


def test_each_partition_succeeds_or_fails_alone_in_one_batch() -> None:
    desk = cluster((1, 2), (2, 3), (3, 1))
    answer = desk.ask(reassignment((4, 5), (9,), (1, 2)))
    assert codes(answer) == [0, ErrorCode.INVALID_REPLICA_ASSIGNMENT, 0]
    assert [bool(partition(desk, index).adding) for index in range(3)] == [True, False, True]
    too_many = reassignment(*((1,),) * 10_001)
    assert desk.ask(too_many).error_code == ErrorCode.POLICY_VIOLATION


@pytest.mark.requirement("631-40")
def test_a_fenced_broker_may_be_a_target() -> None:
    desk = cluster((1, 2))
    fence(desk, 5)
    assert codes(desk.ask(reassignment((1, 5)))) == [ErrorCode.NONE]
    assert alter(desk, 1, 2, 5).error_code == ErrorCode.INELIGIBLE_REPLICA
    unfence(desk, 5)
    assert alter(desk, 1, 2, 5).isr == (1, 5)


@pytest.mark.requirement("631-70")
def test_a_cancelled_reassignment_goes_back() -> None:
    desk = cluster((1, 2, 3))
    desk.ask(reassignment((4, 5)))
    alter(desk, 1, 2, 3, 4)
    epoch = partition(desk).leader_epoch
    assert codes(desk.ask(reassignment(None))) == [ErrorCode.NONE]
    assert state(desk) == ((1, 2, 3), (), (), (1, 2, 3), 1)
    assert partition(desk).leader_epoch == epoch + 1, "replica 4 is fenced"
    assert codes(desk.ask(reassignment(None))) == [ErrorCode.NO_REASSIGNMENT_IN_PROGRESS]


def test_a_cancel_that_would_lose_records_needs_the_permission_of_the_topic() -> None:
    desk = cluster((1, 2))
    desk.ask(reassignment((3, 4)))
    alter(desk, 1, 2, 3)
    for broker_id in (1, 2):
        fence(desk, broker_id)
    assert state(desk)[3:] == ((3,), 3)
    assert codes(desk.ask(reassignment(None))) == [ErrorCode.INVALID_REPLICA_ASSIGNMENT]
    allow_unclean(desk)
    assert codes(desk.ask(reassignment(None))) == [ErrorCode.NONE]
    assert state(desk) == ((1, 2), (), (), (1,), -1)


@pytest.mark.requirement("631-70")
def test_a_new_target_replaces_the_old_one() -> None:
    desk = cluster((1, 2, 3))
    desk.ask(reassignment((3, 4)))
    desk.ask(reassignment((3, 5)))
    assert state(desk) == ((3, 5, 1, 2, 4), (5,), (1, 2, 4), (1, 2, 3), 1)
    desk.ask(reassignment((4, 5)))
    assert state(desk)[:3] == ((4, 5, 1, 2, 3), (5,), (1, 2, 3))
    alter(desk, 1, 2, 3, 5)
    assert state(desk)[:3] == ((4, 5, 1, 2, 3), (5,), (1, 2, 3)), "4 is not in sync yet"
    desk.ask(reassignment((1, 2, 3)))
    assert state(desk)[:3] == ((1, 2, 3), (), ())


@pytest.mark.requirement("631-70")
@pytest.mark.requirement("631-76")
@pytest.mark.requirement("631-32")
def test_a_reassignment_goes_on_after_a_failover_and_ends_with_its_topic() -> None:
    desk = cluster((1, 2, 3))
    desk.ask(reassignment((3, 4)))
    desk.lose()
    desk.win()
    (topic,) = desk.ask(listing()).topics
    (ongoing,) = topic.partitions
    assert (topic.name, ongoing.partition_index) == ("t", 0)
    assert ongoing.replicas == (3, 4, 1, 2)
    assert (ongoing.adding_replicas, ongoing.removing_replicas) == ((4,), (1, 2))
    desk.ask(registration(4, 2))
    desk.ask(deletion("t"))
    assert desk.ask(listing()).topics == ()
    assert desk.image.reassigned() == []


@pytest.mark.requirement("631-70")
def test_only_reassignments_under_way_are_listed() -> None:
    desk = cluster((1, 2), (1, 2))
    desk.ask(reassignment((3, 4)))
    for request, found in (
        (listing(), [("t", 0)]),
        (listing("t", indexes=(0, 1, 7)), [("t", 0)]),
        (listing("t", indexes=(1,)), []),
        (listing("x", "t"), [("t", 0)]),
    ):
        answer = desk.ask(request)
        assert answer.error_code == ErrorCode.NONE
        assert found == [
            (topic.name, one.partition_index) for topic in answer.topics for one in topic.partitions
        ]


@pytest.mark.requirement("631-54")
def test_a_broker_that_returns_completes_a_reassignment_that_waited_for_a_leader() -> None:
    desk = cluster((1, 2))
    desk.ask(reassignment((1, 3)))
    fence(desk, 2)
    fence(desk, 1)
    assert state(desk)[3:] == ((1,), -1)
    unfence(desk, 1)
    assert state(desk)[3:] == ((1,), 1)
    assert alter(desk, 1, 3).isr == (1, 3)
    assert state(desk) == ((1, 3), (), (), (1, 3), 1)
