"""Clients of real Kafka brokers on our controllers, and the faults beside them. No tests here.

Threads produce and move replicas, and a process copies records in transactions of a consumer
group, while nodes are killed, paused and cut off one after the other.
"""

import asyncio
import json
import math
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from functools import partial
from itertools import count
from pathlib import Path
from random import Random
from typing import IO

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    Message,
    Producer,
    TopicPartition,
)

from kraftproof.cluster.protocol import Capability, Cluster, ClusterOptions, Link, NodeInfo
from kraftproof.cluster.systems.mixed.system import MixedSystem
from kraftproof.node.tools.client import Client, ClientError, parse_addresses
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages.generated.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from kraftproof.run.backends import make_backend, with_cluster
from tests.kafka.real_brokers import copier
from tests.kafka.real_brokers.copier import ORDERS, SILENT

CONTROLLERS, BROKERS = (1, 2, 3), (4, 5, 6)
NODES = tuple(
    NodeInfo(node_id=node_id, name=f"controller-{node_id}", roles=("reference", "controller"))
    for node_id in CONTROLLERS
) + tuple(
    NodeInfo(node_id=node_id, name=f"broker-{node_id}", roles=("apache-kafka", "broker"))
    for node_id in BROKERS
)
PARTITIONS = 3
ROOT = Path(__file__).resolve().parents[3]
PACE_S = 0.02
MOVE_EVERY_S = 8
FAULT_S = (2.0, 5.0)
QUIET_S = (3.0, 6.0)
CATCH_UP_S = 180
MOST_SILENT_S = 90
"""Time after which a copier that says nothing is killed; an open transaction takes a minute."""
IDLE_S = 3
"""A copier without anything to copy for this time has copied all."""
Step = Callable[[], Awaitable[None]]


class Traffic:
    """What the clients did: `acked` values, and how often each client began anew."""

    def __init__(self, bootstrap: str, seed: int) -> None:
        self.bootstrap = bootstrap
        self.acked: list[int] = []
        self.positions: dict[str, int] = {}
        """Of each partition: where the copies end."""
        self.moves: Counter[str] = Counter()
        self.restarts: Counter[str] = Counter()
        self.last_said = ""
        """The last line of the copier."""
        self._heard = 0.0
        """When the copier last said something."""
        self._idle_from = math.inf
        """Since when the copier has found nothing to copy."""
        self._random = Random(seed)
        self._is_over = threading.Event()
        self._is_produced = threading.Event()
        self._threads = [
            threading.Thread(target=work, daemon=True)
            for work in (self._produce, self._copy, self._move)
        ]

    def start(self) -> None:
        for thread in self._threads:
            thread.start()

    def finish(self) -> None:
        """End the producer, let the copier catch up, and end all."""
        self._is_produced.set()
        self._threads[0].join(CATCH_UP_S)
        ended = time.monotonic()
        while not self._has_caught_up(ended) and time.monotonic() < ended + CATCH_UP_S:
            time.sleep(0.5)
        self._is_over.set()
        for thread in self._threads:
            thread.join(CATCH_UP_S)

    def _has_caught_up(self, ended: float) -> bool:
        """Return whether the copier found nothing more to copy since the end of the producer."""
        is_idle = self._heard > max(self._idle_from, ended) + IDLE_S
        return is_idle and sum(self.positions.values()) >= len(self.acked)

    def _options(self, **more: object) -> dict[str, object]:
        named = {key.replace("_", "."): value for key, value in more.items()}
        return {"bootstrap.servers": self.bootstrap, **SILENT, **named}

    def _produce(self) -> None:
        """Produce numbers one after the other; a number whose delivery failed is not repeated."""
        options = self._options(enable_idempotence=True, message_timeout_ms=120_000, linger_ms=5)
        producer = Producer(options)
        for number in count():
            if self._is_produced.is_set():
                break
            producer.produce(
                ORDERS, str(number), partition=number % PARTITIONS, on_delivery=self._delivered
            )
            producer.poll(PACE_S)
        producer.flush(CATCH_UP_S)

    def _delivered(self, error: KafkaError | None, message: Message) -> None:
        if error is None:
            self.acked.append(int(message.value() or b""))
        else:
            self.restarts[f"produce: {error.name()}"] += 1

    def _copy(self) -> None:
        """Let a process copy orders; after its end, another goes on."""
        command = [sys.executable, "-m", copier.__name__, self.bootstrap]
        while not self._is_over.is_set():
            with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=ROOT) as process:
                self._heard = time.monotonic()
                reader = threading.Thread(target=self._follow, args=(process.stdout,))
                reader.start()
                while process.poll() is None and not self._is_over.wait(0.2):
                    if time.monotonic() > self._heard + MOST_SILENT_S:
                        self.restarts["copy: silent"] += 1
                        break
                process.kill()
                reader.join()

    def _follow(self, lines: IO[str]) -> None:
        """Take what the copier says until its end, of which the last line may be cut."""
        for text in lines:
            if not text.endswith("\n"):
                break
            self._heard = time.monotonic()
            self.last_said = text.strip()
            line = json.loads(text)
            self.positions.update(line.get("positions", {}))
            if "error" in line:
                self.restarts[f"copy: {line['error']}"] += 1
            if not line.get("idle"):
                self._idle_from = math.inf
            elif self._idle_from == math.inf:
                self._idle_from = self._heard

    def _move(self) -> None:
        """Move a partition to other replicas now and then."""
        while not self._is_over.wait(MOVE_EVERY_S):
            broker = self._random.choice(parse_addresses(self.bootstrap))
            replicas = self._random.sample(BROKERS, self._random.choice((2, 3)))
            moved = ReassignablePartition(
                partition_index=self._random.randrange(PARTITIONS), replicas=replicas
            )
            topic = ReassignableTopic(name=ORDERS, partitions=[moved])
            try:
                with Client(broker, timeout_s=5) as client:
                    answer = client.ask(AlterPartitionReassignmentsRequest(topics=[topic]))
                code = answer.error_code or answer.responses[0].partitions[0].error_code
                self.moves[ErrorCode(code).name] += 1
            except ClientError:
                self.moves["no answer"] += 1


