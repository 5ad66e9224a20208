"""Partition logs on a simulated disk: bytes, segments, reads, truncation, starts."""

from random import Random

import pytest

from kraftproof.node.core.log_effects import (
    ConfigureLog,
    NoteEpoch,
    ReadProducers,
)
from kraftproof.node.wire.types import format_uuid
from tests.support.node.partition_disk import (
    DIRECTORY,
    HOME,
    HOME_ID,
    LOG,
    chain,
    created,
    segments,
)
from tests.support.node.raw_batches import raw


def test_a_log_is_laid_out_as_kafka_does():
    batches = chain(20)
    node = created(*batches, segment_bytes=300)
    node.flush()
    assert node.disk.read(f"{DIRECTORY}/partition.metadata").decode() == (
        f"version: 0\ntopic_id: {format_uuid(LOG.topic_id)}\n"
    )
    names = segments(node)
    assert names[0] == "00000000000000000000.log"
    assert len(names) > 3
    stored = b"".join(node.disk.read(f"{DIRECTORY}/{name}") for name in names)
    assert stored == b"".join(batch.data for batch in batches)
    bases = {batch.base_offset for batch in batches}
    assert all(int(name[:20]) in bases for name in names)
    assert all(node.disk.size(f"{DIRECTORY}/{name}") <= 300 for name in names)
    assert node.disk.read(f"{DIRECTORY}/leader-epoch-checkpoint") == b"0\n1\n1 0\n"


def test_a_read_has_whole_batches_from_the_one_that_holds_the_offset():
    batches = chain(30)
    node = created(*batches, segment_bytes=700)
    for batch in batches:
        for offset in range(batch.base_offset, batch.next_offset):
            assert node.read(offset, max_bytes=1) == batch.data
            assert node.read(offset, max_bytes=batch.size) == batch.data
            assert node.read(offset, max_bytes=batch.size - 1, may_exceed=False) == b""
            assert node.read(offset, end_offset=batch.next_offset) == batch.data
            assert node.read(offset, end_offset=batch.last_offset) == b""
    assert node.read_all(0) == batches
    assert node.read_all(7) == [batch for batch in batches if batch.next_offset > 7]
    assert node.read(batches[-1].next_offset) == b""


@pytest.mark.parametrize("end", ["stop", "kill"])
def test_a_log_survives_the_end_of_its_node(end):
    batches = chain(12) + chain(12, start=24, epoch=4)
    node = created(*batches, segment_bytes=400)
    (found,) = getattr(node, end)()
    assert (found.log, found.topic, found.directory) == (LOG, "orders", HOME_ID)
    assert (found.start_offset, found.end_offset) == (0, 48)
    assert found.epochs == ((1, 0), (4, 24))
    assert found.size == sum(batch.size for batch in batches)
    assert [span.offset for span in found.spans] == [int(name[:20]) for name in segments(node)]
    assert node.read_all(0) == batches
    node.append(raw(48, b"more", epoch=5))
    assert node.read_all(40)[-1].base_offset == 48


def test_a_torn_batch_is_cut_and_the_segments_after_it_go():
    batches = chain(20)
    node = created(*batches, segment_bytes=400)
    names = segments(node)
    path = f"{DIRECTORY}/{names[1]}"
    node.disk.damage(path, node.disk.size(path) - 1, 0x55)
    (found,) = node.kill()
    assert segments(node) == names[:2]
    kept = [batch for batch in batches if batch.next_offset <= found.end_offset]
    assert node.read_all(0) == kept
    last_of_segment = [batch for batch in batches if batch.next_offset <= int(names[2][:20])][-1]
    assert kept[-1].next_offset == last_of_segment.base_offset


def test_a_truncation_forgets_batches_epochs_and_segments():
    batches = chain(12) + chain(12, start=24, epoch=4)
    node = created(*batches, segment_bytes=400)
    node.truncate(6)
    node.append(raw(6, b"new", epoch=5))
    assert [batch.epoch for batch in node.read_all(2)] == [1, 1, 5]
    (found,) = node.kill()
    assert found.end_offset == 7
    assert found.epochs == ((1, 0), (5, 6))


