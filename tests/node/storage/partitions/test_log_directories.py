"""Log directories: checkpoints, the mark of a stop, deleted and stray logs, bad files."""

import json
import os

import pytest

from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.log_effects import (
    CreateLog,
    DeleteLog,
)
from kraftproof.node.storage.disk import Disk
from kraftproof.node.storage.errors import StorageError
from kraftproof.node.storage.partitions.partition_logs import MOST_OPEN
from kraftproof.node.wire.types import Uuid
from tests.support.node.partition_disk import (
    DIRECTORY,
    HOME,
    HOME_ID,
    LOG,
    PartitionDisk,
    chain,
    created,
    run,
    segments,
)
from tests.support.node.raw_batches import raw

STARTS = "log-start-offset-checkpoint"
CHECKPOINTS = ("recovery-point-offset-checkpoint", "replication-offset-checkpoint")
GARBLED = (b"", b"1\n0\n", b"0\n2\norders 3 1\n", b"0\n1\norders 3\n")
OTHER = LogId(Uuid(b"another topic id"), 0)


def test_the_mark_of_an_orderly_stop_is_of_one_use():
    node = created(*chain(3))
    node.logs.stop(77)
    mark = json.loads(node.disk.read(f"{HOME}/.kafka_cleanshutdown"))
    assert mark == {"version": 0, "brokerEpoch": 77}
    node.open()
    assert node.logs.previous_broker_epoch == 77
    assert not node.disk.exists(f"{HOME}/.kafka_cleanshutdown")
    node.kill()
    assert node.logs.previous_broker_epoch == -1


def test_checkpoints_name_every_log_and_bound_the_high_watermark():
    node = created(*chain(9), segment_bytes=300)
    node.create(OTHER, "a.b_c-9")
    node.checkpoint(11)
    read = node.disk.read
    assert read(f"{HOME}/replication-offset-checkpoint") == b"0\n2\na.b_c-9 0 0\norders 3 11\n"
    assert read(f"{HOME}/log-start-offset-checkpoint") == b"0\n2\na.b_c-9 0 0\norders 3 0\n"
    full = int(segments(node)[-1][:20])
    assert read(f"{HOME}/recovery-point-offset-checkpoint") in (
        f"0\n2\na.b_c-9 0 0\norders 3 {full}\n".encode(),
        b"0\n2\na.b_c-9 0 0\norders 3 0\n",
    )
    found = {each.log: each for each in node.kill()}
    assert found[LOG].high_watermark == 11
    assert found[OTHER].topic == "a.b_c-9"
    node.truncate(6)
    assert {each.log: each.high_watermark for each in node.kill()}[LOG] == 6


@pytest.mark.parametrize("content", GARBLED)
def test_garbled_starts_of_logs_are_one_line(content):
    """Kafka begins at 0, where records that a client has deleted are there again."""
    node = created(*chain(3))
    node.raise_start(1)
    path = f"{HOME}/{STARTS}"
    node.disk.remove(path)
    node.disk.append_to(path).write(content)
    with pytest.raises(StorageError, match="does not hold offsets of partitions; remove the file"):
        node.kill()


@pytest.mark.parametrize("content", GARBLED)
@pytest.mark.parametrize("name", CHECKPOINTS)
@pytest.mark.parametrize("is_clean", [True, False])
def test_a_garbled_checkpoint_is_one_warning_and_costs_no_record(name, content, is_clean):
    node = created(*chain(9), segment_bytes=300)
    node.checkpoint(11)
    (whole,) = node.kill()
    before = {name: node.disk.read(f"{DIRECTORY}/{name}") for name in segments(node)}
    if is_clean:
        node.logs.stop(77)
    path = f"{HOME}/{name}"
    if node.disk.exists(path):
        node.disk.remove(path)
    node.disk.append_to(path).write(content)
    node.kill()
    says = f"{path}: does not hold offsets of partitions; the offsets begin again at 0"
    assert node.warnings == (says,)
    (found,) = node.recovered
    assert (found.start_offset, found.end_offset) == (0, whole.end_offset)
    assert found.high_watermark == (0 if name.startswith("replication") else 11)
    assert {name: node.disk.read(f"{DIRECTORY}/{name}") for name in before} == before
    node.checkpoint(11)
    (found,) = node.kill()
    assert (node.warnings, found.high_watermark) == ((), 11)


