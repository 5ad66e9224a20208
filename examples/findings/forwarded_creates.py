"""Ask Kafka for topics, each by one request, while the active controller stands still.

    python examples/findings/forwarded_creates.py --version 4.3.0 --rounds 8

Each client has one connection to a broker that is not the active controller. Each name is in one
request of one client, and no request is sent again. An answer TOPIC_ALREADY_EXISTS therefore shows
that the cluster itself executed the request twice. See docs/findings/0001.
"""

import argparse
import json
import sys
import tempfile
from collections import Counter
from pathlib import Path
from random import Random

from kraftproof.cluster.connection import ConnectionFailed, OutcomeUnknown
from kraftproof.cluster.protocol import ClusterOptions, NodeInfo
from kraftproof.cluster.systems.apache_kafka.clients import CONTROLLER_PORT
from kraftproof.cluster.systems.apache_kafka.system import ApacheKafka
from kraftproof.cluster.systems.kafka import files
from kraftproof.cluster.systems.kafka.connection import connect
from kraftproof.cluster.systems.kafka.quorum import led_quorums
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import create_topics_request
from kraftproof.run.backends import make_backend, with_cluster

SECOND_NS = 1_000_000_000
VERSION_OF_REQUEST = 7
ANSWER_S = 15
CLIENTS = 16
PAUSE_S = (2.5, 4.0)
"""Bounds of the pause; the followers elect another controller after about two seconds."""


class Client:
    """One connection to a broker; after a lost answer a new connection."""

    def __init__(self, cluster, broker, number, random):
        self._cluster, self._broker, self._number, self._random = cluster, broker, number, random
        self.asked = 0
        self.answers = Counter()
        self.twice = []
        """Names that were asked for once, and exist already by the answer."""

    async def run(self, until_ns):
        """Ask for one topic after the other until a time."""
        scope, connection = self._cluster.scope, None
        while scope.now() < until_ns:
            try:
                if connection is None:
                    connection = await connect(self._cluster, self._broker, SECOND_NS)
            except ConnectionFailed:
                await scope.sleep(SECOND_NS // 5)
                continue
            connection = await self._ask(connection)
            await scope.sleep(int(self._random.uniform(0.02, 0.08) * SECOND_NS))
        if connection is not None:
            connection.close()

    async def _ask(self, connection):
        """Send one request; return the connection, or None if the connection is lost."""
        name = f"once-{self._number}-{self.asked}"
        self.asked += 1
        topic = create_topics_request.CreatableTopic(
            name=name, num_partitions=1, replication_factor=1
        )
        request = create_topics_request.CreateTopicsRequest(
            topics=(topic,), timeout_ms=ANSWER_S * 1000
        )
        asked_ns = self._cluster.scope.now()
        try:
            answer = await connection.call(request, VERSION_OF_REQUEST, ANSWER_S * SECOND_NS)
        except (ConnectionFailed, OutcomeUnknown):
            self.answers["no answer"] += 1
            return None
        code = ErrorCode(answer.topics[0].error_code)
        self.answers[code.name] += 1
        if code is ErrorCode.TOPIC_ALREADY_EXISTS:
            waited_s = (self._cluster.scope.now() - asked_ns) / SECOND_NS
            self.twice.append((name, f"at broker {self._broker}, answered after {waited_s:.2f} s"))
        return connection


async def active_of(cluster):
    """Return the active controller, once there is one."""
    controllers = [node.node_id for node in cluster.nodes]
    while True:
        led = await led_quorums(cluster, controllers, CONTROLLER_PORT)
        if led:
            return max(led, key=lambda one: one.epoch).leader_id
        await cluster.scope.sleep(SECOND_NS // 5)


async def one_round(cluster, number, random):
    """Let the clients ask while the active controller is paused once; return the clients."""
    scope, active = cluster.scope, await active_of(cluster)
    brokers = [node.node_id for node in cluster.nodes if node.node_id != active]
    clients = [
        Client(cluster, brokers[place % len(brokers)], f"{number}-{place}", random)
        for place in range(CLIENTS)
    ]
    pause_s = random.uniform(*PAUSE_S)
    until_ns = scope.now() + int((pause_s + 2.0) * SECOND_NS)
    tasks = [scope.spawn(client.run(until_ns)) for client in clients]
    await scope.sleep(int(random.uniform(0.5, 1.0) * SECOND_NS))
    await cluster.pause(active)
    await scope.sleep(int(pause_s * SECOND_NS))
    await cluster.resume(active)
    for task in tasks:
        await task
    await scope.sleep(2 * SECOND_NS)
    return active, pause_s, clients


def print_records(cluster, names):
    """Print who appended the topic of each name: the leader and its epoch, by the metadata log."""
    log = files.records(cluster.node_files(1), 1)
    leaders = {}
    for row in log:
        if row["type"] == "LEADER_CHANGE":
            leaders[row["epoch"]] = json.loads(row["json"])["leaderId"]
    for row in log:
        if row["type"] == "TOPIC_RECORD" and json.loads(row["json"])["name"] in names:
            by = leaders.get(row["epoch"], "unknown")
            offset, epoch = row["offset"], row["epoch"]
            print(f"  log: offset {offset}, epoch {epoch}, leader {by}: {row['json']}")
    print(f"  log: leaders by epoch: {leaders}")


def main():
    """Run the rounds; return 1 if a request was executed twice."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--version", default="4.3.0")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    random, total, found, names = Random(asked.seed), Counter(), 0, []

    async def rounds(cluster):
        nonlocal found
        for number in range(asked.rounds):
            active, pause_s, clients = await one_round(cluster, number, random)
            answers = sum((client.answers for client in clients), Counter())
            total.update(answers)
            print(f"round {number}: node {active} paused for {pause_s:.1f} s: {dict(answers)}")
            for client in clients:
                found += len(client.twice)
                for name, text in client.twice:
                    names.append(name)
                    print(f"  executed twice: {name} {text}")
        print_records(cluster, names)

    nodes = tuple(
        NodeInfo(node_id=number, name=f"node-{number}", roles=("controller", "broker"))
        for number in (1, 2, 3)
    )
    with tempfile.TemporaryDirectory(prefix="forwarded-creates-") as directory:
        options = ClusterOptions(
            nodes=nodes,
            seed=asked.seed,
            directory=Path(directory),
            backend="local",
            system_version=asked.version,
        )

        async def run(cluster):
            await with_cluster(cluster, lambda: rounds(cluster))

        make_backend("local").run(options, ApacheKafka(), run, print)
    print(f"{sum(total.values())} requests: {dict(total)}; executed twice: {found}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
