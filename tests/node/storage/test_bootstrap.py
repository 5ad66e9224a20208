"""bootstrap.checkpoint: the first records of a cluster, from the formatting to the log."""

from pathlib import Path

import pytest

from kraftproof.cluster.simulated.disk.filesystem import SimulatedFileSystem
from kraftproof.node.storage.bootstrap import (
    FILE_NAME,
    FirstRecords,
    read_bootstrap,
    write_bootstrap,
)
from kraftproof.node.storage.disk import Disk
from kraftproof.node.storage.errors import StorageError
from kraftproof.node.tools.storage import run
from kraftproof.node.wire.records.metadata import ConfigRecord, FeatureLevelRecord

CLUSTER = "AAAAAAAAAAAAAAAAAAAAAA"
LEVEL = FeatureLevelRecord(name="metadata.version", feature_level=25)


def written(*records):
    disk = SimulatedFileSystem()
    disk.make_directory("/data")
    write_bootstrap(disk, "/data", records)
    return disk


def test_the_records_are_read_again():
    config = ConfigRecord(resource_type=4, resource_name="", name="n", value="v")
    assert read_bootstrap(written(LEVEL, config), "/data") == FirstRecords(records=(LEVEL, config))
    assert read_bootstrap(SimulatedFileSystem(), "/data") == FirstRecords()


def test_features_of_kafka_are_left_out_with_one_warning():
    features = [
        FeatureLevelRecord(name=name, feature_level=1)
        for name in ("group.version", "share.version")
    ]
    assert read_bootstrap(written(LEVEL, *features), "/data") == FirstRecords(
        records=(LEVEL,),
        warnings=(
            "/data/bootstrap.checkpoint: group.version, share.version: the level of a new cluster"
            " stays 0, this node lacks the feature",
        ),
    )


@pytest.mark.parametrize(
    ("record", "named"),
    [
        (FeatureLevelRecord(name="metadata.version", feature_level=31), "metadata.version has"),
        (FeatureLevelRecord(name="metadata.version", feature_level=6), "metadata.version has"),
        (FeatureLevelRecord(name="nonsense.version", feature_level=1), "nonsense.version has the"),
    ],
)
def test_a_feature_that_this_node_lacks_is_named(record, named):
    with pytest.raises(StorageError, match=f"/data/bootstrap.checkpoint: {named}"):
        read_bootstrap(written(record), "/data")


@pytest.mark.parametrize("cut", [1, 40, 200])
def test_a_damaged_file_is_one_line(cut):
    disk = written(LEVEL)
    data = disk.read(f"/data/{FILE_NAME}")[:-cut]
    disk.remove(f"/data/{FILE_NAME}")
    disk.append_to(f"/data/{FILE_NAME}").write(data)
    with pytest.raises(StorageError, match=r"^/data/bootstrap.checkpoint: [^\n]*format the"):
        read_bootstrap(disk, "/data")


def properties(tmp_path: Path) -> str:
    path = tmp_path / "server.properties"
    path.write_text(f"node.id=1\nlog.dirs={tmp_path}/data\n")
    return str(path)


@pytest.mark.requirement("631-94")
@pytest.mark.parametrize(
    ("options", "level"),
    [
        (["--release-version", "3.7"], 19),
        (["-r", "3.7-IV1"], 16),
        (["--release-version", "4.3-IV0"], 30),
        (["--feature", "metadata.version=7"], 7),
        ([], 21),
    ],
)
def test_the_tool_formats_at_a_level(tmp_path: Path, options: list[str], level: int) -> None:
    assert run(["format", "-c", properties(tmp_path), "-t", CLUSTER, *options]) == 0
    (found,) = read_bootstrap(Disk(), str(tmp_path / "data")).records
    assert found == FeatureLevelRecord(name="metadata.version", feature_level=level)
