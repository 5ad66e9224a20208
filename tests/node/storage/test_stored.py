"""Storage as a whole: whose directories they are, and what a node finds at start."""

from pathlib import Path

import pytest

from kraftproof.node.core.base.log_id import METADATA_LOG
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.types import Epoch, NodeId, Offset
from kraftproof.node.core.effects import Append, Flush, PersistQuorumState, Truncate
from kraftproof.node.storage.disk import Disk
from kraftproof.node.storage.errors import StorageError
from kraftproof.node.storage.meta_properties import (
    MetaProperties,
    check_directories,
    format_directories,
    read_meta_properties,
)
from kraftproof.node.storage.stored import StorageConfig, open_node_storage
from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.records.metadata import NoOpRecord
from kraftproof.node.wire.types import Uuid, format_uuid

CLUSTER_ID = "AAAAAAAAAAAAAAAAAAAAAA"
OTHER_ID = "BBBBBBBBBBBBBBBBBBBBBA"
DISK = Disk()


def config(*directories: Path) -> StorageConfig:
    paths = tuple(map(str, directories))
    return StorageConfig(
        node_id=NodeId(1),
        directories=paths,
        metadata_directory=paths[0],
        voter_ids=(NodeId(1),),
    )


def formatted(*directories: Path, cluster_id: str = CLUSTER_ID, node_id: int = 1) -> None:
    meta = MetaProperties(cluster_id=cluster_id, node_id=NodeId(node_id))
    format_directories(DISK, list(map(str, directories)), meta)


def batch(offset: int) -> Batch:
    return Batch(base_offset=offset, epoch=1, timestamp_ms=0, records=(NoOpRecord(),))


def test_effects_are_found_again_after_a_restart(tmp_path: Path) -> None:
    formatted(tmp_path)
    stored = open_node_storage(DISK, config(tmp_path))
    assert stored.durable == QuorumState()
    assert stored.batches == ()
    assert stored.cluster_id == CLUSTER_ID
    state = QuorumState(epoch=Epoch(3), voted_for=NodeId(1))
    stored.storage.persist_quorum_state(PersistQuorumState(state))
    for offset in range(3):
        stored.storage.append(Append(METADATA_LOG, batch(offset)))
    stored.storage.start_flush(Flush(log=METADATA_LOG, generation=0, end_offset=Offset(3)))()
    stored.storage.truncate(Truncate(METADATA_LOG, Offset(2)))
    stored.storage.close()
    again = open_node_storage(DISK, config(tmp_path))
    assert again.durable == state
    assert again.batches == (batch(0), batch(1))


@pytest.mark.requirement("631-91")
def test_meta_properties_are_version_1_with_both_ids(tmp_path: Path) -> None:
    formatted(tmp_path, node_id=7)
    text = (tmp_path / "meta.properties").read_text()
    assert {"version=1", f"cluster.id={CLUSTER_ID}", "node.id=7"} <= set(text.splitlines())
    assert read_meta_properties(DISK, str(tmp_path)).node_id == 7


@pytest.mark.requirement("631-91")
def test_meta_properties_as_kafka_writes_them_are_read(tmp_path: Path) -> None:
    (tmp_path / "meta.properties").write_text(
        f"#\n#Sat Nov 21 12:00:00 UTC 2026\ncluster.id={CLUSTER_ID}\n"
        "directory.id=HkhzDkDQR2KeMEJ6mSDv7g\nnode.id=7\nversion=1\n"
    )
    meta = read_meta_properties(DISK, str(tmp_path))
    assert (meta.cluster_id, meta.node_id) == (CLUSTER_ID, 7)


