"""Disks that are full, fail or lose their power amid an operation."""

import errno
from random import Random

import pytest

from kraftproof.cluster.capabilities import DiskFault
from kraftproof.cluster.disk_faults import DiskFaults
from kraftproof.cluster.simulated.disk.filesystem import SimulatedFileSystem
from kraftproof.node.storage.filesystem import replace_durably

MS = 1_000_000


def disk_with(*faults, seed=1):
    disk = SimulatedFileSystem()
    disk.make_directory("/data")
    disk.fsync_directory("/")
    replace_durably(disk, "/data/file", b"old")
    disk.disk_faults = DiskFaults(Random(seed))
    disk.disk_faults.faults.extend(faults)
    return disk


def error_of(operation):
    with pytest.raises(OSError, match="/data") as caught:
        operation()
    return caught.value.errno


def test_a_full_disk_takes_a_part_of_a_write_and_no_new_file():
    contents = set()
    for seed in range(40):
        disk = disk_with(DiskFault(failure="full"), seed=seed)
        handle = disk.append_to("/data/file")
        assert error_of(lambda handle=handle: handle.write(b"-new")) == errno.ENOSPC
        assert error_of(lambda disk=disk: disk.append_to("/data/other")) == errno.ENOSPC
        handle.start_fsync()()
        handle.truncate(2)
        contents.add(disk.read("/data/file"))
        assert disk.disk_faults.hits == 2
    assert contents == {b"ol"}, "what is there can be cut"


def test_a_full_disk_may_keep_half_a_write():
    contents = set()
    for seed in range(40):
        disk = disk_with(DiskFault(failure="full"), seed=seed)
        error_of(lambda disk=disk: disk.append_to("/data/file").write(b"-new"))
        contents.add(disk.read("/data/file"))
    assert {b"old", b"old-", b"old-n", b"old-ne", b"old-new"} == contents


def test_failing_writes_fail_and_fsyncs_do_not():
    disk = disk_with(DiskFault(failure="write"))
    handle = disk.append_to("/data/file")
    assert error_of(lambda: handle.write(b"-new")) == errno.EIO
    handle.start_fsync()()
    assert disk.disk_faults.hits == 1


def test_after_an_fsync_that_failed_another_one_may_help_or_not():
    contents = set()
    for seed in range(60):
        disk = disk_with(DiskFault(failure="fsync"), seed=seed)
        handle = disk.append_to("/data/file")
        handle.write(b"-new")
        assert error_of(handle.start_fsync()) == errno.EIO
        assert disk.read("/data/file") == b"old-new", "it stays readable"
        disk.disk_faults = None
        handle.start_fsync()()
        disk.crash(Random(seed))
        contents.add(disk.read("/data/file").rstrip(b"\0"))
    assert {b"old", b"old-new"} <= contents


def test_a_file_that_is_cut_and_written_anew_is_synced_as_any_other():
    for seed in range(60):
        disk = disk_with(DiskFault(failure="fsync"), seed=seed)
        handle = disk.append_to("/data/file")
        handle.write(b"-new")
        error_of(handle.start_fsync())
        disk.disk_faults = None
        handle.truncate(0)
        handle.write(b"other")
        handle.start_fsync()()
        disk.crash(Random(seed))
        assert disk.read("/data/file") == b"other"


def test_written_again_under_another_name_it_is_durable():
    for seed in range(60):
        disk = disk_with(DiskFault(failure="fsync"), seed=seed)
        handle = disk.append_to("/data/file")
        handle.write(b"-new")
        error_of(handle.start_fsync())
        disk.disk_faults = None
        replace_durably(disk, "/data/file", disk.read("/data/file"))
        disk.crash(Random(seed))
        assert disk.read("/data/file") == b"old-new"


def test_the_power_may_go_before_any_step_of_an_atomic_replacement():
    found = set()
    for operations in range(8):
        for seed in range(40):
            disk = disk_with(seed=seed)
            told = []
            disk.disk_faults.crash_after(operations, lambda told=told: told.append(1))
            if operations < 6:
                with pytest.raises(OSError, match="/data") as caught:
                    replace_durably(disk, "/data/file", b"new")
                assert (caught.value.errno, told) == (errno.EIO, [1])
            else:
                replace_durably(disk, "/data/file", b"new")
                assert told == []
            disk.disk_faults = None
            disk.crash(Random(seed))
            content = disk.read("/data/file")
            assert content in {b"old", b"new"}
            found.add((operations, content))
    assert (0, b"new") not in found
    assert {(5, b"old"), (5, b"new"), (6, b"new")} <= found
    assert (6, b"old") not in found


def test_a_slow_disk_fails_nothing():
    disk = disk_with(DiskFault(slow_ns=100 * MS))
    replace_durably(disk, "/data/file", b"new")
    drawn = [disk.disk_faults.slowness_ns() for _ in range(50)]
    assert 0 <= min(drawn) < max(drawn) < 100 * MS
    assert not disk.disk_faults.fails()
    assert disk.disk_faults.hits == 50
