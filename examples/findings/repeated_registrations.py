"""Start a broker of Kafka while commits take longer than half a session, and read the metadata log.

    python examples/findings/repeated_registrations.py --version 4.3.0 --linger-ms 6000

The active controller gathers records for `--linger-ms` before an append, so that each commit takes
so long. The sessions are those that Kafka has by default: 9 seconds. The script prints the offsets
of the registrations by incarnation. See docs/findings/0002.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

from kraftproof.cluster.protocol import ClusterError, ClusterOptions, nodes_of
from kraftproof.cluster.systems.apache_kafka.system import ApacheKafka
from kraftproof.cluster.systems.kafka import files
from kraftproof.run.backends import make_backend, with_cluster

SECOND_NS = 1_000_000_000
CONTROLLERS = (1, 2, 3)
BROKER = 4
LINES_SHOWN = 3


def registrations(folder, node_id):
    """Return the offsets of the registrations of the broker in a node's log, by incarnation."""
    found = {}
    for row in files.records(folder / "nodes" / str(node_id), node_id):
        if row["type"] == "REGISTER_BROKER_RECORD":
            value = json.loads(row["json"])
            if value["brokerId"] == BROKER:
                found.setdefault(value["incarnationId"], []).append(row["offset"])
    return found


def main():
    """Run once; return 1 if an incarnation was registered several times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--version", default="4.3.0")
    parser.add_argument("--linger-ms", type=int, default=6000)
    parser.add_argument("--session-ms", type=int, default=9000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    settings = {
        "controller.quorum.append.linger.ms": asked.linger_ms,
        "broker.session.timeout.ms": asked.session_ms,
        "broker.heartbeat.interval.ms": 2000,
    }
    with tempfile.TemporaryDirectory(prefix="repeated-registrations-") as directory:
        folder = Path(directory)
        options = ClusterOptions(
            nodes=nodes_of(controller=len(CONTROLLERS), broker=1),
            seed=asked.seed,
            directory=folder,
            backend="local",
            timeouts="default",
            node_config=tuple((key, str(value)) for key, value in settings.items()),
            system_version=asked.version,
        )

        async def run(cluster):
            async def up():
                await cluster.scope.sleep(SECOND_NS)
                print("the cluster is ready")

            try:
                await with_cluster(cluster, up)
            except ClusterError as error:
                print(f"the cluster does not get ready: {error}")

        make_backend("local").run(options, ApacheKafka(), run, print)
        counts = {}
        for node_id in CONTROLLERS:
            for incarnation, offsets in registrations(folder, node_id).items():
                counts[incarnation] = max(counts.get(incarnation, 0), len(offsets))
                print(f"log of controller {node_id}: {incarnation} at offsets {offsets}")
        output = (folder / "nodes" / str(BROKER) / "output.log").read_text(errors="replace")
        told = [line for line in output.splitlines() if " ERROR " in line]
        print(*told[-LINES_SHOWN:], sep="\n")
    print(f"records by incarnation: {counts}")
    return 1 if max(counts.values(), default=0) > 1 else 0


if __name__ == "__main__":
    sys.exit(main())
