"""A controller whose files were tampered with: one line, no harm, and it starts once all is undone.

Each damage is done to a controller that has acknowledged topics; it refuses to start with one
line and status 1, and changes nothing. With the cause gone it starts, and every topic is there.
"""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from confluent_kafka.admin import AdminClient

from kraftproof.cluster.protocol import ClusterOptions, nodes_of
from kraftproof.cluster.systems.reference.system import ReferenceSystem
from kraftproof.pytest_plugin import SyncCluster, cluster_of
from tests.cluster.local.test_full_disk import create
from tests.cluster.local.test_snapshots import until
from tests.support.command import NODE, one_line, run
from tests.support.lagging import SMALL_SNAPSHOTS
from tests.support.long_cases import mostly_long

CONTROLLER, BROKER = 1, 2
OTHER_CLUSTER = "BBBBBBBBBBBBBBBBBBBBBA"
LOG = "data/__cluster_metadata-0"
UNPRIVILEGED = ("setpriv", "--bounding-set=-all", "--inh-caps=-all")
"""Root without capabilities is refused by a directory's mode, as anybody else is."""


class Acknowledged(NamedTuple):
    """A cluster and the topics that it has acknowledged so far."""

    cluster: SyncCluster
    topics: set[str]

    @property
    def files(self) -> Path:
        """The controller's."""
        return self.cluster.cluster.node_files(CONTROLLER)

    def create(self, name: str) -> None:
        admin = AdminClient({"bootstrap.servers": self.cluster.bootstrap(), "log_level": 0})
        create(admin, name)
        self.topics.add(name)

    def has_all(self) -> bool:
        admin = AdminClient({"bootstrap.servers": self.cluster.bootstrap(), "log_level": 0})
        return self.topics <= admin.list_topics(timeout=10).topics.keys()


@pytest.fixture(scope="module")
def acknowledged(tmp_path_factory):
    options = ClusterOptions(
        nodes=nodes_of(controller=1, broker=1),
        seed=6,
        directory=tmp_path_factory.mktemp("cluster"),
        node_config=SMALL_SNAPSHOTS,
    )
    with cluster_of("local", options, ReferenceSystem()) as cluster:
        found = Acknowledged(cluster, set())
        for number in range(200):
            found.create(f"first-{number}")
            if len(snapshots(found.files)) == 2 and first_offset(found.files) > 0:
                break
        assert first_offset(found.files) > 0
        yield found


def snapshots(files: Path) -> list[Path]:
    return sorted((files / LOG).glob("*.checkpoint"))


def segments(files: Path) -> list[Path]:
    return sorted((files / LOG).glob("*.log"))


def first_offset(files: Path) -> int:
    return int(segments(files)[0].stem)


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-7])


def replaced(path: Path, old: str, new: str) -> str:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))
    return str(path)


# A damage is done to the controller's files; it returns what the refusal has to name.


