"""Replace a reassignment of Kafka while its new replica lags, and see whether the move ever ends.

    python examples/findings/stuck_reassignment.py --version 4.3.0

A partition has the replicas 2 and 3. Broker 4 is paused, the partition is moved to 4, 2 and 3, and
then back to 2 and 3, which are in sync. Broker 4 goes on, and nobody asks for more. The script
prints the move that is under way at the end, and the records of the partition. See
docs/findings/0004.
"""

import argparse
import sys
import tempfile
from pathlib import Path

from kraftproof.cluster.protocol import ClusterOptions, nodes_of
from kraftproof.cluster.systems.apache_kafka.system import ApacheKafka
from kraftproof.cluster.systems.kafka import files
from kraftproof.cluster.systems.kafka.connection import connect
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    alter_partition_reassignments_request,
    create_topics_request,
    list_partition_reassignments_request,
)
from kraftproof.run.backends import make_backend, with_cluster

SECOND_NS = 1_000_000_000
ANSWER_S = 20
CONTROLLER, ASKED, LAGGING = 1, 2, 4
KEPT = (2, 3)
TOPIC = "moved"


def creation():
    """Return the request for a topic with one partition on the kept brokers."""
    module = create_topics_request
    placed = module.CreatableReplicaAssignment(partition_index=0, broker_ids=KEPT)
    topic = module.CreatableTopic(
        name=TOPIC, num_partitions=-1, replication_factor=-1, assignments=(placed,)
    )
    return module.CreateTopicsRequest(topics=(topic,), timeout_ms=ANSWER_S * 1000)


def move(replicas):
    """Return the request that moves the partition."""
    module = alter_partition_reassignments_request
    partition = module.ReassignablePartition(partition_index=0, replicas=replicas)
    topic = module.ReassignableTopic(name=TOPIC, partitions=(partition,))
    return module.AlterPartitionReassignmentsRequest(topics=(topic,), timeout_ms=ANSWER_S * 1000)


async def moves_under_way(connection):
    """Return replicas, added and removed ones of each partition that is being moved."""
    request = list_partition_reassignments_request.ListPartitionReassignmentsRequest(topics=None)
    answer = await connection.call(request, 0, ANSWER_S * SECOND_NS)
    return [
        (one.replicas, one.adding_replicas, one.removing_replicas)
        for topic in answer.topics
        for one in topic.partitions
    ]


async def replace_move(cluster, wait_s):
    """Replace a move whose new replica lags; return the moves that are under way at the end."""
    scope = cluster.scope
    connection = await connect(cluster, ASKED, ANSWER_S * SECOND_NS)
    created = await connection.call(creation(), 7, ANSWER_S * SECOND_NS)
    print(f"create on {KEPT}: {ErrorCode(created.topics[0].error_code).name}")
    await scope.sleep(SECOND_NS)
    await cluster.pause(LAGGING)
    for replicas in ((LAGGING, *KEPT), KEPT):
        answer = await connection.call(move(replicas), 0, ANSWER_S * SECOND_NS)
        error = answer.responses[0].partitions[0].error_code
        print(f"move to {replicas}: {ErrorCode(error).name}")
        print(f"under way (replicas, added, removed): {await moves_under_way(connection)}")
    await cluster.resume(LAGGING)
    await scope.sleep(wait_s * SECOND_NS)
    found = await moves_under_way(connection)
    connection.close()
    print(f"under way {wait_s} s after broker {LAGGING} went on: {found}")
    return found


def main():
    """Run once; return 1 if a move is under way at the end."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--version", default="4.3.0")
    parser.add_argument("--wait-s", type=int, default=30)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    found = []
    with tempfile.TemporaryDirectory(prefix="stuck-reassignment-") as directory:
        folder = Path(directory)
        options = ClusterOptions(
            nodes=nodes_of(controller=1, broker=3),
            seed=asked.seed,
            directory=folder,
            backend="local",
            system_version=asked.version,
        )

        async def run(cluster):
            async def up():
                found.extend(await replace_move(cluster, asked.wait_s))

            await with_cluster(cluster, up)

        make_backend("local").run(options, ApacheKafka(), run, print)
        for row in files.records(folder / "nodes" / str(CONTROLLER), CONTROLLER):
            if row["type"] in {"PARTITION_RECORD", "PARTITION_CHANGE_RECORD"}:
                print(f"  log: offset {row['offset']}: {row['json']}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
