"""The metadata log on disk: recovery, torn tails, corruption, truncation and power loss."""

from copy import deepcopy
from pathlib import Path
from random import Random

import pytest

from kraftproof.cluster.simulated.disk.filesystem import SimulatedFileSystem
from kraftproof.node.core.base.snapshot_ids import SnapshotId
from kraftproof.node.core.base.types import Epoch, Offset
from kraftproof.node.storage.disk import Disk
from kraftproof.node.storage.errors import CorruptLogError, StorageError
from kraftproof.node.storage.log import DIRECTORY_NAME, MetadataLog
from kraftproof.node.storage.segments.segment import segment_name
from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.records.batches import encode_batch
from kraftproof.node.wire.records.metadata import NoOpRecord, TopicRecord

DISK = Disk()


def batch(base_offset: int, epoch: int = 1, count: int = 1) -> Batch:
    records = tuple(
        TopicRecord(name=f"topic-{base_offset + index}", topic_id=bytes([index + 1] * 16))
        for index in range(count)
    )
    return Batch(base_offset=base_offset, epoch=epoch, timestamp_ms=5, records=records)


def chain(*counts: int, epochs: tuple[int, ...] = ()) -> list[Batch]:
    batches: list[Batch] = []
    offset = 0
    for index, count in enumerate(counts):
        batches.append(batch(offset, epochs[index] if epochs else 1, count))
        offset += count
    return batches


def written(directory: Path, batches: list[Batch], segment_bytes: int = 1 << 20) -> str:
    path = str(directory / DIRECTORY_NAME)
    log, _ = MetadataLog.open(DISK, path, segment_bytes)
    for one in batches:
        log.append(one)
    log.start_flush()()
    log.close()
    return path


def segments(path: str) -> list[Path]:
    return sorted(Path(path).glob("*.log"))


@pytest.mark.requirement("631-08")
def test_what_was_flushed_is_read_back_from_the_first_segment(tmp_path: Path) -> None:
    batches = chain(1, 3, 2)
    path = written(tmp_path, batches)
    assert [file.name for file in segments(path)] == ["00000000000000000000.log"]
    assert Path(path).name == "__cluster_metadata-0"
    log, read = MetadataLog.open(DISK, path)
    assert read == batches
    assert log.end_offset == 6
    assert segments(path)[0].read_bytes() == b"".join(map(encode_batch, batches))


def test_a_full_segment_is_followed_by_one_named_after_its_first_offset(tmp_path: Path) -> None:
    batches = chain(*[2] * 20)
    size = len(encode_batch(batches[0]))
    path = written(tmp_path, batches, segment_bytes=size * 5 + 10)
    assert [file.name for file in segments(path)] == [segment_name(at) for at in (0, 10, 20, 30)]
    assert MetadataLog.open(DISK, path)[1] == batches


@pytest.mark.requirement("595-09")
def test_a_torn_tail_of_any_length_is_cut_off(tmp_path: Path) -> None:
    batches = chain(1, 2, 3)
    path = written(tmp_path, batches)
    file = segments(path)[0]
    whole = file.read_bytes()
    ends = [0]
    for one in batches:
        ends.append(ends[-1] + len(encode_batch(one)))
    for length in range(len(whole) + 1):
        file.write_bytes(whole[:length])
        log, read = MetadataLog.open(DISK, path)
        log.close()
        kept = sum(1 for end in ends[1:] if end <= length)
        assert read == batches[:kept], f"cut at byte {length}"
        assert file.stat().st_size == ends[kept]


def test_a_torn_tail_of_the_last_segment_is_cut_and_the_log_goes_on(tmp_path: Path) -> None:
    batches = chain(*[2] * 8)
    size = len(encode_batch(batches[0])) * 3 + 10
    path = written(tmp_path, batches, size)
    last = segments(path)[-1]
    last.write_bytes(last.read_bytes()[:-1])
    log, read = MetadataLog.open(DISK, path, size)
    assert read == batches[:7]
    log.append(batch(14, epoch=2))
    log.close()
    assert MetadataLog.open(DISK, path)[1][-1] == batch(14, epoch=2)


