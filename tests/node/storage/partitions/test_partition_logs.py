"""Partition logs on a simulated disk: bytes, segments, reads, starts, deletions, bad files."""

import json
from random import Random

import pytest

from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.log_effects import (
    MAX_TIMESTAMP,
    ConfigureLog,
    CreateLog,
    DeleteLog,
    NoteEpoch,
    ReadProducers,
)
from kraftproof.node.storage.errors import StorageError
from kraftproof.node.wire.types import Uuid, format_uuid
from tests.support.node.partition_disk import DIRECTORY, HOME, HOME_ID, LOG, PartitionDisk, run
from tests.support.node.raw_batches import GZIP, raw

OTHER = LogId(Uuid(b"another topic id"), 0)


def chain(count, *, start=0, epoch=1, **keywords):
    """Return batches of one, two and three records."""
    batches, offset = [], start
    for index in range(count):
        values = [b"%d-%d" % (offset, each) for each in range(1 + index % 3)]
        batches.append(raw(offset, *values, epoch=epoch, **keywords))
        offset = batches[-1].next_offset
    return batches


def created(*batches, segment_bytes=1000):
    node = PartitionDisk(segment_bytes=segment_bytes)
    node.create()
    node.append(*batches)
    return node


def segments(node, directory=DIRECTORY):
    return [name for name in node.disk.list_directory(directory) if name.endswith(".log")]


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


def test_damage_below_the_recovery_point_is_refused_in_one_line():
    node = created(*chain(20), segment_bytes=400)
    node.stop()
    first = f"{DIRECTORY}/{segments(node)[0]}"
    node.disk.damage(first, 16, 1)
    with pytest.raises(StorageError) as caught:
        node.kill()
    assert str(caught.value) == (
        f"{first}: corrupt at byte 0 (a batch of magic 1; only magic 2 is supported), where a crash"
        " can damage nothing; restore the file, or remove the partition's directory if other"
        " replicas are whole"
    )


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


@pytest.mark.parametrize("content", [b"", b"1\n0\n", b"0\n2\norders 3 1\n", b"0\n1\norders 3\n"])
def test_a_garbled_checkpoint_is_one_line(content):
    node = created(*chain(3))
    path = f"{HOME}/replication-offset-checkpoint"
    node.disk.append_to(path).write(content)
    with pytest.raises(StorageError, match="does not hold offsets of partitions; remove the file"):
        node.kill()


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


def test_the_size_of_segments_can_change():
    node = created()
    node.logs.configure(ConfigureLog(log=LOG, segment_bytes=1))
    batches = chain(4)
    node.append(*batches)
    assert [int(name[:20]) for name in segments(node)] == [b.base_offset for b in batches]


@pytest.mark.parametrize("compression", [0, GZIP])
def test_a_timestamp_is_found_record_by_record(compression):
    times = [[10, 50, 30], [20, 20, 20], [70, 60, 90]]
    batches = [
        raw(3 * index, *[b"v" * 90] * 3, timestamps=each, compression=compression)
        for index, each in enumerate(times)
    ]
    node = created(*batches, segment_bytes=1)
    every = [time for each in times for time in each]
    for wanted in range(100):
        expected = next((o for o, time in enumerate(every) if time >= wanted), -1)
        found = node.find(wanted)
        assert (found.token, found.offset) == (7, expected)
        assert found.timestamp_ms == (every[expected] if expected >= 0 else -1)
        assert found.epoch == (1 if expected >= 0 else -1)
    assert node.find(40, start=2).offset == 6
    assert node.find(60, end=7).offset == 6
    assert node.find(80, end=8).offset == -1
    assert node.find(MAX_TIMESTAMP).offset == 8
    assert node.find(MAX_TIMESTAMP, end=6).offset == 1
    assert node.find(MAX_TIMESTAMP, start=9).offset == -1


def test_log_append_time_is_that_of_each_record():
    node = created(raw(0, b"a", b"b").stamped(500))
    found = node.find(400, start=1)
    assert (found.offset, found.timestamp_ms) == (1, 500)


def test_a_look_up_survives_a_truncation_and_a_deletion():
    node = created(*chain(9), segment_bytes=200)
    effect_steps = node.logs.find_timestamp(_find(1000))
    next(effect_steps, None)
    node.truncate(0)
    assert run(node.logs.find_timestamp(_find(1000))).offset == -1
    node.append(*chain(9, start=0, epoch=3))
    steps = node.logs.find_timestamp(_find(5000))
    next(steps)
    run(node.logs.delete(DeleteLog(log=LOG)))
    assert run(steps).offset == -1


def _find(timestamp_ms):
    from kraftproof.node.core.log_effects import FindTimestamp

    return FindTimestamp(
        token=1, log=LOG, timestamp_ms=timestamp_ms, start_offset=0, end_offset=1 << 40
    )


def test_the_last_five_batches_of_each_producer_are_read():
    batches = [
        raw(o, b"v", producer_id=o % 2, producer_epoch=0, base_sequence=o // 2) for o in range(20)
    ]
    node = created(*batches, raw(20, b"without"), segment_bytes=300)
    effect = ReadProducers(log=LOG, generation=4, end_offset=17)
    read = run(node.logs.read_producers(effect))
    assert (read.log, read.generation, read.end_offset) == (LOG, 4, 17)
    assert [batch.base_offset for batch in read.batches] == list(range(7, 17))
    assert [(b.producer_id, b.base_sequence) for b in read.batches][-1] == (0, 8)
    (found,) = node.kill()
    assert [batch.base_offset for batch in found.producer_batches] == list(range(10, 20))
