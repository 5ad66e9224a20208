"""A replica that the leader's log reaches no more: it copies a snapshot, then fetches the tail."""

import pytest
from msgspec.structs import replace

from kraftproof.node.core.base.snapshot_ids import SnapshotId, StoredSnapshot
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.core.effects import (
    CheckSnapshot,
    CleanLog,
    Exit,
    InstallSnapshot,
    Send,
    StoreSlice,
    WriteSnapshot,
)
from kraftproof.node.core.events import SnapshotWritten
from kraftproof.node.core.raft.fetch_rpc import LONGEST_WAIT_MS
from kraftproof.node.storage.snapshots import snapshot_name
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    delete_topics_request,
    fetch_request,
    fetch_snapshot_request,
)
from tests.node.core.test_node import create
from tests.support.node.snapshot_world import BROKER, DiskWorld, fill, laggard, partition_of


def delete(world, name):
    state = delete_topics_request.DeleteTopicState(name=name)
    request = delete_topics_request.DeleteTopicsRequest(topics=(state,), timeout_ms=5000)
    answer = world.answer(BROKER, request, 6, by_ms=50)
    assert answer.responses[0].error_code == ErrorCode.NONE


def slices(world, node_id):
    return [
        send.message.topics[0].partitions[0]
        for send in world.of_kind(node_id, Send)
        if isinstance(send.message, fetch_snapshot_request.FetchSnapshotRequest)
    ]


def catch_up(world, node_id, *, wiped=True):
    world.stop(node_id)
    world.run(500)
    world.effects.clear()
    world.start_again(node_id, wiped=wiped)
    world.run(3000)


@pytest.mark.requirement("631-31")
@pytest.mark.requirement("631-33")
def test_controllers_and_brokers_write_snapshots_and_cut_their_logs_behind_them(world):
    for node_id in world.nodes:
        assert len(world.of_kind(node_id, WriteSnapshot)) >= 2
        assert len(world.files(node_id)) == 2
        log = world.nodes[node_id]._raft.log
        assert log.start_offset == int(world.files(node_id)[0][:20]) > 0
        first = min(int(name[:20]) for name in world.files(node_id, ".log"))
        assert 0 < first <= log.start_offset
    world.run(LONGEST_WAIT_MS + 100)  # a standby hears of a commit when its Fetch has waited
    assert len(world.images()) == 1


@pytest.mark.requirement("631-31")
def test_a_snapshot_is_written_when_the_interval_is_over_and_there_is_news():
    world = DiskWorld(1, 1, records=10_000, interval_ns=milliseconds(60_000))
    world.run(50_000)
    assert world.of_kind(1, WriteSnapshot) == []
    world.run(20_000)
    (snapshot,) = world.of_kind(1, WriteSnapshot)
    assert snapshot.snapshot.end_offset > 0


@pytest.mark.requirement("631-34")
@pytest.mark.requirement("595-52")
@pytest.mark.parametrize("slice_bytes", [100, 1 << 20])
def test_a_wiped_follower_catches_up_by_snapshot_and_then_by_the_tail(slice_bytes):
    world = DiskWorld(3, 1, slice_bytes=slice_bytes)
    world.run(8000)
    fill(world, "kept", 30)
    node_id = laggard(world)
    newest = world.nodes[world.leader()]._raft.snapshot_end
    catch_up(world, node_id)
    asked = slices(world, node_id)
    assert [s.position for s in asked] == sorted({s.position for s in asked})
    assert (len(asked) > 1) == (slice_bytes == 100)
    (installed,) = world.of_kind(node_id, InstallSnapshot)
    assert installed.snapshot.end_offset == newest
    assert len(world.images()) == 1
    fill(world, "later", 3)
    world.run(1000)
    assert len(world.images()) == 1


@pytest.mark.requirement("631-32")
@pytest.mark.requirement("631-34")
def test_a_wiped_broker_catches_up_by_snapshot(world):
    world.stop(BROKER)
    world.run(20_000)
    world.start_again(BROKER, wiped=True)
    world.run(5000)
    assert world.of_kind(BROKER, InstallSnapshot)
    assert len(world.images()) == 1
    assert world.nodes[BROKER].status().broker_state == 3


@pytest.mark.requirement("631-35")
def test_what_was_deleted_meanwhile_is_gone_at_a_follower_that_still_had_it(world):
    node_id = laggard(world)
    world.run(500)
    kept = world.nodes[node_id]._committed.image.topic_named("kept-7")
    assert kept is not None
    world.stop(node_id)
    delete(world, "kept-7")
    fill(world, "more", 30)
    world.effects.clear()
    world.start_again(node_id)
    world.run(3000)
    assert world.of_kind(node_id, InstallSnapshot)
    assert world.nodes[node_id]._committed.image.topic_named("kept-7") is None
    assert len(world.images()) == 1


@pytest.mark.requirement("631-34")
def test_a_lost_slice_is_asked_for_again_at_its_position(world):
    node_id = laggard(world)
    world.stop(node_id)
    world.run(500)
    world.effects.clear()
    world.lose_slices = 3
    world.start_again(node_id, wiped=True)
    world.run(3000)
    positions = [s.position for s in slices(world, node_id)]
    assert positions[:4] == [0, 0, 0, 0]
    stored = world.of_kind(node_id, StoreSlice)
    assert [s.position for s in stored] == sorted({s.position for s in stored})
    assert len(world.images()) == 1


def damaged(message, **changes):
    topic = message.topics[0]
    partition = replace(topic.partitions[0], **changes)
    return replace(message, topics=(replace(topic, partitions=(partition,)),))


