"""A log that is damaged where no crash damages a file: one replica is offline, the others work."""

import pytest

from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.log_effects import DeleteLog
from kraftproof.node.wire.types import Uuid
from tests.support.node.partition_disk import DIRECTORY, HOME, LOG, chain, created, run, segments
from tests.support.node.raw_batches import raw

OTHER = LogId(Uuid(b"another topic id"), 0)
MAGIC_AT = 16


def damaged(end="stop"):
    """A log of several segments, damaged in the first segment, beside a whole log."""
    node = created(*chain(20), segment_bytes=400)
    node.create(OTHER, "other")
    node.append(*chain(3), log=OTHER)
    node.raise_start(2)
    node.checkpoint(30)
    node.stop()
    first = f"{DIRECTORY}/{segments(node)[0]}"
    node.disk.damage(first, MAGIC_AT, 1)
    getattr(node, end)()
    return node, first


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_damage_that_no_crash_makes_takes_one_log_offline_in_one_line(end):
    node, first = damaged(end)
    assert node.warnings == (
        f"{first}: corrupt at byte 0 (a batch of magic 1; only magic 2 is supported), where a crash"
        " can damage nothing; restore the file, or remove the partition's directory if other"
        " replicas are whole; the replica is offline until the next start",
    )
    (lost,) = node.logs.damaged
    assert (lost.log, lost.topic) == (LOG, "orders")
    assert [found.log for found in node.recovered] == [OTHER]
    assert node.logs.directory_of(LOG) is None
    node.append(raw(6, b"new"), log=OTHER)
    assert node.read_all(0, OTHER)[-1].data == raw(6, b"new").data


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_a_restored_log_comes_back_with_its_checkpoints(end):
    node, first = damaged()
    assert node.logs.damaged
    node.checkpoint(0)
    getattr(node, end)()
    assert node.logs.damaged, "the damage is still there"
    node.disk.damage(first, MAGIC_AT, 2)
    found = {each.log: each for each in node.stop()}[LOG]
    assert node.warnings == ()
    assert (found.start_offset, found.high_watermark) == (2, 30)
    assert [batch.base_offset for batch in node.read_all(2)][-1] == chain(20)[-1].base_offset


def test_the_directory_of_a_damaged_log_may_be_removed():
    node, _ = damaged()
    for name in node.disk.list_directory(DIRECTORY):
        node.disk.remove(f"{DIRECTORY}/{name}")
    node.disk.remove_directory(DIRECTORY)
    node.kill()
    assert node.warnings == ()
    node.create()
    assert {each.log: each.end_offset for each in node.kill()}[LOG] == 0


def test_a_new_topic_of_the_same_name_keeps_the_damaged_log_as_stray():
    node, _ = damaged()
    again = LogId(Uuid(b"a twin topic id."), LOG.partition)
    node.create(again)
    node.append(raw(0), log=again)
    assert node.logs.damaged == ()
    assert any(name.endswith("-stray") for name in node.disk.list_directory(HOME))
    found = {each.log: each for each in node.stop()}
    assert found.keys() == {again, OTHER}
    assert (found[again].start_offset, found[again].end_offset) == (0, 1)
    run(node.logs.delete(DeleteLog(log=again)))
    node.create(again)
    assert {each.log: each.end_offset for each in node.stop()}[again] == 0


def test_the_epochs_of_another_log_are_left_out():
    node = created(*chain(3, epoch=4))
    node.stop()
    path = f"{DIRECTORY}/leader-epoch-checkpoint"
    node.disk.remove(path)
    node.disk.append_to(path).write(b"0\n3\n1 0\n4 2\n9 700\n")
    (found,) = node.stop()
    assert node.warnings == ()
    assert found.epochs == ((4, 0),)
    assert node.disk.read(path) == b"0\n1\n4 0\n"
