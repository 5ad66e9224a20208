"""Clients of real Kafka brokers on our controllers, and the faults beside them. No tests here.

Threads of librdkafka produce, copy records in transactions of a consumer group, and move replicas,
while nodes are killed, paused and cut off one after the other.
"""

import asyncio
import sys
import threading
import time
import traceback
from collections import Counter
from collections.abc import Awaitable, Callable
from functools import partial
from itertools import count
from pathlib import Path
from random import Random

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    KafkaException,
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

CONTROLLERS, BROKERS = (1, 2, 3), (4, 5, 6)
NODES = tuple(
    NodeInfo(node_id=node_id, name=f"controller-{node_id}", roles=("reference", "controller"))
    for node_id in CONTROLLERS
) + tuple(
    NodeInfo(node_id=node_id, name=f"broker-{node_id}", roles=("apache-kafka", "broker"))
    for node_id in BROKERS
)
ORDERS, COPIES = "orders", "copies"
PARTITIONS = 3
PACE_S = 0.02
MOVE_EVERY_S = 8
FAULT_S = (2.0, 5.0)
QUIET_S = (3.0, 6.0)
CATCH_UP_S = 180
SILENT = {"log_level": 2}
Step = Callable[[], Awaitable[None]]


class Traffic:
    """What the clients did: `acked` values, and how often each client began anew."""

    def __init__(self, bootstrap: str, seed: int) -> None:
        self.bootstrap = bootstrap
        self.acked: list[int] = []
        self.committed = 0
        self.moves: Counter[str] = Counter()
        self.restarts: Counter[str] = Counter()
        self.copier_stands_at = ""
        """The stack of the copier's thread, if copies were missing when its time was over."""
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
        deadline = time.monotonic() + CATCH_UP_S
        while self.committed < len(self.acked) and time.monotonic() < deadline:
            time.sleep(0.5)
        if self.committed < len(self.acked):
            self.copier_stands_at = self._stack_of_copier()
        self._is_over.set()
        for thread in self._threads:
            thread.join(CATCH_UP_S)

    def _stack_of_copier(self) -> str:
        frame = sys._current_frames().get(self._threads[1].ident or 0)
        return "".join(traceback.format_stack(frame)) if frame else "the thread has ended"

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
        """Copy orders in transactions; after an error, a new member and producer go on."""
        while not self._is_over.is_set():
            try:
                self._copy_until_error()
            except KafkaException as error:
                self.restarts[f"copy: {error.args[0].name()}"] += 1
                time.sleep(0.5)

    def _copy_until_error(self) -> None:
        reads = {"group_id": "copiers", "isolation_level": "read_committed"}
        reads |= {"auto_offset_reset": "earliest", "enable_auto_commit": False}
        consumer = Consumer(self._options(**reads, session_timeout_ms=6_000))
        producer = Producer(self._options(transactional_id="copier", transaction_timeout_ms=20_000))
        try:
            consumer.subscribe([ORDERS])
            producer.init_transactions(60)
            while not self._is_over.is_set():
                batch = consumer.consume(200, timeout=0.5)
                if batch:
                    self._copy_batch(consumer, producer, batch)
        finally:
            consumer.close()

    def _copy_batch(self, consumer: Consumer, producer: Producer, batch: list[Message]) -> None:
        producer.begin_transaction()
        for message in batch:
            failed = message.error()
            if failed is not None:
                raise KafkaException(failed)
            producer.produce(COPIES, message.value(), partition=message.partition() or 0)
        positions = consumer.position(consumer.assignment())
        producer.send_offsets_to_transaction(positions, consumer.consumer_group_metadata(), 60)
        producer.commit_transaction(60)
        self.committed += len(batch)

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
