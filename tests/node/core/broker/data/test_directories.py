"""Several log directories: placement, the assignment, and a directory that fails."""

import pytest

from kraftproof.node.core.base.directory_ids import LOST, MIGRATING, UNASSIGNED
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.broker.data import directory_assignments
from kraftproof.node.core.controller.partitions.directories import MAX_ASSIGNMENTS
from kraftproof.node.core.log_effects import CreateLog
from kraftproof.node.core.partition.log_directories import LogDirectories
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import describe_log_dirs_request
from kraftproof.node.wire.types import Uuid
from tests.support.node.data_world import LOG, TOPIC
from tests.support.node.directory_world import DirectoryWorld

FIRST, SECOND, GONE = (Uuid(bytes([number] * 16)) for number in (201, 202, 203))


@pytest.mark.parametrize("assigned", [UNASSIGNED, MIGRATING, GONE])
def test_a_log_goes_to_the_directory_with_the_fewest_logs(assigned):
    directories = LogDirectories((FIRST, SECOND), has_failed=False)
    assert directories.place(assigned) == FIRST
    directories.count(FIRST, 1)
    assert directories.place(assigned) == SECOND
    directories.count(SECOND, 2)
    assert directories.place(assigned) == FIRST
    assert directories.place(SECOND) == SECOND


def test_a_log_of_a_failed_directory_is_made_nowhere_else():
    directories = LogDirectories((FIRST, SECOND), has_failed=False)
    directories.fail(FIRST)
    assert directories.place(FIRST) is None
    assert directories.place(UNASSIGNED) == SECOND
    assert directories.online == (SECOND,)


def test_a_broker_spreads_logs_over_its_directories_and_tells_the_controller():
    spread = DirectoryWorld(partitions=4)
    created = [
        effect.directory
        for node_id, effect in spread.effects
        if isinstance(effect, CreateLog) and node_id == 1
    ]
    assert created == [spread.directory(1, 1), spread.directory(1, 2)] * 2
    spread.run(300)
    assert spread.places() == created
    assert spread.places(2) == [spread.directory(2, each) for each in (1, 2)] * 2
    told = list(spread.told)
    spread.publish()
    spread.run(3000)
    assert spread.told == told, "what the image holds is told once"


def test_a_request_tells_of_a_bounded_number_of_replicas(monkeypatch):
    assert directory_assignments.MOST_ASSIGNMENTS == MAX_ASSIGNMENTS == 2_250
    monkeypatch.setattr(directory_assignments, "MOST_ASSIGNMENTS", 5)
    many = DirectoryWorld(partitions=8)
    many.run(300)
    assert many.told == [5, 5, 3, 3]
    assert set(many.places()) == {many.directory(1, 1), many.directory(1, 2)}


def test_before_metadata_version_3_7_nothing_is_told():
    old = DirectoryWorld(partitions=2, level=16)
    old.run(3000)
    assert old.told == []


def test_an_assignment_without_an_answer_is_told_again():
    lossy = DirectoryWorld(seed=3, partitions=4)
    lossy.loss = 0.7
    lossy.run(8000)
    assert None not in lossy.places()
    assert UNASSIGNED not in lossy.places()


@pytest.mark.requirement("631-28")
def test_clients_hear_of_a_failed_directory_and_other_partitions_go_on():
    failing = DirectoryWorld(partitions=4)
    failing.run(300)
    waiting = failing.produce_to(1, 0, timeout_ms=60_000)
    failing.fail_directory(1, 1)
    assert failing.produced(1, waiting).error_code == ErrorCode.KAFKA_STORAGE_ERROR
    for index, code in enumerate((ErrorCode.KAFKA_STORAGE_ERROR, ErrorCode.NONE) * 2):
        sent = failing.produce_to(1, index)
        failing.run(100)
        assert failing.produced(1, sent).error_code == code
        assert failing.fetched(1, failing.fetch_from(1, index)).error_code == code


def test_a_replica_of_a_failed_directory_is_made_anew_after_it_was_moved_away_and_back():
    failing = DirectoryWorld(partitions=4)
    failing.run(300)
    failing.fail_directory(1, 1)
    failing.publish()
    assert LOG not in failing.brokers[1].data.replicas.by_log
    failing.move(0, (2,))
    failing.publish()
    failing.move(0, (2, 1))
    failing.publish()
    failing.run(300)
    assert failing.brokers[1].replica.directory == failing.directory(1, 2)


