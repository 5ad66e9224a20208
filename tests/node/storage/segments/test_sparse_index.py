"""The sparse index of a segment: bounded, and never above the batch that is looked for."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kraftproof.cluster.simulated.disk.filesystem import SimulatedFileSystem
from kraftproof.node.storage.segments.segment import Segment
from kraftproof.node.storage.segments.sparse_index import (
    FIRST_INTERVAL_BYTES,
    MOST_ENTRIES,
    SparseIndex,
)
from kraftproof.node.wire.errors import WireError
from tests.support.node.raw_batches import raw


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    sizes=st.lists(st.integers(60, 9000), min_size=1, max_size=200),
    times=st.randoms(use_true_random=False),
)
def test_an_entry_is_at_or_below_what_is_looked_for(sizes, times):
    index, position, newest = SparseIndex(), 0, -1
    places = []
    for offset, size in enumerate(sizes):
        index.add(offset * 2, position, newest)
        time = times.randrange(1000)
        places.append((offset * 2, position, time))
        newest, position = max(newest, time), position + size
    for offset, place, _ in places:
        for wanted in (offset, offset + 1):
            found, before_ms = index.floor(wanted)
            assert place - FIRST_INTERVAL_BYTES < found <= place
            assert before_ms == max([time for _, at, time in places if at < found], default=-1)
    for wanted in range(0, 1000, 37):
        found = index.floor_of_time(wanted)
        assert all(time < wanted for _, at, time in places if at < found)
    index.truncate(position // 2)
    assert index.floor(1 << 40)[0] < max(position // 2, 1)


def test_the_index_of_a_gigabyte_is_bounded():
    index = SparseIndex()
    for offset in range(1 << 18):
        index.add(offset, offset * FIRST_INTERVAL_BYTES, offset)
    assert MOST_ENTRIES // 2 <= len(index) <= MOST_ENTRIES
    found, _ = index.floor(200_000)
    assert 0 <= 200_000 * FIRST_INTERVAL_BYTES - found <= (1 << 30) // (MOST_ENTRIES // 2)


def test_readers_at_the_end_go_on_where_they_were():
    disk = SimulatedFileSystem()
    disk.make_directory("/log")
    segment = Segment(disk, "/log", 0)
    reads = []
    for offset in range(100):
        batch = raw(offset, b"v" * 50)
        segment.append(batch.data, offset, offset + 1, 0)
    counted = CountingDisk(disk, reads)
    segment._filesystem = counted
    for offset in range(100):
        batch = raw(offset, b"v" * 50)
        assert segment.read(offset, 100, batch.size, may_exceed=False) == batch.data
    assert len(reads) == 101, "a read after a read needs no search"


def test_a_file_that_has_lost_its_end_gives_no_part_of_a_batch():
    disk = SimulatedFileSystem()
    disk.make_directory("/log")
    segment, first, second = Segment(disk, "/log", 0), raw(0, b"v" * 50), raw(1, b"v" * 50)
    for batch in (first, second):
        segment.append(batch.data, batch.base_offset, batch.next_offset, 0)
    disk.append_to(segment.path).truncate(first.size + 70)
    assert segment.read(0, 2, 1 << 20, may_exceed=True) == first.data
    with pytest.raises(WireError, match="amid a batch"):
        segment.read(1, 2, 1 << 20, may_exceed=True)


class CountingDisk:
    def __init__(self, disk, reads):
        self.disk = disk
        self.reads = reads

    def read_slice(self, *place):
        self.reads.append(place)
        return self.disk.read_slice(*place)
