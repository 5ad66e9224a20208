"""The index of a partition's log against a list of all its batches."""

import random

from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.partition import log_index
from kraftproof.node.core.partition.epoch_cache import EpochCache, EpochEndOffset, EpochStart
from kraftproof.node.core.partition.log_index import LogIndex
from kraftproof.node.wire.types import Uuid

LOG = LogId(Uuid(b"t" * 16), 3)


def filled(batches, **fields):
    index = LogIndex(LOG, **fields)
    for base, following, epoch, size in batches:
        index.append(base, following, epoch, size, 10 * base)
    return index


def some_batches(chance, count, *, largest=3000):
    offset, epoch, batches = 0, 0, []
    for _ in range(count):
        epoch += chance.random() < 0.05
        following = offset + chance.randint(1, 5)
        batches.append((offset, following, epoch, chance.randint(70, largest)))
        offset = following
    return batches


def test_positions_are_near_and_boundaries_are_base_offsets():
    chance = random.Random(5)
    batches = some_batches(chance, 400)
    index = filled(batches)
    before = 0
    for base, _, _, size in batches:
        assert abs(index.position_of(base) - before) <= 2 * 4096 + 3000
        assert index.boundary_at(base + 1) in {batch[0] for batch in batches}
        assert index.boundary_at(base) <= base
        before += size
    assert index.size == before == index.bytes_between(0, index.end_offset)
    assert index.bytes_between(7, 7) == 0
    assert index.bytes_between(7, 8) >= 1


def test_a_truncated_index_is_that_of_the_shorter_log():
    chance = random.Random(6)
    for _ in range(50):
        batches = some_batches(chance, 60)
        kept = chance.randint(0, 60)
        index = filled(batches)
        index.high_watermark = index.flushed_offset = index.end_offset
        end = batches[kept][0] if kept < 60 else index.end_offset
        index.truncate(end)
        shorter = filled(batches[:kept])
        assert index.end_offset == shorter.end_offset == end
        assert index.epochs.entries == shorter.epochs.entries
        assert index.generation == (kept < 60)
        assert index.high_watermark == index.flushed_offset == end
        index.append(end, end + 1, 99, 100, 0)
        assert index.end_offset == end + 1


def test_memory_is_bounded_however_long_the_log_grows(monkeypatch):
    monkeypatch.setattr(log_index, "MOST_SPANS", 16)
    batches = some_batches(random.Random(7), 4000)
    index = filled(batches)
    assert len(index.spans()) <= 16
    assert index.size == sum(batch[3] for batch in batches)
    newest = max(span.newest_ms for span in index.spans())
    assert newest == 10 * batches[-1][0]


def test_the_start_rises_and_a_restart_forgets_everything():
    index = filled(some_batches(random.Random(8), 100))
    middle, end = index.end_offset // 2, index.end_offset
    index.raise_start(middle)
    assert index.start_offset == index.epochs.entries[0].start_offset == middle
    assert index.high_watermark == middle
    assert index.end_offset == end
    index.restart(1000)
    assert (index.start_offset, index.end_offset, index.high_watermark) == (1000, 1000, 1000)
    assert index.epochs.entries == ()
    assert index.size == 0


def test_the_end_of_an_epoch_is_that_of_the_largest_epoch_up_to_it():
    cache = EpochCache([EpochStart(2, 10), EpochStart(5, 20), EpochStart(6, 35)])
    assert cache.end_of(6, 40) == EpochEndOffset(6, 40)
    assert cache.end_of(5, 40) == EpochEndOffset(5, 35)
    assert cache.end_of(4, 40) == EpochEndOffset(2, 20)
    assert cache.end_of(2, 40) == EpochEndOffset(2, 20)
    assert cache.end_of(1, 40) == EpochEndOffset(1, 10)
    assert cache.end_of(7, 40) == EpochEndOffset(-1, -1)
    assert cache.end_of(-1, 40) == EpochEndOffset(-1, -1)
    assert EpochCache().end_of(0, 0) == EpochEndOffset(-1, -1)


def test_a_new_epoch_without_records_replaces_an_epoch_without_records():
    cache = EpochCache()
    assert cache.assign(1, 0)
    assert cache.assign(2, 10)
    assert cache.assign(4, 10)
    assert not cache.assign(4, 12)
    assert not cache.assign(3, 12)
    assert cache.entries == (EpochStart(1, 0), EpochStart(4, 10))
    cache.truncate(10)
    assert cache.entries == (EpochStart(1, 0),)
    assert cache.latest == 1