WRONG_ANSWERS = {
    "another position": lambda m: damaged(m, position=partition_of(m).position + 1),
    "no bytes": lambda m: damaged(m, unaligned_records=b""),
    "more bytes than the size": lambda m: damaged(m, size=1),
    "another snapshot": lambda m: damaged(
        m, snapshot_id=replace(partition_of(m).snapshot_id, end_offset=1)
    ),
    "an error": lambda m: damaged(m, error_code=ErrorCode.SNAPSHOT_NOT_FOUND),
}


@pytest.mark.requirement("631-34")
@pytest.mark.parametrize("kind", WRONG_ANSWERS)
def test_an_answer_that_does_not_fit_ends_the_copy_and_another_begins(world, kind):
    node_id = laggard(world)
    world.stop(node_id)
    world.run(500)
    world.effects.clear()
    answers = []

    def change(message):
        answers.append(message)
        return WRONG_ANSWERS[kind](message) if len(answers) == 3 else message

    world.change_slice = change
    world.start_again(node_id, wiped=True)
    world.run(3000)
    assert {s.copy for s in world.of_kind(node_id, StoreSlice)} == {1, 2}
    assert len(world.of_kind(node_id, InstallSnapshot)) == 1
    assert len(world.images()) == 1
    sends = world.of_kind(node_id, Send)
    of_slices = [
        place
        for place, send in enumerate(sends)
        if isinstance(send.message, fetch_snapshot_request.FetchSnapshotRequest)
    ]
    wrong, after = sends[of_slices[2]], sends[of_slices[2] + 1]
    assert isinstance(after.message, fetch_request.FetchRequest)
    assert after.destination != wrong.destination, "another voter may know of another leader"


@pytest.mark.requirement("631-34")
@pytest.mark.requirement("595-51")
def test_a_follower_stands_in_no_election_while_it_checks_a_large_snapshot(world):
    node_id = laggard(world)
    epoch = world.nodes[node_id].status().epoch
    world.holds_checks = True
    catch_up(world, node_id)
    world.run(10_000)
    assert world.of_kind(node_id, InstallSnapshot) == []
    status = world.nodes[node_id].status()
    assert (status.role, status.epoch) == ("follower", epoch)
    fetches = [
        s for s in world.of_kind(node_id, Send) if isinstance(s.message, fetch_request.FetchRequest)
    ]
    assert len(fetches) < 13 * 4
    world.step(*world.checks.pop())
    world.run(100)
    assert world.of_kind(node_id, InstallSnapshot)
    assert len(world.images()) == 1


@pytest.mark.requirement("631-34")
def test_a_damaged_copy_is_not_installed(world):
    node_id = laggard(world)
    world.stop(node_id)
    world.run(500)
    world.effects.clear()
    answers = []

    def flip(message):
        answers.append(message)
        data = bytearray(partition_of(message).unaligned_records)
        if len(answers) == 2:
            data[-1] ^= 1
        return damaged(message, unaligned_records=bytes(data))

    world.change_slice = flip
    world.start_again(node_id, wiped=True)
    world.run(3000)
    assert len(world.of_kind(node_id, CheckSnapshot)) == 2
    assert len(world.of_kind(node_id, InstallSnapshot)) == 1
    assert len(world.images()) == 1


@pytest.mark.requirement("631-34")
def test_a_copy_is_abandoned_when_the_leader_changes(world):
    node_id, leader = laggard(world), world.leader()
    world.stop(node_id)
    world.run(500)
    world.effects.clear()
    answers = []

    def die(message):
        answers.append(message)
        if len(answers) == 3:
            world.nodes.pop(leader, None)
            world.change_slice = None
        return message

    world.change_slice = die
    world.start_again(node_id, wiped=True)
    world.run(9000)
    assert world.leader() != leader
    copies = world.of_kind(node_id, StoreSlice)
    assert {s.copy for s in copies} >= {1, 2}
    assert world.of_kind(node_id, InstallSnapshot)
    assert len({digest for _, digest in world.images()}) == 1


def test_a_snapshot_that_the_leaders_has_overtaken_is_removed(world):
    """It was being written while the leader's came."""
    node_id = laggard(world)
    catch_up(world, node_id)
    raft = world.nodes[node_id]._raft
    before = raft.log.start
    late = SnapshotId(before.end_offset - 1, 1)
    directory = "/data/__cluster_metadata-0"
    world.disks[node_id].append_to(f"{directory}/{snapshot_name(late)}").write(b"whole")
    world.step(node_id, SnapshotWritten(StoredSnapshot(snapshot=late, size=5)))
    assert snapshot_name(late) not in world.files(node_id)
    assert snapshot_name(before) in world.files(node_id)
    assert raft.log.start == before


@pytest.mark.requirement("631-31")
def test_the_log_is_cut_only_when_a_snapshot_is_complete():
    world = DiskWorld(1, 1)
    world.holds_writes = True
    world.run(8000)
    fill_one(world, 30)
    assert len(world.held) == 2, "one at a time at each node"
    assert world.of_kind(1, CleanLog) == []
    assert world.nodes[1]._raft.log.start_offset == 0
    assert world.files(1) == []


def fill_one(world, count):
    for number in range(count):
        world.answer(2, create(f"one-{number}"), 7, by_ms=50)


def test_a_leader_that_names_a_snapshot_below_what_has_committed_ends_the_follower(world):
    node_id = laggard(world)
    fetcher = world.nodes[node_id]._raft._fetcher
    old = world.nodes[node_id]._raft.log.start
    fetcher.snapshots.begin(old, world.instant)
    (parting,) = [e for e in world.nodes[node_id]._outbox.drain() if isinstance(e, Exit)]
    assert "below the high watermark" in parting.reason
