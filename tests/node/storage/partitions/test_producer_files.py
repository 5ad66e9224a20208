"""Producers outlive the segments of their batches, as Kafka's .snapshot files let them."""

from random import Random

import pytest

from kraftproof.node.core.log_effects import ReadProducers
from kraftproof.node.storage.partitions import producer_files
from tests.support.node.partition_disk import DIRECTORY, LOG, created, run
from tests.support.node.raw_batches import raw

DAY_MS = 86_400_000
GOLDEN = bytes.fromhex(
    "0001"  # version
    "d4e15db7"  # CRC-32C of the rest
    "00000001"  # entries
    "0000000000000007" "0003"  # producer id and epoch
    "0000000b" "0000000000000005" "00000001"  # last sequence, last offset, offset delta
    "00000000000003e9" "ffffffff" "ffffffffffffffff"  # timestamp; no coordinator, no transaction
)  # fmt: skip


def produced(offset, producer_id, sequence, *values, **keywords):
    return raw(
        offset,
        *(values or (b"v",)),
        producer_id=producer_id,
        producer_epoch=0,
        base_sequence=sequence,
        **keywords,
    )


def mixed():
    """Return 20 batches: producers 1 and 2 at the begin, producer 3 throughout."""
    batches = [produced(0, 1, 0), produced(1, 2, 40), produced(2, 1, 1)]
    return batches + [produced(offset, 3, offset - 3) for offset in range(3, 20)]


def last_of(node):
    """Return offset and sequence of each producer's last batch, as a start finds it."""
    batches = node.recovered[0].producer_batches
    return {batch.producer_id: (batch.base_offset, batch.base_sequence) for batch in batches}


def snapshots(node):
    return [name for name in node.disk.list_directory(DIRECTORY) if name.endswith(".snapshot")]


def test_the_file_has_the_bytes_of_kafkas_format():
    node = created(*[raw(offset) for offset in range(4)], segment_bytes=1)
    batch = raw(4, b"a", b"b", producer_id=7, producer_epoch=3, base_sequence=10)
    node.append(batch, raw(6))
    node.raise_start(6)
    (name,) = snapshots(node)
    content = node.disk.read(f"{DIRECTORY}/{name}")
    assert name == "00000000000000000006.snapshot"
    assert content == GOLDEN
    (found,) = producer_files.read_producers_file(node.disk, DIRECTORY, 6)
    assert (found.base_offset, found.last_offset, found.base_sequence) == (4, 5, 10)


@pytest.mark.parametrize("end", ["kill", "stop", "lose_power"])
def test_producers_of_removed_segments_are_known_after_a_start(end):
    node = created(*mixed(), segment_bytes=300)
    node.flush()
    expected = {1: (2, 1), 2: (1, 40), 3: (19, 16)}
    for start in (5, 12, 20):
        node.raise_start(start)
        arguments = (Random(start),) if end == "lose_power" else ()
        getattr(node, end)(*arguments)
        assert last_of(node) == expected
        assert len(snapshots(node)) == 1
    read = run(node.logs.read_producers(ReadProducers(log=LOG, generation=0, end_offset=30)))
    assert {batch.producer_id for batch in read.batches} == {1, 2, 3}


def test_a_truncation_returns_to_the_batches_before():
    node = created(*mixed(), segment_bytes=200)
    node.truncate(8)
    node.append(produced(8, 4, 0), *[raw(offset) for offset in range(9, 20)])
    node.raise_start(18)
    node.kill()
    assert last_of(node) == {1: (2, 1), 2: (1, 40), 3: (7, 4), 4: (8, 0)}


def test_a_crash_between_the_file_and_the_removal_loses_no_producer(monkeypatch):
    node = created(*mixed(), segment_bytes=200)
    node.raise_start(5)
    log = node.logs._log(LOG)
    monkeypatch.setattr(type(log), "_remove_below", lambda self, start: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        node.raise_start(15)
    monkeypatch.undo()
    node.kill()
    assert last_of(node) == {1: (2, 1), 2: (1, 40), 3: (19, 16)}


def test_an_expired_producer_is_left_out_and_a_broken_file_counts_as_none():
    late = produced(1, 2, 0, timestamps=[1000 + DAY_MS + 1])
    node = created(produced(0, 1, 0, timestamps=[1000]), late, raw(2), segment_bytes=1)
    node.raise_start(2)
    node.kill()
    assert last_of(node) == {2: (1, 0)}
    (name,) = snapshots(node)
    node.disk.damage(f"{DIRECTORY}/{name}", 12, 0x55)
    node.kill()
    assert last_of(node) == {}


def test_a_restarted_log_forgets_its_producers():
    node = created(*mixed(), segment_bytes=200)
    node.raise_start(12)
    node.restart(40)
    assert snapshots(node) == []
    node.kill()
    assert last_of(node) == {}
