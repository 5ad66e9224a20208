"""AssignReplicasToDirs: directories of replicas, known and lost ones."""

import pytest
from msgspec.structs import replace

from kraftproof.node.core.base.directory_ids import UNASSIGNED
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import assign_replicas_to_dirs_request
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.types import ZERO_UUID, Uuid
from tests.node.core.controller.desk import (
    Desk,
    creation,
    heartbeat,
    incarnation_id,
    registration,
)
from tests.node.core.controller.partitions.asking import alter, cluster, fence, partition, unfence
from tests.node.core.controller.partitions.requests import reassignment

LOST = Uuid(b"x" * 16)


def own(broker_id: int) -> Uuid:
    """The only directory of a broker of the desk."""
    return incarnation_id(100 + broker_id)


def assignment(
    desk: Desk,
    directory: Uuid,
    *indexes: int,
    broker_id: int = 1,
    by: int = 0,
    topic_id: bytes | None = None,
):
    module = assign_replicas_to_dirs_request
    topic = module.TopicData(
        topic_id=desk.image.topic_ids["t"] if topic_id is None else topic_id,
        partitions=tuple(module.PartitionData(partition_index=index) for index in indexes),
    )
    return module.AssignReplicasToDirsRequest(
        broker_id=broker_id,
        broker_epoch=desk.image.brokers[broker_id].epoch + by,
        directories=(module.DirectoryData(id=directory, topics=(topic,)),),
    )


def codes(answer) -> list[int]:
    return [
        one.error_code
        for directory in answer.directories
        for topic in directory.topics
        for one in topic.partitions
    ]


def untold(*assignments: tuple[int, ...]) -> Desk:
    """A cluster whose partitions are from before KIP-858."""
    desk = cluster(*assignments)
    topic_id = desk.image.topic_ids["t"]
    desk.lose()
    desk.raft.replicate(
        tuple(
            records.PartitionChangeRecord(
                partition_id=index, topic_id=topic_id, directories=(ZERO_UUID,) * len(replicas)
            )
            for index, replicas in enumerate(assignments)
        )
    )
    desk.raft.high_watermark = desk.raft.log.end_offset
    desk.win()
    return desk


@pytest.mark.requirement("631-20")
def test_a_new_replica_is_in_the_only_directory_of_its_broker_or_unassigned() -> None:
    desk = cluster((1, 2), (2, 3))
    assert partition(desk).directories == (own(1), own(2))
    several = (incarnation_id(91), incarnation_id(92))
    epoch = desk.ask(registration(9, log_dirs=several)).broker_epoch
    desk.ask(heartbeat(9, epoch))
    desk.ask(creation("u", replicas=((9, 1),)))
    [only] = desk.image.partitions[desk.image.topic_ids["u"]].values()
    assert only.directories == (UNASSIGNED, own(1))


def test_a_broker_tells_where_its_replicas_are() -> None:
    desk = untold((1, 2), (2, 1))
    answer = desk.ask(assignment(desk, own(1), 0, 1))
    assert (answer.error_code, codes(answer)) == (ErrorCode.NONE, [0, 0])
    assert partition(desk).directories == (own(1), ZERO_UUID)
    assert partition(desk, 1).directories == (ZERO_UUID, own(1))
    was = desk.image.digest
    assert codes(desk.ask(assignment(desk, own(1), 0))) == [0]
    assert desk.image.digest == was, "the same directory is no change"


def test_a_replica_in_a_lost_directory_leaves_the_isr_and_the_leadership() -> None:
    desk = untold((1, 2))
    epoch = partition(desk).leader_epoch
    assert codes(desk.ask(assignment(desk, LOST, 0))) == [0]
    now = partition(desk)
    assert (now.isr, now.leader, now.leader_epoch) == ((2,), 2, epoch + 1)
    assert now.directories == (LOST, ZERO_UUID)


@pytest.mark.parametrize(
    ("index", "broker_id", "code"),
    [(7, 1, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION), (0, 3, ErrorCode.NOT_LEADER_OR_FOLLOWER)],
)
def test_a_refused_assignment_changes_nothing(index: int, broker_id: int, code: ErrorCode) -> None:
    desk = cluster((1, 2))
    was = desk.image.digest
    answer = desk.ask(assignment(desk, own(broker_id), index, broker_id=broker_id))
    assert codes(answer) == [code]
    unknown = desk.ask(assignment(desk, own(1), 0, topic_id=b"u" * 16))
    assert codes(unknown) == [ErrorCode.UNKNOWN_TOPIC_ID]
    assert desk.image.digest == was


