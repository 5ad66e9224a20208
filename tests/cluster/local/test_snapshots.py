"""Real processes that write snapshots all the time: kill -9, and a log directory that is lost."""

import json
import shutil
import time

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

POLICY = (
    "metadata.log.max.record.bytes.between.snapshots=3000\nmetadata.snapshot.fetch.max.bytes=500\n"
)
LOG = "data/__cluster_metadata-0"
CONTROLLERS = (1, 2, 3)


def files(cluster, node_id):
    return cluster.cluster.node_files(node_id)


def traced(cluster, node_id):
    """The rows of a trace that are whole: it is written while it is read, and after a kill -9."""
    *lines, _ = (files(cluster, node_id) / "trace.jsonl").read_text().split("\n")
    return [line for line in lines if line.endswith("}")]


def status(cluster, node_id):
    return json.loads(traced(cluster, node_id)[-1])


def image(cluster, node_id):
    last = status(cluster, node_id)
    return last["image_offset"], last["image_digest"]


def until(holds, seconds=120):
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline, "in vain"
        time.sleep(0.05)


def create(cluster, prefix, count):
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap(), "log_level": 0})
    for number in range(count):
        topic = NewTopic(f"{prefix}-{number}", num_partitions=1, replication_factor=1)
        (future,) = admin.create_topics([topic], request_timeout=10).values()
        future.result(15)


def agrees(cluster, node_id):
    """Whether this node has had an image of another's last offset, and it was the same."""
    others = {image(cluster, other) for other in range(1, 7) if other != node_id}
    return image(cluster, node_id) in others


@pytest.mark.long
@pytest.mark.requirement("631-31")
@pytest.mark.requirement("631-34")
def test_a_killed_leader_restarts_and_a_wiped_follower_catches_up_by_snapshot(kraftproof_cluster):
    cluster = kraftproof_cluster
    for node_id in range(1, 7):
        cluster.kill(node_id)
        with (files(cluster, node_id) / "server.properties").open("a") as properties:
            properties.write(POLICY)
    for node_id in range(1, 7):
        cluster.start_node(node_id)
    cluster.wait_until_ready()
    create(cluster, "first", 60)
    for node_id in range(1, 7):
        until(
            lambda node_id=node_id: (
                len(list(files(cluster, node_id).glob(f"{LOG}/*.checkpoint"))) == 2
            )
        )
    leader = next(n for n in CONTROLLERS if status(cluster, n)["role"] == "leader")
    cluster.kill(leader)
    create(cluster, "second", 10)
    wiped = next(n for n in CONTROLLERS if status(cluster, n)["role"] == "follower")
    cluster.start_node(leader)
    cluster.wait_until_ready()
    until(lambda: agrees(cluster, leader))
    cluster.kill(wiped)
    shutil.rmtree(files(cluster, wiped) / LOG)
    (files(cluster, wiped) / "trace.jsonl").unlink()
    cluster.start_node(wiped)
    until(lambda: (files(cluster, wiped) / "trace.jsonl").exists() and traced(cluster, wiped))
    until(lambda: status(cluster, wiped)["image_offset"] > 0 and agrees(cluster, wiped))
    first = min((files(cluster, wiped) / LOG).glob("*.log"))
    assert int(first.stem) > 0, "its log begins at the snapshot that it has copied"
    create(cluster, "third", 5)
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap(), "log_level": 0})
    expected = {f"first-{n}" for n in range(60)} | {f"second-{n}" for n in range(10)}
    until(lambda: expected <= admin.list_topics(timeout=10).topics.keys())
