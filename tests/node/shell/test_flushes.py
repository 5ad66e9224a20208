"""Flushes and snapshots: work beside the steps."""

import pytest

from tests.node.shell.effects import CHECK, EXIT, WRITE, flush, send
from tests.node.shell.in_memory_ports import Rig


def flushed(rig):
    return [event.end_offset for event in rig.node.events if hasattr(event, "end_offset")]


@pytest.mark.requirement("595-09")
def test_flushes_that_wait_share_the_next_fsync_and_each_gets_its_token():
    rig = Rig()
    rig.start(flush(1), flush(2), flush(3))
    assert flushed(rig) == []
    rig.workers.held.popleft()()
    assert flushed(rig) == [1]
    rig.workers.held.popleft()()
    assert flushed(rig) == [1, 2, 3]
    assert rig.notes == ["start flush 1", "fsync", "start flush 3", "fsync"]
    assert not rig.workers.held


def test_a_failed_fsync_ends_the_node_and_vouches_for_nothing():
    rig = Rig()
    rig.start(flush(1), flush(2))
    rig.disk.fails.add("fsync")
    rig.workers.held.popleft()()
    assert rig.failure is not None
    assert flushed(rig) == []
    assert not rig.workers.held


def test_a_failed_begin_of_the_next_flush_ends_the_node():
    rig = Rig()
    rig.start(flush(1), flush(2))
    rig.disk.fails.add("start flush 2")
    rig.workers.held.popleft()()
    assert rig.failure is not None
    assert flushed(rig) == []


def test_snapshots_are_written_and_checked_one_at_a_time_while_the_node_goes_on():
    rig = Rig()
    rig.start(WRITE, CHECK, WRITE, send(1))
    assert rig.notes == ["begin snapshot", "send"]
    rig.workers.held.popleft()()
    assert rig.notes[2:] == ["end snapshot", "begin check"]
    rig.workers.held.popleft()()
    rig.workers.held.popleft()()
    assert rig.notes[4:] == ["end check", "begin snapshot", "end snapshot"]
    assert rig.events == ["SnapshotWritten", "SnapshotChecked", "SnapshotWritten"]


def test_a_snapshot_that_can_not_be_written_ends_the_node():
    rig = Rig()
    rig.start(WRITE)
    rig.disk.fails.add("end snapshot")
    rig.workers.held.popleft()()
    assert rig.failure is not None
    assert rig.events == []


def test_after_exit_no_work_begins():
    rig = Rig()
    rig.start(flush(1), flush(2), WRITE, CHECK, EXIT)
    begun = list(rig.notes)
    rig.workers.held.popleft()()
    rig.workers.held.popleft()()
    assert begun == ["start flush 1", "begin snapshot"]
    assert rig.notes[2:] == ["fsync", "end snapshot"]
    assert rig.events == []