def test_a_stale_broker_and_too_many_assignments_are_refused_as_a_whole() -> None:
    desk = cluster((1, 2))
    stale = desk.ask(assignment(desk, own(1), 0, by=1))
    assert (stale.error_code, stale.directories) == (ErrorCode.STALE_BROKER_EPOCH, ())
    assert desk.ask(assignment(desk, own(1), *range(2_251))).error_code == ErrorCode.INVALID_REQUEST


def test_directories_follow_the_replicas_of_a_reassignment() -> None:
    desk = untold((1, 2))
    desk.ask(assignment(desk, own(1), 0))
    desk.ask(reassignment((3, 1)))
    assert partition(desk).replicas == (3, 1, 2)
    assert partition(desk).directories == (own(3), own(1), ZERO_UUID)
    alter(desk, 1, 2, 3)
    assert partition(desk).directories == (own(3), own(1))


def failing(desk: Desk, broker_id: int, *failed: Uuid) -> None:
    """Let a broker tell of failed directories."""
    epoch = desk.image.brokers[broker_id].epoch
    answer = desk.ask(replace(heartbeat(broker_id, epoch), offline_log_dirs=failed))
    assert (answer.error_code, answer.is_fenced) == (ErrorCode.NONE, False)


@pytest.mark.requirement("631-28")
def test_a_failed_directory_moves_its_replicas_and_no_others() -> None:
    desk = cluster((1, 2), (1, 2), (1, 3))
    first, second, gone = incarnation_id(91), incarnation_id(92), incarnation_id(93)
    desk.ask(registration(1, log_dirs=(first, second)))
    desk.ask(assignment(desk, first, 0, 2))
    desk.ask(assignment(desk, second, 1))
    before = partition(desk, 1)
    failing(desk, 1, first, gone)
    assert desk.image.brokers[1].log_dirs == (second,)
    assert [partition(desk, index).isr for index in range(3)] == [(2,), (1, 2), (3,)]
    assert [partition(desk, index).leader for index in range(3)] == [2, 1, 3]
    assert partition(desk, 1) == before
    digest = desk.image.digest
    failing(desk, 1, first, gone)
    assert desk.image.digest == digest, "a directory fails once"


@pytest.mark.requirement("631-28")
def test_the_only_replica_in_sync_stays_in_the_isr_without_a_leader_until_its_disk_is_back() -> (
    None
):
    desk = cluster((1,))
    both = (own(1), incarnation_id(92))
    desk.ask(registration(1, log_dirs=both))
    assert partition(desk).leader == 1
    failing(desk, 1, own(1))
    assert (partition(desk).isr, partition(desk).leader) == ((1,), -1)
    unfence(desk, 1)
    assert partition(desk).leader == -1
    desk.ask(registration(1, log_dirs=both))
    fence(desk, 1)
    unfence(desk, 1)
    assert (partition(desk).isr, partition(desk).leader) == ((1,), 1)


def test_a_failure_and_the_end_of_the_fencing_come_in_one_heartbeat() -> None:
    desk = cluster((1,), (2,))
    desk.ask(registration(1, log_dirs=(own(1), incarnation_id(92))))
    fence(desk, 1)
    epoch = desk.image.brokers[1].epoch
    answer = desk.ask(replace(heartbeat(1, epoch), offline_log_dirs=(own(1),)))
    assert not answer.is_fenced
    assert not desk.image.brokers[1].fenced
    assert desk.image.brokers[1].log_dirs == (incarnation_id(92),)
    assert partition(desk).leader == -1


@pytest.mark.requirement("631-73")
def test_an_assignment_that_ends_a_move_keeps_a_directory_for_each_replica_that_stays() -> None:
    desk = cluster((2, 1))
    topic_id = desk.image.topic_ids["t"]
    desk.lose()
    moving = records.PartitionChangeRecord(
        partition_id=0, topic_id=topic_id, isr=(1,), leader=1, removing_replicas=(2,)
    )
    desk.raft.replicate((moving,))
    desk.raft.high_watermark = desk.raft.log.end_offset
    desk.win()
    assert codes(desk.ask(assignment(desk, UNASSIGNED, 0))) == [ErrorCode.NONE]
    moved = partition(desk)
    assert (moved.replicas, moved.removing) == ((1,), ())
    assert moved.directories == (UNASSIGNED,)