def test_a_failure_before_the_assignment_is_told_as_lost():
    """The controller takes an unassigned replica for a working one."""
    failing = DirectoryWorld(partitions=4)
    failing.fail_directory(1, 1)
    failing.run(300)
    assert failing.places() == [LOST, failing.directory(1, 2)] * 2
    partition = failing.image.partitions[TOPIC][0]
    assert (partition.isr, partition.leader) == ((2,), 2)


def test_a_start_without_a_directory_makes_no_empty_log_in_its_place():
    failing = DirectoryWorld(partitions=4)
    failing.run(300)
    failing.restart_without(1, 1)
    failing.publish()
    replicas = failing.brokers[1].data.replicas
    assert sorted(replicas.by_log) == [LogId(TOPIC, 1), LogId(TOPIC, 3)]
    assert sorted(replicas.offline) == [LogId(TOPIC, 0), LogId(TOPIC, 2)]


def test_a_damaged_log_is_told_as_lost_and_made_nowhere_else():
    damaged = DirectoryWorld(partitions=4)
    damaged.run(300)
    damaged.restart_with_damage(1, 0)
    damaged.unfence(1)
    damaged.run(300)
    replicas = damaged.brokers[1].data.replicas
    assert sorted(replicas.by_log) == [LogId(TOPIC, each) for each in (1, 2, 3)]
    assert damaged.places() == [LOST, *(damaged.directory(1, each) for each in (2, 1, 2))]
    partition = damaged.image.partitions[TOPIC][0]
    assert (partition.isr, partition.leader) == ((2,), 2)
    sent = damaged.produce_to(1, 0)
    damaged.run(100)
    assert damaged.produced(1, sent).error_code == ErrorCode.KAFKA_STORAGE_ERROR


def test_a_leader_waits_for_no_follower_in_a_failed_directory():
    """The follower was in sync a moment ago, and nobody may wait for it until it lags."""
    failing = DirectoryWorld(partitions=4)
    failing.run(300)
    failing.publish()
    sent = failing.produce_to(1, 0)
    failing.fail_directory(2, 1)
    failing.publish()
    failing.run(100)
    assert failing.produced(1, sent).error_code == ErrorCode.NONE
    assert failing.image.partitions[TOPIC][0].isr == (1,)


def described(world, topics=None):
    request = describe_log_dirs_request.DescribeLogDirsRequest(topics=topics)
    token = world.request(world.brokers[1], request, 4)
    return {
        result.log_dir: (
            result.error_code,
            [(each.name, [one.partition_index for one in each.partitions])
             for each in result.topics],
        )
        for result in world.brokers[1].answers.pop(token).results
    }  # fmt: skip


def sizes(world):
    """Return the sizes of the partitions of broker 1 by directory."""
    request = describe_log_dirs_request.DescribeLogDirsRequest(topics=None)
    token = world.request(world.brokers[1], request, 4)
    return {
        result.log_dir: sum(one.partition_size for each in result.topics for one in each.partitions)
        for result in world.brokers[1].answers.pop(token).results
    }


def test_describe_log_dirs_shows_each_directory_with_its_partitions():
    shown = DirectoryWorld(partitions=4)
    shown.run(300)
    assert described(shown) == {"/211": (0, [("t", [0, 2])]), "/212": (0, [("t", [1, 3])])}
    asked = describe_log_dirs_request.DescribableLogDirTopic(topic="t", partitions=(3, 7))
    assert described(shown, (asked,)) == {"/211": (0, []), "/212": (0, [("t", [3])])}
    shown.fail_directory(1, 1)
    error = ErrorCode.KAFKA_STORAGE_ERROR
    assert described(shown) == {"/211": (error, []), "/212": (0, [("t", [1, 3])])}


def test_describe_log_dirs_counts_no_deleted_records():
    shown = DirectoryWorld(partitions=1)
    shown.run(300)
    replica = shown.brokers[1].replica
    for _ in range(4):
        shown.produce(1, 50)
    shown.run(300)
    whole = replica.index.size
    replica.raise_start(replica.index.end_offset - 50)
    assert 0 < sizes(shown)["/211"] <= whole // 3
    replica.raise_start(replica.index.end_offset)
    assert sizes(shown)["/211"] == 0
