"""AlterPartition: what a leader may propose, in which order it is refused, and what is answered."""

import pytest

from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import alter_partition_request
from kraftproof.node.wire.records import metadata as records
from tests.node.core.controller.desk import Desk, registration
from tests.node.core.controller.partitions.asking import (
    Member,
    Proposal,
    alter,
    alteration,
    cluster,
    fence,
    leave,
    partition,
    proposal,
    unfence,
)


@pytest.fixture
def desk() -> Desk:
    """Broker 1 leads, brokers 2 and 3 follow; 3 has been fenced and has come back."""
    desk = cluster((1, 2, 3))
    fence(desk, 3)
    unfence(desk, 3)
    return desk


@pytest.mark.requirement("497-02")
@pytest.mark.requirement("497-05")
def test_a_replica_that_caught_up_enters_the_isr_and_the_answer_shows_it(desk: Desk) -> None:
    was = partition(desk)
    assert was.isr == (1, 2)
    result = alter(desk, 1, 2, 3)
    now = partition(desk)
    assert (now.isr, now.leader, now.leader_epoch) == ((1, 2, 3), 1, was.leader_epoch)
    assert now.partition_epoch == was.partition_epoch + 1
    assert result.error_code == ErrorCode.NONE
    assert (result.leader_id, result.isr, result.leader_recovery_state) == (1, (1, 2, 3), 0)
    assert (result.leader_epoch, result.partition_epoch) == (now.leader_epoch, now.partition_epoch)


@pytest.mark.requirement("497-12")
@pytest.mark.requirement("631-11")
def test_a_change_is_answered_after_its_commit(desk: Desk) -> None:
    request = desk.send(alteration(desk, proposal(desk, 1)))
    assert desk.replies() == []
    assert partition(desk).isr == (1, 2)
    (reply,) = desk.commit()
    assert reply.request == request
    assert partition(desk).isr == (1,)


@pytest.mark.requirement("497-05")
def test_the_present_isr_is_no_change(desk: Desk) -> None:
    was, end = partition(desk), desk.raft.log.end_offset
    result = alter(desk, 1, 2)
    assert (result.error_code, result.isr) == (ErrorCode.NONE, (1, 2))
    assert result.partition_epoch == was.partition_epoch
    assert partition(desk) == was
    assert desk.raft.log.end_offset == end + 1, "the read barrier alone"


@pytest.mark.requirement("497-05")
def test_the_second_of_two_equal_proposals_is_stale(desk: Desk) -> None:
    twice = proposal(desk, 1, 2, 3)
    (topic,) = desk.ask(alteration(desk, twice, twice)).topics
    assert [entry.error_code for entry in topic.partitions] == [
        ErrorCode.NONE,
        ErrorCode.INVALID_UPDATE_VERSION,
    ]


@pytest.mark.requirement("497-03")
def test_a_stale_broker_epoch_refuses_the_whole_request(desk: Desk) -> None:
    request = alteration(desk, proposal(desk, 1))
    desk.ask(registration(1, 1))  # the same incarnation keeps its epoch
    assert desk.ask(request).error_code == ErrorCode.NONE
    for broker_id, epoch in ((1, request.broker_epoch - 1), (1, request.broker_epoch + 1), (9, 0)):
        stale = alter_partition_request.AlterPartitionRequest(
            broker_id=broker_id, broker_epoch=epoch, topics=request.topics
        )
        answer = desk.ask(stale)
        assert (answer.error_code, answer.topics) == (ErrorCode.STALE_BROKER_EPOCH, ())


@pytest.mark.requirement("497-03")
def test_a_standby_answers_not_controller(desk: Desk) -> None:
    request = alteration(desk, proposal(desk, 1))
    desk.lose()
    desk.send(request)
    (reply,) = desk.replies()
    assert (reply.message.error_code, reply.message.topics) == (ErrorCode.NOT_CONTROLLER, ())


def member(broker_id: int, epoch: int) -> Member:
    return Member(broker_id=broker_id, broker_epoch=epoch)


REFUSED = [
    ("a newer leader epoch comes first", (9,), {"leader_epoch": 9}, 2, ErrorCode.NOT_CONTROLLER),
    ("a newer partition epoch", (1,), {"partition_epoch": 99}, 1, ErrorCode.NOT_CONTROLLER),
    ("an old leader epoch", (9,), {"leader_epoch": -1}, 2, ErrorCode.FENCED_LEADER_EPOCH),
    ("no leader", (9,), {"partition_epoch": 0}, 2, ErrorCode.INVALID_REQUEST),
    ("an old partition", (9,), {"partition_epoch": 0}, 1, ErrorCode.INVALID_UPDATE_VERSION),
    ("no replica", (1, 4), {}, 1, ErrorCode.INVALID_REQUEST),
    ("twice", (1, 2, 2), {}, 1, ErrorCode.INVALID_REQUEST),
    ("without leader", (2, 3), {}, 1, ErrorCode.INVALID_REQUEST),
    ("nobody", (), {}, 1, ErrorCode.INVALID_REQUEST),
    ("unclean again", (1,), {"leader_recovery_state": 1}, 1, ErrorCode.INVALID_REQUEST),
    ("no state", (1,), {"leader_recovery_state": 2}, 1, ErrorCode.INVALID_REQUEST),
]


