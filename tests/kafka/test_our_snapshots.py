"""Kafka's dump-log reads the snapshots that a live node of ours has written (631-16, 631-36)."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from kraftproof.cluster.local.local_cluster import LocalCluster
from kraftproof.cluster.protocol import ClusterOptions, nodes_of
from kraftproof.node.storage.log import DIRECTORY_NAME
from kraftproof.node.tools import dump_log
from tests.kafka.java import Java
from tests.kafka.systems import make_cluster, until
from tests.kafka.test_dump_log import DUMP, parsed

pytestmark = pytest.mark.kafka

TOPICS = 40
SMALL_SNAPSHOTS = (("metadata.log.max.record.bytes.between.snapshots", "3000"),)


@pytest.fixture
def writing(tmp_path: Path) -> Iterator[LocalCluster]:
    """A controller and a broker that write snapshots all the time."""
    options = ClusterOptions(
        nodes=nodes_of(controller=1, broker=1),
        seed=5,
        directory=tmp_path,
        node_config=SMALL_SNAPSHOTS,
    )
    with asyncio.Runner() as runner:
        cluster = runner.run(make_cluster(options))
        try:
            runner.run(cluster.start())
            yield cluster
        finally:
            runner.run(cluster.stop())


def create(bootstrap: str) -> None:
    admin = AdminClient({"bootstrap.servers": bootstrap, "log_level": 0})
    for number in range(TOPICS):
        topic = NewTopic(f"topic-{number}", num_partitions=2, replication_factor=1)
        (future,) = admin.create_topics([topic], request_timeout=10).values()
        future.result(15)


def newest(directory: Path) -> Path | None:
    return max(directory.glob("*.checkpoint"), default=None)


@pytest.mark.requirement("631-16")
@pytest.mark.requirement("631-36")
def test_kafka_reads_the_snapshots_of_live_nodes_of_ours(
    writing: LocalCluster, java: Java, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    create(writing.bootstrap())
    for node_id in (1, 2):
        directory = writing.node_files(node_id) / "data" / DIRECTORY_NAME
        assert until(lambda directory=directory: newest(directory) is not None)
        snapshot = newest(directory)
        assert snapshot is not None
        copy = tmp_path / snapshot.name
        copy.write_bytes(snapshot.read_bytes())
        arguments = ("--cluster-metadata-decoder", "--files", str(copy))
        theirs = parsed(java.output(DUMP, *arguments))
        capsys.readouterr()
        assert dump_log.run([*arguments]) == 0
        assert parsed(capsys.readouterr().out) == theirs
        assert theirs[1][0].startswith(f"Snapshot end offset: {int(snapshot.name[:20])}, epoch: ")
        types = [content["type"] for _, content in theirs if content and "type" in content]
        assert types.count("PARTITION_RECORD") == 2 * types.count("TOPIC_RECORD") > 0
        assert types.count("REGISTER_BROKER_RECORD") == 1
        names = [before.split()[-1] for before, content in theirs if content]
        assert (names[0], names[-1]) == ("SnapshotHeader", "SnapshotFooter")
        assert json.dumps(theirs).count("isvalid: true") >= 3, "header, content, footer"
