"""The file of epochs is compared with the log that it describes."""

import pytest

from kraftproof.cluster.simulated.convergence.epoch_files import epoch_file_fault
from kraftproof.cluster.simulated.disk.log_mirror import LogMirror
from kraftproof.node.core.base.snapshot_ids import SnapshotId
from tests.cluster.simulated.invariants.invariant_harness import batch_of


def log_of(*epochs, start=0):
    log = LogMirror()
    if start:
        log.reset(SnapshotId(start, 1))
    for epoch in epochs:
        log.append(batch_of(log.end_offset, epoch))
    return log


@pytest.mark.parametrize(
    ("content", "log", "is_right"),
    [
        (b"0\n2\n1 0\n3 2\n", log_of(1, 1, 3), True),
        (b"0\n0\n", log_of(), True),
        (b"0\n2\n1 5\n3 5\n", log_of(3, start=5), True),
        (b"0\n1\n3 5\n", log_of(3, start=5), True),
        (b"0\n1\n1 0\n", log_of(1, 1, 3), False),
        (b"0\n2\n1 0\n3 3\n", log_of(1, 1, 3), False),
        (b"0\n3\n1 0\n3 2\n4 3\n", log_of(1, 1, 3), False),
        (b"0\n2\n1 7\n3 5\n", log_of(3, start=5), False),
    ],
)
def test_a_file_says_what_its_log_says(content, log, is_right):
    assert (epoch_file_fault(content, log) is None) == is_right
