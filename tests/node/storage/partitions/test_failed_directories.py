"""A log directory on a failed disk: while the node runs, and at a start."""

import pytest

from kraftproof.cluster.simulated.disk.filesystem import SimulatedFileSystem
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import NodeId
from kraftproof.node.core.log_effects import CreateLog, WriteCheckpoints
from kraftproof.node.storage.meta_properties import MetaProperties, format_directories
from kraftproof.node.storage.stored import StorageConfig, open_node_storage
from kraftproof.node.wire.types import Uuid
from tests.support.node.partition_disk import LOG, PartitionDisk, chain, run

FIRST, SECOND = "/first", "/second"
FIRST_ID, SECOND_ID = Uuid(bytes(15) + b"\xe1"), Uuid(bytes(15) + b"\xe2")
OTHER = LogId(Uuid(b"another topic id"), 0)
CLUSTER = "AAAAAAAAAAAAAAAAAAAAAA"


def disks():
    """Two directories with a log in each."""
    node = PartitionDisk(homes=((FIRST, FIRST_ID), (SECOND, SECOND_ID)))
    node.logs.create(CreateLog(log=LOG, topic="orders", directory=FIRST_ID))
    node.logs.create(CreateLog(log=OTHER, topic="other", directory=SECOND_ID))
    node.append(*chain(3))
    node.append(*chain(2), log=OTHER)
    return node


def test_a_new_log_is_made_in_the_named_directory():
    node = disks()
    assert node.logs.directory_of(LOG) == FIRST_ID
    assert node.logs.directory_of(OTHER) == SECOND_ID
    assert node.disk.exists(f"{FIRST}/orders-3")
    assert node.disk.exists(f"{SECOND}/other-0")


def test_each_call_on_a_failed_disk_is_an_error_and_the_other_directory_works():
    node = disks()
    node.disk.failed_directories.add(FIRST)
    for call in (
        lambda: node.append(*chain(1, start=9)),
        node.flush,
        lambda: node.truncate(0),
        lambda: node.read(0),
        lambda: node.raise_start(1),
        lambda: node.create(LogId(LOG.topic_id, 9)),
    ):
        with pytest.raises(OSError, match="Input/output error"):
            call()
    node.append(*chain(1, start=3), log=OTHER)
    node.flush(OTHER)
    assert len(node.read_all(0, OTHER)) == 3


def test_a_failed_directory_is_let_go_and_the_stop_marks_the_other():
    node = disks()
    node.disk.failed_directories.add(FIRST)
    assert node.logs.fail(FIRST_ID) == ((LOG, "orders"),)
    assert node.logs.directory_of(LOG) is None
    assert [directory for directory, _ in node.logs.write_checkpoints(effect())] == [SECOND_ID]
    node.logs.stop(7)
    node.logs.close()
    node.disk.failed_directories.clear()
    assert node.disk.exists(f"{SECOND}/.kafka_cleanshutdown")
    assert not node.disk.exists(f"{FIRST}/.kafka_cleanshutdown")
    assert [found.log for found in node.open()] == sorted([LOG, OTHER])


def effect():
    return WriteCheckpoints(high_watermarks=((LOG, 1), (OTHER, 1)))


def test_the_checkpoint_of_a_failed_directory_is_the_failure_of_that_directory():
    node = disks()
    node.disk.failed_directories.add(SECOND)
    begun = dict(node.logs.write_checkpoints(effect()))
    run(begun[FIRST_ID]())
    with pytest.raises(OSError, match="/second"):
        run(begun[SECOND_ID]())


def node_config():
    return StorageConfig(
        node_id=NodeId(1),
        directories=("/data", FIRST, SECOND),
        metadata_directory="/data",
        log_directories=(FIRST, SECOND),
        voter_ids=(NodeId(1),),
    )


def formatted():
    disk = SimulatedFileSystem()
    config = node_config()
    format_directories(
        disk, config.directories, MetaProperties(cluster_id=CLUSTER, node_id=NodeId(1))
    )
    return disk, config


@pytest.mark.requirement("631-08")
def test_a_node_starts_without_a_failed_log_directory_and_says_so():
    disk, config = formatted()
    whole = open_node_storage(disk, config)
    assert whole.log_directory_paths == (FIRST, SECOND)
    whole.storage.partitions.create(CreateLog(log=OTHER, topic="o", directory=FIRST_ID))
    whole.storage.close()
    disk.failed_directories.add(SECOND)
    stored = open_node_storage(disk, config)
    assert stored.log_directory_paths == (FIRST,)
    assert stored.log_directory_ids == whole.log_directory_ids[:1]
    assert stored.failed_log_directories == (SECOND,)
    (warning,) = stored.warnings
    assert warning.startswith("/second: Input/output error; the partitions in this log directory")
    stored.storage.close()
    disk.failed_directories.clear()
    assert open_node_storage(disk, config).failed_log_directories == ()


def test_a_node_does_not_start_without_the_directory_of_its_metadata_log():
    disk, config = formatted()
    disk.failed_directories.add("/data")
    with pytest.raises(OSError, match="/data"):
        open_node_storage(disk, config)


def test_a_log_directory_that_fails_during_the_recovery_is_left_out(monkeypatch):
    disk, config = formatted()
    whole = open_node_storage(disk, config)
    whole.storage.partitions.create(
        CreateLog(log=OTHER, topic="o", directory=whole.log_directory_ids[0])
    )
    whole.storage.close()
    read = SimulatedFileSystem.read

    def failing(self, path):
        if path.endswith("/first/o-0/partition.metadata"):
            raise OSError(5, "Input/output error", path)
        return read(self, path)

    monkeypatch.setattr(SimulatedFileSystem, "read", failing)
    stored = open_node_storage(disk, config)
    assert stored.failed_log_directories == (FIRST,)
    assert stored.partitions == ()
    (warning,) = stored.warnings
    assert warning.startswith("/first/o-0/partition.metadata: Input/output error; the partitions")