@pytest.mark.requirement("631-05")
@pytest.mark.requirement("631-91")
@pytest.mark.requirement("631-92")
@pytest.mark.parametrize(
    ("text", "named"),
    [
        (None, "not found; format the directory"),
        ("", "version is missing"),
        ("version=0\nbroker.id=1\n", "version is 0"),
        ("version=1\nnode.id=1\n", "cluster.id is ''"),
        ("version=1\nnode.id=1\ncluster.id=short\n", "cluster.id is 'short'"),
        (f"version=1\ncluster.id={CLUSTER_ID}\n", "node.id is ''"),
        (f"version=1\ncluster.id={CLUSTER_ID}\nnode.id=-1\n", "node.id is '-1'"),
        (f"version=1\ncluster.id={CLUSTER_ID}\nnode.id=2\n", "node.id is 2, the configuration's 1"),
    ],
)
def test_a_directory_that_is_not_this_nodes_is_refused(
    tmp_path: Path, text: str | None, named: str
) -> None:
    if text is not None:
        (tmp_path / "meta.properties").write_text(text)
    with pytest.raises(StorageError) as caught:
        open_node_storage(DISK, config(tmp_path))
    assert named in str(caught.value)
    assert str(tmp_path / "meta.properties") in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.requirement("631-92")
def test_directories_of_two_clusters_are_refused(tmp_path: Path) -> None:
    formatted(tmp_path / "a")
    formatted(tmp_path / "b", cluster_id=OTHER_ID)
    with pytest.raises(StorageError, match=f"cluster.id is {OTHER_ID}, but {CLUSTER_ID}"):
        check_directories(DISK, [str(tmp_path / "a"), str(tmp_path / "b")], NodeId(1))


@pytest.mark.requirement("631-95")
def test_formatting_is_all_or_nothing_unless_told_to_skip(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    formatted(first)
    with pytest.raises(StorageError, match="already formatted"):
        formatted(first, second)
    assert not (second / "meta.properties").exists()
    meta = MetaProperties(cluster_id=OTHER_ID, node_id=NodeId(1))
    done = format_directories(DISK, [str(first), str(second)], meta, ignore_formatted=True)
    assert done == [str(second)]
    assert read_meta_properties(DISK, str(first)).cluster_id == CLUSTER_ID


@pytest.mark.requirement("631-92")
def test_each_directory_has_an_id_of_its_own_for_ever(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    formatted(first, second)
    stored = open_node_storage(DISK, config(first, second))
    stored.storage.close()
    assert len(set(stored.log_directory_ids)) == 2
    again = open_node_storage(DISK, config(first, second))
    again.storage.close()
    assert again.log_directory_ids == stored.log_directory_ids


def test_a_directory_without_an_id_gets_one_at_start_and_keeps_what_else_is_said(
    tmp_path: Path,
) -> None:
    path = tmp_path / "meta.properties"
    path.write_text(f"version=1\ncluster.id={CLUSTER_ID}\nnode.id=1\nof.a.later.version=x=y\n")
    stored = open_node_storage(DISK, config(tmp_path))
    stored.storage.close()
    [directory_id] = stored.log_directory_ids
    meta = read_meta_properties(DISK, str(tmp_path))
    assert meta.directory_id == directory_id
    assert meta.others == {"of.a.later.version": "x=y"}
    again = open_node_storage(DISK, config(tmp_path))
    again.storage.close()
    assert again.log_directory_ids == (directory_id,)


@pytest.mark.parametrize("text", ["short", format_uuid(Uuid((99).to_bytes(16, "big")))])
def test_a_directory_id_that_can_not_be_is_named(tmp_path: Path, text: str) -> None:
    path = tmp_path / "meta.properties"
    path.write_text(f"version=1\ncluster.id={CLUSTER_ID}\nnode.id=1\ndirectory.id={text}\n")
    with pytest.raises(StorageError, match=r"^\S+meta.properties: directory.id .*") as refused:
        open_node_storage(DISK, config(tmp_path))
    assert text in str(refused.value)


def test_a_copied_directory_is_refused(tmp_path: Path) -> None:
    first, second = tmp_path / "a", tmp_path / "b"
    formatted(first)
    second.mkdir()
    (second / "meta.properties").write_text((first / "meta.properties").read_text())
    with pytest.raises(StorageError, match=r"two have the same directory\.id"):
        open_node_storage(DISK, config(first, second))
