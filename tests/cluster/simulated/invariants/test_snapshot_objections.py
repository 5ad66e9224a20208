"""The simulator's invariants of snapshots object to what they are there for, and only to that."""

from types import SimpleNamespace

import pytest
from msgspec.structs import replace

from kraftproof.cluster.simulated.committed.committed_log import CommittedLog
from kraftproof.cluster.simulated.disk.log_mirror import LogMirror
from kraftproof.cluster.simulated.invariants.invariant import InvariantMonitor
from kraftproof.cluster.simulated.invariants.snapshots import (
    LeadersLoadNoSnapshot,
    SnapshotAtLogStart,
    SnapshotMatchesLog,
)
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.snapshot_ids import LOG_BEGIN, SnapshotId, StoredSnapshot
from kraftproof.node.core.metadata.apply import apply_batch
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.core.metadata.snapshot import History
from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.records.metadata import TopicRecord


def batch(offset, epoch=1):
    topic = TopicRecord(name=f"t{offset}", topic_id=offset.to_bytes(16, "big"))
    return Batch(base_offset=offset, epoch=epoch, timestamp_ms=0, records=(topic,))


def image_at(end):
    image = EMPTY_IMAGE
    for offset in range(end):
        image = apply_batch(image, batch(offset))
    return image


def process(role="follower"):
    log = LogMirror()
    for offset in range(10):
        log.append(batch(offset))
    status = SimpleNamespace(role=role)
    return SimpleNamespace(node_id=1, incarnation=1, log=log, status=status, now_ns=lambda: 0)


def committed_log():
    one = CommittedLog()
    for offset in range(8):
        one.commit(batch(offset), 1, 0)
    return one


@pytest.mark.parametrize(
    ("snapshot", "image", "objects"),
    [
        (SnapshotId(5, 1), image_at(5), False),
        (SnapshotId(8, 1), image_at(8), False),
        (SnapshotId(5, 1), image_at(4), True),
        (SnapshotId(5, 2), image_at(5), True),
        (SnapshotId(9, 1), image_at(9), True),
    ],
)
def test_a_snapshot_is_held_against_the_committed_records(snapshot, image, objects):
    monitor = InvariantMonitor((SnapshotMatchesLog(committed_log()),))
    for snapshotted in monitor.on_snapshot_begun:
        snapshotted(process(), snapshot, image)
    assert monitor.violations == [], "the step may have committed what is in it"
    for stepped in monitor.on_step[type(None)]:
        stepped(process())
    assert bool(monitor.violations) == objects
    monitor.violations.clear()
    for loaded in monitor.on_snapshot_loaded:
        loaded(process(), snapshot, image)
    assert bool(monitor.violations) == objects


def test_snapshots_of_other_offsets_are_compared_in_any_order():
    monitor = InvariantMonitor((SnapshotMatchesLog(committed_log()),))
    for end in (7, 2, 5):
        monitor.on_snapshot_loaded[0](process(), SnapshotId(end, 1), image_at(end))
    assert monitor.violations == []


@pytest.mark.parametrize(
    ("start", "snapshots", "objects"),
    [
        (LOG_BEGIN, [], False),
        (SnapshotId(4, 1), [SnapshotId(4, 1), SnapshotId(6, 1)], False),
        (SnapshotId(4, 1), [SnapshotId(6, 1)], True),
        (SnapshotId(4, 1), [SnapshotId(4, 2)], True),
    ],
)
def test_a_log_begins_at_a_snapshot(start, snapshots, objects):
    monitor, one = InvariantMonitor((SnapshotAtLogStart(),)), process()
    one.log.snapshots = snapshots
    one.log.clean(start)
    monitor.on_log_cleaned[0](one)
    assert bool(monitor.violations) == objects
    monitor.on_started[0](one, QuorumState())
    assert len(monitor.violations) == 2 * objects


def test_a_log_that_lacks_what_follows_its_snapshot_is_objected_to():
    monitor, one = InvariantMonitor((SnapshotAtLogStart(),)), process()
    kept = (StoredSnapshot(snapshot=SnapshotId(4, 1), size=1),)
    history = History(log_start=SnapshotId(4, 1), kept=kept)
    one.log.recovered([batch(5)], history, is_durable=True)
    monitor.on_started[0](one, QuorumState())
    assert len(monitor.violations) == 1


@pytest.mark.parametrize(("role", "objects"), [("follower", False), ("leader", True)])
def test_a_leader_loads_no_snapshot(role, objects):
    monitor = InvariantMonitor((LeadersLoadNoSnapshot(),))
    monitor.on_snapshot_loaded[0](process(role), SnapshotId(5, 1), image_at(5))
    assert bool(monitor.violations) == objects


def test_the_mirror_follows_cleaning_and_replacement():
    log = process().log
    log.durable_end = 6
    log.clean(SnapshotId(4, 1))
    assert [b.base_offset for b in log.batches] == [4, 5, 6, 7, 8, 9]
    assert (log.end_offset, log.durable_end) == (10, 6)
    assert log.between(0, 5) == [batch(4)]
    log.reset(SnapshotId(40, 2))
    assert (log.end_offset, log.durable_end, log.batches) == (40, 40, [])
    log.append(replace(batch(40), epoch=2))
    assert log.ending_at(41).epoch == 2