def test_a_tail_of_zeros_is_torn(tmp_path: Path) -> None:
    batches = chain(1, 1)
    path = written(tmp_path, batches)
    with segments(path)[0].open("ab") as file:
        file.write(bytes(4096))
    assert MetadataLog.open(DISK, path)[1] == batches


def test_a_flipped_byte_before_a_sound_batch_is_refused_and_never_guessed(tmp_path: Path) -> None:
    batches = chain(1, 2, 1)
    path = written(tmp_path, batches)
    file = segments(path)[0]
    whole = file.read_bytes()
    middle = len(encode_batch(batches[0]))
    end = middle + len(encode_batch(batches[1]))
    for position in range(middle, end):
        damaged = bytearray(whole)
        damaged[position] ^= 0x41
        file.write_bytes(damaged)
        with pytest.raises(CorruptLogError) as caught:
            MetadataLog.open(DISK, path)
        in_epoch = position - middle in range(12, 16)  # outside the CRC: seen one batch later
        named = end if in_epoch else middle
        assert f"{file}: corrupt at byte {named}," in str(caught.value), f"byte {position}"
        assert "\n" not in str(caught.value)
        assert file.read_bytes() == bytes(damaged), "nothing is changed"


@pytest.mark.parametrize("damage", ["torn", "missing", "garbage"])
def test_damage_in_a_segment_that_is_not_the_last_is_refused(tmp_path: Path, damage: str) -> None:
    batches = chain(*[2] * 9)
    path = written(tmp_path, batches, len(encode_batch(batches[0])) * 3 + 10)
    second = segments(path)[1]
    if damage == "torn":
        second.write_bytes(second.read_bytes()[:-1])
    elif damage == "missing":
        second.unlink()
    else:
        second.write_bytes(b"garbage" * 40)
    with pytest.raises(CorruptLogError, match="corrupt at byte"):
        MetadataLog.open(DISK, path)


