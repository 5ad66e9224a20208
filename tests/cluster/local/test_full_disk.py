"""A controller whose disk is full ends with one line, and loses nothing that it acknowledged."""

import os
import resource
import shutil
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient, NewTopic

from kraftproof.cluster.protocol import ClusterOptions, nodes_of
from kraftproof.cluster.systems.reference.system import ReferenceSystem
from kraftproof.pytest_plugin import SyncCluster, cluster_of
from tests.cluster.local.test_snapshots import until
from tests.support.long_cases import long

CONTROLLER = 1
SMALL_BYTES = 96 * 1024
MANY = 3_000


class Limit(NamedTuple):
    """A bound on what the controller may write, and how it is lifted before a restart."""

    impose: Callable[[SyncCluster], None]
    lift: Callable[[], None]


@contextmanager
def small_file_system(data: Path) -> Iterator[Limit]:
    """A tmpfs under the controller's data directory: ENOSPC."""
    if not may_mount():
        pytest.skip("mounting a small file system needs root; EFBIG shows nearly the same")
    subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={SMALL_BYTES}", "kraftproof", data], check=True
    )

    def grow() -> None:
        subprocess.run(["mount", "-o", "remount,size=64m", data], check=True)

    try:
        yield Limit(lambda _: None, grow)
    finally:
        subprocess.run(["umount", "--lazy", data], check=True)


@contextmanager
def small_files(_: Path) -> Iterator[Limit]:
    """A limit on the size of the process's files, its trace left out: EFBIG, needs no rights."""

    def impose(cluster: SyncCluster) -> None:
        properties = cluster.cluster.node_files(CONTROLLER) / "server.properties"
        lines = properties.read_text().splitlines(keepends=True)
        properties.write_text("".join(line for line in lines if "trace.file" not in line))
        cluster.kill(CONTROLLER)
        cluster.start_node(CONTROLLER)
        cluster.wait_until_ready()
        pid = cluster.drive(cluster.cluster.process_id(CONTROLLER))
        assert pid is not None
        resource.prlimit(pid, resource.RLIMIT_FSIZE, (SMALL_BYTES, SMALL_BYTES))

    yield Limit(impose, lambda: None)


def may_mount() -> bool:
    """Whether this user may mount a file system here."""
    if os.geteuid() != 0 or shutil.which("unshare") is None:
        return False
    probe = ["unshare", "--mount", "mount", "-t", "tmpfs", "kraftproof", "/mnt"]
    return subprocess.run(probe, check=False).returncode == 0


def create(admin: AdminClient, name: str, patience_s: float = 15) -> None:
    topic = NewTopic(name, num_partitions=1, replication_factor=1)
    (future,) = admin.create_topics([topic], request_timeout=patience_s).values()
    future.result(patience_s + 3)


def create_until_it_ends(cluster: SyncCluster) -> set[str]:
    """Create topics until the controller has ended; returns those that were acknowledged."""
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap(), "log_level": 0})
    created: set[str] = set()
    for number in range(MANY):
        name = f"topic-{number:04}-{'x' * 150}"
        try:
            create(admin, name, patience_s=2)
        except KafkaException:
            if has_ended(cluster):
                return created
        else:
            created.add(name)
    raise AssertionError("the disk was not full")


def has_ended(cluster: SyncCluster) -> bool:
    """Whether the controller's process is gone."""
    return cluster.drive(cluster.cluster.process_id(CONTROLLER)) is None


def ended(cluster: SyncCluster) -> str:
    """What the controller said last, once it has ended by itself."""
    until(lambda: has_ended(cluster))
    said = (cluster.cluster.node_files(CONTROLLER) / "output.log").read_text().splitlines()
    assert not any("Traceback" in line for line in said)
    return said[-1]


@pytest.mark.requirement("595-09")
@pytest.mark.requirement("595-30")
@pytest.mark.parametrize(
    ("limited", "reason"),
    [(small_file_system, "No space left on device"), long(small_files, "File too large")],
    ids=["ENOSPC", "EFBIG"],
)
def test_a_full_disk_ends_the_node_and_takes_nothing_that_was_acknowledged(
    limited, reason, tmp_path
):
    options = ClusterOptions(nodes=nodes_of(controller=1, broker=1), seed=3, directory=tmp_path)
    data = tmp_path / "nodes" / str(CONTROLLER) / "data"
    data.mkdir(parents=True)
    with limited(data) as limit, cluster_of("local", options, ReferenceSystem()) as cluster:
        limit.impose(cluster)
        acknowledged = create_until_it_ends(cluster)
        line = ended(cluster)
        assert line.startswith("kraft-node: ")
        assert str(data / "__cluster_metadata-0") in line
        assert reason in line
        assert len(acknowledged) > 50
        limit.lift()
        cluster.start_node(CONTROLLER)
        cluster.wait_until_ready()
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap(), "log_level": 0})
        create(admin, "after")
        until(lambda: acknowledged | {"after"} <= admin.list_topics(timeout=10).topics.keys())


@pytest.mark.long
def test_a_start_on_a_full_disk_changes_nothing(tmp_path):
    options = ClusterOptions(nodes=nodes_of(controller=1, broker=1), seed=4, directory=tmp_path)
    data = tmp_path / "nodes" / str(CONTROLLER) / "data"
    data.mkdir(parents=True)
    with (
        small_file_system(data) as limit,
        cluster_of("local", options, ReferenceSystem()) as cluster,
    ):
        acknowledged = create_until_it_ends(cluster)
        ended(cluster)
        for _ in range(2):
            cluster.start_node(CONTROLLER)
            assert "No space left on device" in ended(cluster)
        limit.lift()
        cluster.start_node(CONTROLLER)
        cluster.wait_until_ready()
        admin = AdminClient({"bootstrap.servers": cluster.bootstrap(), "log_level": 0})
        until(lambda: acknowledged <= admin.list_topics(timeout=10).topics.keys())