def flipped_byte(files: Path) -> tuple[str, ...]:
    segment = max(segments(files), key=lambda path: path.stat().st_size)
    data = bytearray(segment.read_bytes())
    data[len(data) // 3] ^= 1
    segment.write_bytes(data)
    return str(segment), "corrupt at byte ", "restore the file"


def cut_snapshots(files: Path) -> tuple[str, ...]:
    for snapshot in snapshots(files):
        cut(snapshot)
    return str(files / LOG), "no whole snapshot", "restore"


def quorum_state_of_another_node(files: Path) -> tuple[str, ...]:
    state = files / LOG / "quorum-state"
    shutil.copy(files.parent / str(BROKER) / LOG / "quorum-state", state)
    return str(state), "nodeId is 2", "this node's is 1"


def garbled_quorum_state(files: Path) -> tuple[str, ...]:
    cut(files / LOG / "quorum-state")
    return str(files / LOG / "quorum-state"), "is not JSON", "restore the file"


def meta_properties_of_another_cluster(files: Path) -> tuple[str, ...]:
    meta = files / "data" / "meta.properties"
    (line,) = (line for line in meta.read_text().splitlines() if line.startswith("cluster.id="))
    replaced(meta, line, f"cluster.id={OTHER_CLUSTER}")
    return line.partition("=")[2], OTHER_CLUSTER, "quorum-state"


def meta_properties_of_another_node(files: Path) -> tuple[str, ...]:
    meta = files / "data" / "meta.properties"
    return replaced(meta, "node.id=1", "node.id=2"), "node.id is 2, the configuration's 1"


def no_meta_properties(files: Path) -> tuple[str, ...]:
    (files / "data" / "meta.properties").unlink()
    return str(files / "data" / "meta.properties"), "not found", "kraft-storage format"


def unreadable_directory(files: Path) -> tuple[str, ...]:
    (files / "data").chmod(0o000)
    return str(files / "data"), "Permission denied"


def voters(value: str, *named: str) -> Callable[[Path], tuple[str, ...]]:
    """Another list of voters."""

    def change(files: Path) -> tuple[str, ...]:
        properties = files / "server.properties"
        lines = properties.read_text().splitlines()
        (line,) = (line for line in lines if line.startswith("controller.quorum.voters="))
        replaced(properties, line, f"controller.quorum.voters={value}")
        return f"controller.quorum.voters={value}: ", *named

    return change


DAMAGES = {
    "flipped byte": flipped_byte,
    "snapshots cut short": cut_snapshots,
    "quorum-state of another node": quorum_state_of_another_node,
    "quorum-state cut short": garbled_quorum_state,
    "meta.properties of another cluster": meta_properties_of_another_cluster,
    "meta.properties of another node": meta_properties_of_another_node,
    "no meta.properties": no_meta_properties,
    "unreadable directory": unreadable_directory,
    "voter missing": voters("9@127.0.0.1:9093", "lacks this controller, node.id=1"),
    "voter malformed": voters("1@127.0.0.1", "'127.0.0.1' is not host:port"),
    "voter twice": voters("1@127.0.0.1:1,1@127.0.0.1:2", "voter 1 is named twice"),
}


QUICK = (
    "flipped byte",
    "voter missing",
)


def content(files: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(files)): path.read_bytes()
        for path in sorted(files.rglob("*"))
        if path.is_file() and path.name not in {"output.log", "trace.jsonl"}
    }


@pytest.mark.requirement("595-01")
@pytest.mark.requirement("631-92")
@pytest.mark.parametrize("damage", mostly_long(DAMAGES.items(), QUICK))
def test_a_damaged_controller_refuses_in_one_line_and_loses_nothing(acknowledged, tmp_path, damage):
    acknowledged.cluster.kill(CONTROLLER)
    files = acknowledged.files
    unfinished = files / LOG / "00000000000000000007-0000000001.checkpoint.part"
    unfinished.write_bytes(b"as a kill amid a snapshot leaves it")
    shutil.copytree(files, tmp_path / "whole")
    named = damage(files)
    is_readable = damage is not unreadable_directory
    before = content(files) if is_readable else None
    unprivileged = UNPRIVILEGED if os.geteuid() == 0 and not is_readable else ()
    line = one_line(run((*unprivileged, *NODE), files / "server.properties"), 1)
    assert line.startswith("kraft-node: ")
    assert all(part in line for part in named), line
    assert not is_readable or content(files) == before, "a refusal changes nothing"
    (files / "data").chmod(0o755)
    shutil.rmtree(files)
    shutil.copytree(tmp_path / "whole", files)
    start_and_find_all(acknowledged)
    assert not unfinished.exists()


def start_and_find_all(acknowledged: Acknowledged) -> None:
    acknowledged.cluster.start_node(CONTROLLER)
    acknowledged.cluster.wait_until_ready()
    acknowledged.create(f"later-{len(acknowledged.topics)}")
    until(acknowledged.has_all)


@pytest.mark.long
@pytest.mark.requirement("631-36")
def test_a_newest_snapshot_that_was_cut_short_is_told_and_not_needed(acknowledged):
    acknowledged.cluster.kill(CONTROLLER)
    newest = snapshots(acknowledged.files)[-1]
    cut(newest)
    output = acknowledged.files / "output.log"
    told_before = len(output.read_text().splitlines())
    start_and_find_all(acknowledged)
    said = output.read_text().splitlines()[told_before:]
    assert len(said) == 2
    assert said[0].startswith(f"kraft-node: {newest}: no whole snapshot (")
    assert said[0].endswith("it is not used, what it held is in the log")