@pytest.mark.parametrize("segment_bytes", [1 << 20, 200])
def test_truncation_drops_batches_and_segments_and_the_log_goes_on(
    tmp_path: Path, segment_bytes: int
) -> None:
    batches = chain(*[2] * 10)
    for end_offset in range(0, 21, 2):
        path = written(tmp_path / str(end_offset), batches, segment_bytes)
        log, _ = MetadataLog.open(DISK, path, segment_bytes)
        log.truncate(end_offset)
        assert log.end_offset == end_offset
        after = batch(end_offset, epoch=2)
        log.append(after)
        log.close()
        assert MetadataLog.open(DISK, path)[1] == [*batches[: end_offset // 2], after]


def test_a_flush_that_began_before_a_truncation_vouches_for_nothing_after_it() -> None:
    filesystem = SimulatedFileSystem()
    log, _ = MetadataLog.open(filesystem, "/d")
    for one in chain(1, 1):
        log.append(one)
    flush = log.start_flush()
    log.truncate(1)
    log.append(batch(1, epoch=2))
    flush()
    assert not filesystem.is_synced("/d")


@pytest.mark.requirement("595-09")
def test_a_flush_after_a_truncation_makes_durable_the_name_of_a_new_segment() -> None:
    """The flush that a truncation made void had begun to make the name durable."""
    filesystem = SimulatedFileSystem()
    log, _ = MetadataLog.open(filesystem, "/d", segment_bytes=300)
    log.start_flush()()
    for one in chain(3, 1, 1, 1):
        log.append(one)
    assert len([name for name in filesystem.list_directory("/d") if name.endswith(".log")]) == 2
    flush = log.start_flush()
    log.truncate(5)
    flush()
    log.append(batch(5))
    log.start_flush()()
    log.close()
    for seed in range(10):
        copy = deepcopy(filesystem)
        copy.crash(Random(seed))
        assert MetadataLog.open(copy, "/d", segment_bytes=300)[0].end_offset == 6


@pytest.mark.requirement("595-10")
def test_the_epoch_checkpoint_follows_the_log(tmp_path: Path) -> None:
    path = written(tmp_path, chain(1, 1, 2, 1, epochs=(1, 1, 3, 7)))
    file = Path(path) / "leader-epoch-checkpoint"
    assert file.read_text() == "0\n3\n1 0\n3 2\n7 4\n"
    log, _ = MetadataLog.open(DISK, path)
    log.truncate(2)
    assert file.read_text() == "0\n1\n1 0\n"
    log.append(batch(2, epoch=9))
    assert log.epochs.entries == ((1, 0), (9, 2))
    log.close()


@pytest.mark.requirement("595-10")
def test_the_epoch_checkpoint_forgets_the_log_before_a_reset(tmp_path: Path) -> None:
    log, _ = MetadataLog.open(DISK, written(tmp_path, chain(1, 1, 2, epochs=(1, 1, 3))))
    log.reset(SnapshotId(Offset(9), Epoch(3)))
    file = tmp_path / DIRECTORY_NAME / "leader-epoch-checkpoint"
    assert file.read_text() == "0\n0\n"
    log.append(batch(9, epoch=3))
    assert log.epochs.entries == ((3, 9),)
    log.close()


@pytest.mark.requirement("595-10")
@pytest.mark.parametrize("content", [None, "garbage", "0\n1\n1 0\n", "0\n3\n1 0\n2 1\n9 5\n"])
def test_the_epoch_checkpoint_is_rebuilt(tmp_path: Path, content: str | None) -> None:
    path = written(tmp_path, chain(1, 1, epochs=(1, 2)))
    file = Path(path) / "leader-epoch-checkpoint"
    file.unlink()
    if content is not None:
        file.write_text(content)
    MetadataLog.open(DISK, path)[0].close()
    assert file.read_text() == "0\n2\n1 0\n2 1\n"


@pytest.mark.parametrize("content", ["0\n1\n5 0\n", "0\n2\n1 0\n2 5\n", "0\n2\n0 0\n3 1\n"])
def test_a_log_that_contradicts_the_epoch_checkpoint_is_refused(
    tmp_path: Path, content: str
) -> None:
    path = written(tmp_path, chain(1, 1, epochs=(1, 2)))
    file = Path(path) / "leader-epoch-checkpoint"
    file.write_text(content)
    with pytest.raises(StorageError, match=r"the log has epoch \d from offset \d"):
        MetadataLog.open(DISK, path)
    assert file.read_text() == content


@pytest.mark.requirement("595-09")
@pytest.mark.parametrize("seed", range(40))
def test_a_power_loss_takes_nothing_that_was_flushed(seed: int) -> None:
    """Appends, flushes, truncations and power losses at random, against a list of batches."""
    random = Random(seed)
    filesystem = SimulatedFileSystem()
    expected: list[Batch] = []
    for _ in range(12):
        log, found = MetadataLog.open(filesystem, "/d", segment_bytes=300)
        assert found[: len(expected)] == expected
        model, epoch = list(found), found[-1].epoch + 1 if found else 1
        expected = list(found)
        for _ in range(random.randrange(12)):
            action = random.random()
            if action < 0.6:
                one = batch(log.end_offset, epoch, random.randint(1, 3))
                log.append(one)
                model.append(one)
            elif action < 0.85:
                log.start_flush()()
                expected = list(model)
            elif model:
                model = model[: random.randrange(len(model) + 1)]
                log.truncate(model[-1].next_offset if model else 0)
                expected = expected[: len(model)]
        log.close()
        filesystem.crash(random)


def test_a_batch_of_another_kind_of_record_is_read_back(tmp_path: Path) -> None:
    one = Batch(base_offset=0, epoch=1, timestamp_ms=0, records=(NoOpRecord(),))
    path = written(tmp_path, [one])
    assert MetadataLog.open(DISK, path)[1] == [one]