def read_whole(bootstrap: str, topic: str) -> list[int]:
    """Return the values that a reader of committed records finds in a topic."""
    options = {"group.id": "auditor", "isolation.level": "read_committed", **SILENT}
    consumer = Consumer({"bootstrap.servers": bootstrap, "enable.partition.eof": True, **options})
    consumer.assign([TopicPartition(topic, n, OFFSET_BEGINNING) for n in range(PARTITIONS)])
    found: list[int] = []
    ended: set[int | None] = set()
    deadline = time.monotonic() + CATCH_UP_S
    while len(ended) < PARTITIONS and time.monotonic() < deadline:
        for message in consumer.consume(1000, timeout=1):
            failed = message.error()
            if failed is None:
                found.append(int(message.value() or b""))
            elif failed.code() == KafkaError._PARTITION_EOF:
                ended.add(message.partition())
    consumer.close()
    assert len(ended) == PARTITIONS, f"{topic}: {PARTITIONS - len(ended)} partitions not read"
    return found


async def break_nodes(cluster: Cluster, seconds: float, random: Random) -> Counter[str]:
    """Break one node after the other for some seconds; every fault is healed."""
    done: Counter[str] = Counter()
    ends = time.monotonic() + seconds
    while time.monotonic() < ends:
        await asyncio.sleep(random.uniform(*QUIET_S))
        node = random.choice((*CONTROLLERS, *BROKERS))
        kind = random.choice(("kill", "pause", "cut"))
        done[f"{kind} {'controller' if node in CONTROLLERS else 'broker'}"] += 1
        begin, end = _fault(cluster, kind, node)
        await begin()
        await asyncio.sleep(random.uniform(*FAULT_S))
        await end()
    await asyncio.sleep(QUIET_S[1])
    return done


def _fault(cluster: Cluster, kind: str, node: int) -> tuple[Step, Step]:
    """Return the begin and the end of a fault."""
    others = [one for one in (*CONTROLLERS, *BROKERS) if one != node]
    links = frozenset(link for one in others for link in (Link(node, one), Link(one, node)))
    return {
        "kill": (partial(cluster.kill, node), partial(cluster.start_node, node)),
        "pause": (partial(cluster.pause, node), partial(cluster.resume, node)),
        "cut": (partial(cluster.cut, links), partial(cluster.heal, links)),
    }[kind]


def with_real_brokers(directory: Path, main: Callable[[Cluster, str], Awaitable[None]]) -> None:
    """Run `main` with a cluster of our controllers and real brokers, and its bootstrap servers."""
    system = MixedSystem()
    faults = frozenset({Capability.PARTITION, Capability.PAUSE, Capability.KILL})
    options = ClusterOptions(nodes=NODES, seed=1, directory=directory, needs=faults)

    async def run(cluster: Cluster) -> None:
        async def inside() -> None:
            await system.prepare(cluster)
            await main(cluster, system.bootstrap(cluster))

        await with_cluster(cluster, inside)

    make_backend("local").run(options, system, run, print)