@pytest.mark.requirement("497-04")
@pytest.mark.requirement("497-05")
@pytest.mark.requirement("497-06")
@pytest.mark.parametrize(
    ("isr", "changes", "caller", "error"),
    [case[1:] for case in REFUSED],
    ids=[case[0] for case in REFUSED],
)
def test_a_refused_proposal_changes_nothing(
    desk: Desk, isr: tuple[int, ...], changes: dict[str, int], caller: int, error: ErrorCode
) -> None:
    was = desk.image.digest
    result = alter(desk, *isr, caller=caller, **changes)
    assert ErrorCode(result.error_code) is error
    assert desk.image.digest == was


@pytest.mark.requirement("497-04")
def test_unknown_topics_and_partitions_are_named(desk: Desk) -> None:
    unknown = Proposal(partition_index=7)
    (topic,) = desk.ask(alteration(desk, unknown)).topics
    assert topic.partitions[0].error_code == ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    for topic_id in (bytes(16), b"x" * 16):
        (topic,) = desk.ask(alteration(desk, unknown, proposal(desk, 1), topic_id=topic_id)).topics
        codes = [entry.error_code for entry in topic.partitions]
        assert codes == [ErrorCode.UNKNOWN_TOPIC_ID] * 2


@pytest.mark.requirement("497-06")
@pytest.mark.requirement("631-61")
def test_fenced_and_stopping_brokers_and_other_epochs_are_ineligible(desk: Desk) -> None:
    epoch = desk.image.brokers[3].epoch
    assert alter(desk, 1, 2, member(3, epoch - 1)).error_code == ErrorCode.INELIGIBLE_REPLICA
    assert alter(desk, 1, 2, member(3, epoch + 1)).error_code == ErrorCode.INELIGIBLE_REPLICA
    assert alter(desk, 1, 2, member(3, epoch)).error_code == ErrorCode.NONE
    fence(desk, 3)
    assert alter(desk, 1, 2, 3).error_code == ErrorCode.INELIGIBLE_REPLICA
    leave(desk, 2)
    assert alter(desk, 1, 2).error_code == ErrorCode.INELIGIBLE_REPLICA
    assert partition(desk).isr == (1,)


def test_version_2_has_no_broker_epochs(desk: Desk) -> None:
    now = partition(desk)
    old = Proposal(partition_index=0, partition_epoch=now.partition_epoch, new_isr=(1, 2, 3))
    (topic,) = desk.ask(alteration(desk, old)).topics
    assert topic.partitions[0].isr == (1, 2, 3)


@pytest.mark.requirement("631-74")
def test_the_isr_that_holds_the_target_completes_a_reassignment() -> None:
    desk = reassigned((1, 2, 4, 3), adding=(4,), removing=(3,), isr=(1, 2, 3))
    result = alter(desk, 1, 2, 3, 4)
    now = partition(desk)
    assert (now.replicas, now.isr, now.adding, now.removing) == ((1, 2, 4), (1, 2, 4), (), ())
    assert (result.error_code, result.isr, now.leader) == (ErrorCode.NONE, (1, 2, 4), 1)
    assert now.leader_epoch == result.leader_epoch == 1, "the removed follower must be fenced"


@pytest.mark.requirement("631-75")
def test_a_leader_that_its_own_proposal_removes_hears_of_the_new_one() -> None:
    desk = reassigned((4, 2, 1), adding=(4,), removing=(1,), isr=(1, 2))
    assert alter(desk, 1, 2, 4).error_code == ErrorCode.NEW_LEADER_ELECTED
    now = partition(desk)
    assert (now.replicas, now.isr, now.leader, now.leader_epoch) == ((4, 2), (2, 4), 4, 1)


@pytest.mark.requirement("631-73")
def test_a_reassignment_waits_for_every_replica_that_stays() -> None:
    desk = reassigned((1, 4, 5, 3), adding=(4, 5), removing=(3,), isr=(1, 3))
    assert alter(desk, 1, 4).isr == (1, 4)
    assert partition(desk).adding == (4, 5)
    assert alter(desk, 1, 4, 5).isr == (1, 4, 5)
    assert partition(desk).adding == ()


def reassigned(
    replicas: tuple[int, ...],
    *,
    adding: tuple[int, ...],
    removing: tuple[int, ...],
    isr: tuple[int, ...],
) -> Desk:
    """A desk with a reassignment under way, led by broker 1."""
    desk = cluster(tuple(sorted(set(replicas) - set(adding))))
    change = records.PartitionChangeRecord(
        partition_id=0,
        topic_id=desk.image.topic_ids["t"],
        replicas=replicas,
        adding_replicas=adding,
        removing_replicas=removing,
        isr=isr,
        directories=tuple(desk.image.brokers[node].log_dirs[0] for node in replicas),
    )
    desk.lose()
    desk.raft.replicate((change,))
    desk.raft.high_watermark = desk.raft.log.end_offset
    desk.win()
    return desk


def test_a_proposal_of_many_partitions_is_decided_in_part() -> None:
    """No request may hold up the controller; a leader asks again for what has no result."""
    desk = cluster((1, 2))
    many = (proposal(desk, 1), *(Proposal(partition_index=9),) * 10_000)
    (topic,) = desk.ask(alteration(desk, *many)).topics
    assert len(topic.partitions) == 10_000
    assert topic.partitions[0].error_code == ErrorCode.NONE