def test_a_running_fsync_is_no_reason_to_wait_for_a_truncation():
    node = created(*chain(6))
    flush = node.logs.start_flush(ReadProducers(log=LOG, generation=0, end_offset=0))
    node.truncate(3)
    replacement = raw(3, b"new", epoch=2)
    node.append(replacement)
    flush()
    node.lose_power(Random(1))
    assert node.read_all(0) in (chain(2), [*chain(2), replacement])


def test_the_start_of_a_log_rises_for_good_and_whole_segments_go():
    batches = chain(30)
    node = created(*batches, segment_bytes=400)
    node.raise_start(20)
    assert node.disk.read(f"{HOME}/log-start-offset-checkpoint") == b"0\n1\norders 3 20\n"
    names = segments(node)
    assert int(names[0][:20]) <= 20 < int(names[1][:20])
    assert node.read(19) == b""
    assert node.read_all(20)[0].base_offset <= 20
    (found,) = node.kill()
    assert (found.start_offset, found.end_offset) == (20, 60)
    assert found.epochs == ((1, 20),)
    node.raise_start(60)
    assert segments(node) == ["00000000000000000060.log"]
    (found,) = node.kill()
    assert (found.start_offset, found.end_offset, found.size) == (60, 60, 0)


def test_a_log_that_lost_everything_above_its_start_begins_there():
    node = created(*chain(3))
    node.flush()
    node.append(*chain(9, start=6))
    node.raise_start(12)
    node.logs.close()
    for name in segments(node):
        node.disk.append_to(f"{DIRECTORY}/{name}").truncate(0)
    (found,) = node.open()
    assert (found.start_offset, found.end_offset) == (12, 12)


def test_a_restarted_log_continues_at_another_offset():
    node = created(*chain(9))
    node.restart(1000)
    assert segments(node) == ["00000000000000001000.log"]
    node.append(raw(1000, b"a", epoch=8))
    (found,) = node.kill()
    assert (found.start_offset, found.end_offset, found.epochs) == (1000, 1001, ((8, 1000),))


def test_an_epoch_without_records_is_kept():
    node = created(*chain(3))
    node.logs.note_epoch(NoteEpoch(log=LOG, epoch=6, start_offset=6))
    (found,) = node.kill()
    assert found.epochs == ((1, 0), (6, 6))
    node.logs.note_epoch(NoteEpoch(log=LOG, epoch=7, start_offset=6))
    assert node.kill()[0].epochs == ((1, 0), (7, 6))


def test_the_size_of_segments_can_change():
    node = created()
    node.logs.configure(ConfigureLog(log=LOG, segment_bytes=1))
    batches = chain(4)
    node.append(*batches)
    assert [int(name[:20]) for name in segments(node)] == [b.base_offset for b in batches]


@pytest.mark.parametrize("end", [4, 3])
def test_a_truncation_to_a_start_within_a_batch_removes_every_batch(end):
    known = raw(0, b"a", producer_id=8, producer_epoch=0, base_sequence=0)
    node = created(known, *chain(3, start=1), raw(7, b"b"), segment_bytes=1)
    node.raise_start(4)  # the third batch has the offsets 2 and 3, the next begins at 4
    node.raise_start(5)
    node.truncate(end)
    node.append(raw(end, b"new", epoch=2))
    (found,) = node.kill()
    assert (found.start_offset, found.end_offset) == (end, end + 1)
    assert node.read_all(end) == [raw(end, b"new", epoch=2)]
    assert found.epochs == ((2, end),)
    assert [batch.producer_id for batch in found.producer_batches] == [8]


def test_a_restart_below_the_start_survives_a_crash():
    node = created(*chain(9))
    node.raise_start(12)
    node.restart(4)
    node.append(raw(4, b"new", epoch=2))
    (found,) = node.kill()
    assert (found.start_offset, found.end_offset) == (4, 5)
