"""AssignReplicasToDirs: directories of replicas, known and lost ones."""

import pytest

from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import assign_replicas_to_dirs_request
from kraftproof.node.wire.types import ZERO_UUID, Uuid
from tests.node.core.controller.desk import Desk, incarnation_id
from tests.node.core.controller.partitions.asking import alter, cluster, partition
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


def test_a_broker_tells_where_its_replicas_are() -> None:
    desk = cluster((1, 2), (2, 1))
    answer = desk.ask(assignment(desk, own(1), 0, 1))
    assert (answer.error_code, codes(answer)) == (ErrorCode.NONE, [0, 0])
    assert partition(desk).directories == (own(1), ZERO_UUID)
    assert partition(desk, 1).directories == (ZERO_UUID, own(1))
    was = desk.image.digest
    assert codes(desk.ask(assignment(desk, own(1), 0))) == [0]
    assert desk.image.digest == was, "the same directory is no change"


def test_a_replica_in_a_lost_directory_leaves_the_isr_and_the_leadership() -> None:
    desk = cluster((1, 2))
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
    desk = cluster((1, 2))
    desk.ask(assignment(desk, own(1), 0))
    desk.ask(reassignment((3, 1)))
    assert partition(desk).replicas == (3, 1, 2)
    assert partition(desk).directories == (own(3), own(1), ZERO_UUID)
    alter(desk, 1, 2, 3)
    assert partition(desk).directories == (own(3), own(1))
