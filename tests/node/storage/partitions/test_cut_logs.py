"""What a cut of a log leaves behind: the recovery point, the file of producers, a gap."""

from random import Random

import pytest

from tests.support.node.partition_disk import DIRECTORY, HOME, chain, created
from tests.support.node.raw_batches import raw

DAY_MS = 86_400_000


def recovery_point(node):
    text = node.disk.read(f"{HOME}/recovery-point-offset-checkpoint").decode()
    return int(text.split()[-1])


@pytest.mark.parametrize("operation", ["truncate", "restart"])
def test_a_cut_lowers_the_recovery_point_before_records_follow(operation):
    batches = chain(12)
    node = created(*batches, segment_bytes=200)
    node.flush()
    node.checkpoint(0)
    assert recovery_point(node) == batches[-1].next_offset
    getattr(node, operation)(batches[2].base_offset)
    assert recovery_point(node) == batches[2].base_offset


def test_a_log_that_grows_again_after_a_cut_is_no_damage_after_a_loss_of_power():
    batches = chain(12)
    for seed in range(40):
        node = created(*batches, segment_bytes=200)
        node.flush()
        node.checkpoint(0)
        node.truncate(batches[2].base_offset)
        node.append(*batches[2:])
        (found,) = node.lose_power(Random(seed))
        assert node.logs.damaged == ()
        assert found.end_offset >= batches[2].base_offset


def producer(offset, timestamp_ms):
    times = {"timestamps": [timestamp_ms], "producer_id": 7, "producer_epoch": 0}
    return raw(offset, b"v", base_sequence=offset, **times)


def test_a_producer_that_has_expired_is_not_in_the_file_of_the_next_cut():
    node = created(producer(0, 0), raw(1, b"x", timestamps=[0]), segment_bytes=1)
    node.raise_start(1)
    assert node.disk.exists(f"{DIRECTORY}/{1:020d}.snapshot")
    node.append(raw(2, b"x", timestamps=[2 * DAY_MS]))
    node.truncate(1)
    assert not node.disk.exists(f"{DIRECTORY}/{1:020d}.snapshot")
    (found,) = node.kill()
    assert found.producer_batches == ()


def test_a_read_behind_the_last_batch_before_a_gap_is_empty():
    node = created(raw(0), raw(5))
    node.truncate(5)
    assert node.read_all(0) == [raw(0)]
    assert node.read(1) == b""
