"""A log whose disk was full or failed: what is there again once the cause is gone."""

from contextlib import suppress
from random import Random

import pytest

from kraftproof.cluster.capabilities import DiskFault
from kraftproof.cluster.disk_faults import DiskFaults
from kraftproof.cluster.simulated.disk.filesystem import SimulatedFileSystem
from kraftproof.node.core.base.types import NodeId
from kraftproof.node.storage.disk import Disk
from kraftproof.node.storage.log import MetadataLog
from kraftproof.node.storage.meta_properties import MetaProperties, format_directories
from kraftproof.node.storage.stored import StorageConfig, open_node_storage
from tests.node.storage.test_log import batch, chain

DIRECTORY = "/log"
CLUSTER = "AAAAAAAAAAAAAAAAAAAAAA"


def with_disk_faults(disk, seed, *faults):
    disk.disk_faults = DiskFaults(Random(seed))
    disk.disk_faults.faults.extend(faults)


@pytest.mark.requirement("595-09")
@pytest.mark.parametrize("failure", ["full", "write"])
def test_what_was_flushed_is_there_after_an_append_that_failed(failure):
    for seed in range(30):
        disk = SimulatedFileSystem()
        log, _ = MetadataLog.open(disk, DIRECTORY)
        for one in chain(1, 2):
            log.append(one)
        log.start_flush()()
        with_disk_faults(disk, seed, DiskFault(failure=failure))
        with pytest.raises(OSError, match=r"0\.log"):
            log.append(batch(3, epoch=1, count=3))
        disk.disk_faults = None
        again, read = MetadataLog.open(disk, DIRECTORY)
        assert read[:2] == chain(1, 2)
        again.append(batch(again.end_offset, epoch=2))
        again.start_flush()()
        assert MetadataLog.open(disk, DIRECTORY)[1][-1].epoch == 2


@pytest.mark.requirement("595-09")
def test_what_a_start_has_read_is_on_disk_though_an_fsync_had_failed_before():
    """Linux lets an fsync fail once, and then calls the same pages clean."""
    kept = 0
    for seed in range(60):
        disk = SimulatedFileSystem()
        log, _ = MetadataLog.open(disk, DIRECTORY)
        log.append(batch(0))
        with_disk_faults(disk, seed, DiskFault(failure="fsync"))
        with pytest.raises(OSError, match=r"0\.log"):
            log.start_flush()()
        disk.disk_faults = None
        _, read = MetadataLog.open(disk, DIRECTORY)
        disk.crash(Random(seed))
        assert MetadataLog.open(disk, DIRECTORY)[1] == read
        kept += len(read)
    assert kept == 60


def test_a_log_that_is_known_to_be_on_disk_is_not_written_again():
    disk = SimulatedFileSystem()
    config = StorageConfig(
        node_id=NodeId(1),
        directories=("/data",),
        metadata_directory="/data",
        voter_ids=(NodeId(1),),
    )
    format_directories(disk, ("/data",), MetaProperties(cluster_id=CLUSTER, node_id=NodeId(1)))
    storage = open_node_storage(disk, config).storage
    storage._log.append(batch(0))
    storage.stopped(1)
    files = disk.root.entries["data"].entries["__cluster_metadata-0"].entries
    name = next(name for name in files if name.endswith(".log"))
    before = files[name]
    open_node_storage(disk, config)
    assert files[name] is before
    storage._log.append(batch(1))
    storage._log.start_flush()()
    open_node_storage(disk, config)
    assert files[name] is not before


@pytest.mark.requirement("595-09")
def test_the_power_may_go_at_any_operation_of_a_start():
    for operations in range(12):
        for seed in range(20):
            disk = SimulatedFileSystem()
            log, _ = MetadataLog.open(disk, DIRECTORY)
            for one in chain(1, 2, 3):
                log.append(one)
            log.start_flush()()
            log.append(batch(6))
            with_disk_faults(disk, seed)
            disk.disk_faults.crash_after(operations, lambda: None)
            with suppress(OSError):
                MetadataLog.open(disk, DIRECTORY)
            disk.disk_faults = None
            disk.crash(Random(seed))
            assert MetadataLog.open(disk, DIRECTORY)[1][:3] == chain(1, 2, 3)


def test_an_error_of_the_real_disk_names_the_file(tmp_path):
    handle = Disk().append_to(str(tmp_path / "file"))
    handle.close()
    for operation in (lambda: handle.write(b"x"), handle.start_fsync, lambda: handle.truncate(0)):
        with pytest.raises(OSError, match=str(tmp_path / "file")):
            operation()