def test_the_checkpoint_of_another_log_is_of_no_effect():
    node = created(*chain(3))
    node.disk.append_to(f"{HOME}/replication-offset-checkpoint").write(b"0\n1\nothers 3 5\n")
    assert node.kill()[0].high_watermark == 0


def test_a_deleted_log_is_renamed_at_once_and_removed_step_by_step():
    node = created(*chain(9), segment_bytes=300)
    steps = node.logs.delete(DeleteLog(log=LOG))
    (name,) = node.disk.list_directory(HOME)
    assert name == f"orders-3.{LOG.topic_id.hex()}-delete"
    node.create()
    next(steps)
    next(steps)
    node.kill()  # a start finishes the removal
    assert node.disk.list_directory(HOME) == ["orders-3", "recovery-point-offset-checkpoint"]
    assert node.recovered[0].end_offset == 0


def test_a_new_log_has_no_checkpoints_of_a_deleted_log_of_the_same_name():
    node = created(*chain(9), segment_bytes=300)
    node.raise_start(4)
    node.checkpoint(11)
    run(node.logs.delete(DeleteLog(log=LOG)))
    again = LogId(Uuid(b"a twin topic id."), LOG.partition)
    node.create(again)
    node.append(raw(0, b"only"), log=again)
    (found,) = node.kill()
    assert (found.start_offset, found.end_offset, found.high_watermark) == (0, 1, 0)


@pytest.mark.requirement("631-68")
def test_a_stray_log_is_kept_and_not_served():
    node = created(*chain(9))
    run(node.logs.delete(DeleteLog(log=LOG, is_stray=True)))
    assert node.disk.list_directory(HOME) == [f"orders-3.{LOG.topic_id.hex()}-stray"]
    assert node.kill() == ()
    assert node.disk.list_directory(HOME) == [f"orders-3.{LOG.topic_id.hex()}-stray"]


def test_a_directory_without_a_topic_id_is_set_aside():
    node = created(*chain(3))
    node.disk.remove(f"{DIRECTORY}/partition.metadata")
    assert node.kill() == ()
    (warning,) = node.warnings
    assert warning.startswith(f"{DIRECTORY}: has no topic id in partition.metadata")
    node.create()


def test_a_partition_in_two_directories_is_refused():
    homes = ((HOME, HOME_ID), ("/more", Uuid(bytes(15) + b"\xef")))
    node = PartitionDisk(homes=homes)
    node.logs.create(CreateLog(log=LOG, topic="orders", directory=homes[1][1]))
    node.create(OTHER, "t")
    assert node.disk.exists("/more/orders-3")
    assert node.disk.exists(f"{HOME}/t-0")
    assert {each.log: each.directory for each in node.kill()} == {LOG: homes[1][1], OTHER: HOME_ID}
    twin = LogId(Uuid(b"a twin topic id."), 0)
    node.logs.create(CreateLog(log=twin, topic="t", directory=homes[1][1]))
    with pytest.raises(StorageError, match=f"{HOME}/t-0 and /more/t-0: the same partition"):
        node.kill()


def open_files(folder):
    """The number of this process's descriptors of a folder and of files below it."""
    found = 0
    for descriptor in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{descriptor}")
        except FileNotFoundError:  # the descriptor of the listing, or another test's
            continue
        found += target.startswith(str(folder))
    return found


def test_many_logs_need_few_open_files(tmp_path):
    node = PartitionDisk(Disk(), homes=((str(tmp_path), HOME_ID),))
    logs = [LogId(Uuid(b"topic of the log"), partition) for partition in range(2 * MOST_OPEN)]
    for log in logs:
        node.create(log)
    assert open_files(tmp_path) == 0
    for offset in range(2):
        for log in logs:
            node.append(raw(offset), log=log)
    assert 0 < open_files(tmp_path) <= MOST_OPEN
    node.logs.close()
    assert open_files(tmp_path) == 0
    assert node.read(1, log=logs[0]) == raw(1).data


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_a_start_opens_no_file_for_appends(tmp_path, end):
    node = PartitionDisk(Disk(), homes=((str(tmp_path), HOME_ID),))
    for partition in range(9):
        log = LogId(Uuid(b"topic of the log"), partition)
        node.create(log)
        node.append(raw(0), log=log)
    node.logs.close()
    getattr(node, end)()
    assert len(node.recovered) == 9
    assert open_files(tmp_path) == 0
