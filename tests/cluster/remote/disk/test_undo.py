"""The undo log of a file: what a power loss may leave, and what it must leave."""

import os
from random import Random

import pytest

from kraftproof.cluster.remote.disk.undo import UnsyncedChanges


@pytest.fixture
def descriptor(tmp_path):
    opened = os.open(tmp_path / "file", os.O_RDWR | os.O_CREAT)
    yield opened
    os.close(opened)


def content(descriptor):
    return os.pread(descriptor, os.fstat(descriptor).st_size, 0)


def drawn_change(random, unsynced, descriptor):
    """Write or truncate, mostly at the end; return the content."""
    size = os.fstat(descriptor).st_size
    if random.random() < 0.2:
        unsynced.truncate(descriptor, random.randint(0, size + 2), 0)
        return content(descriptor)
    offset = size if random.random() < 0.7 else random.randint(0, size + 2)
    data = random.randbytes(random.randint(1, 9))
    unsynced.write(descriptor, offset, data, 0)
    return content(descriptor)


def is_possible(left, states):
    """Whether a state, or one with a torn write or with zeros at its end, is left."""
    for before, after in zip(states, [*states[1:], states[-1]], strict=True):
        whole = left.rstrip(b"\0") or left
        torn = len(whole) >= len(before) or before.startswith(left)
        if left == before or (torn and mixed(whole, before, after)):
            return True
    return False


def mixed(left, before, after):
    """Whether each byte is that of one of two states, or a zero beyond the first."""
    padded = before.ljust(len(left), b"\0")
    return all(
        one == padded[place] or (place < len(after) and one == after[place])
        for place, one in enumerate(left)
    )


def test_a_power_loss_leaves_a_prefix_of_the_changes_since_the_last_fsync(descriptor):
    kept, torn = set(), 0
    for seed in range(400):
        random = Random(seed)
        unsynced = UnsyncedChanges()
        os.ftruncate(descriptor, 0)
        os.pwrite(descriptor, b"durable", 0)
        states = [content(descriptor)]
        changes = range(random.randint(1, 6))
        states += [drawn_change(random, unsynced, descriptor) for _ in changes]
        unsynced.lose(descriptor, random)
        left = content(descriptor)
        assert is_possible(left, states), (seed, left, states)
        torn += left not in states
        kept |= {place for place, state in enumerate(states) if state == left}
        assert not unsynced
    assert {0, 1, 2, 3, 4} <= kept, "some writes survive, and sometimes all"
    assert torn, "some writes are torn"


def test_what_an_fsync_has_covered_is_never_lost(descriptor):
    for seed in range(100):
        random = Random(seed)
        unsynced = UnsyncedChanges()
        os.ftruncate(descriptor, 0)
        unsynced.write(descriptor, 0, b"durable", 1)
        reached = unsynced.reached()
        unsynced.write(descriptor, 7, b"-after", 2)
        assert [change.data for change in unsynced.sync(reached)] == [b"durable"]
        lost = unsynced.lose(descriptor, random)
        assert content(descriptor).startswith(b"durable"), seed
        assert all(one.time_ns == 2 and one.offset >= 7 for one in lost)


def test_lost_ranges_are_those_that_the_file_lacks(descriptor):
    unsynced = UnsyncedChanges()
    unsynced.write(descriptor, 0, b"first", 1)
    unsynced.write(descriptor, 5, b"second", 2)
    losing_all = next(seed for seed in range(99) if Random(seed).random() < 0.6)
    lost = unsynced.lose(descriptor, Random(losing_all))
    assert [(one.offset, one.data, one.time_ns) for one in lost] == [
        (0, b"first", 1),
        (5, b"second", 2),
    ]
    assert content(descriptor).strip(b"\0") == b""


def test_after_a_failed_fsync_no_later_one_makes_the_write_durable(descriptor):
    unsynced = UnsyncedChanges()
    unsynced.write(descriptor, 0, b"forgotten", 1)
    unsynced.forget()
    assert unsynced.sync(unsynced.reached()) == []
    assert [change.data for change in unsynced.changes] == [b"forgotten"]
    unsynced.truncate(descriptor, 0, 2)
    unsynced.write(descriptor, 0, b"again", 3)
    unsynced.sync(unsynced.reached())
    assert not unsynced, "what was forgotten has been cut off, so the file is whole again"
