"""Produce and consume with librdkafka, and measure; every function blocks its thread."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from confluent_kafka import (
    OFFSET_BEGINNING,
    Consumer,
    KafkaError,
    KafkaException,
    Message,
    Producer,
    TopicPartition,
)
from confluent_kafka.admin import AdminClient
from confluent_kafka.cimpl import NewTopic

from kraftproof.cluster.protocol import ClusterError

RECORD_BYTES = 1024
BATCH_BYTES = 64 * 1024
REPLICAS = 3
WAIT_S = 60.0
"""Bound for each wait for the cluster."""
POLL_S = 0.02
SILENT = 2
"""librdkafka's log level for critical events only."""
PARTITION = 0
VALUE = bytes(range(256)) * (RECORD_BYTES // 256)
QUICK_RETRIES = {
    "reconnect.backoff.ms": 10,
    "reconnect.backoff.max.ms": 50,
    "retry.backoff.ms": 10,
    "retry.backoff.max.ms": 50,
    "topic.metadata.refresh.fast.interval.ms": 20,
    "topic.metadata.refresh.interval.ms": 1_000,
}
"""A failover is measured with a client that looks for the new leader at once."""


@dataclass(frozen=True, slots=True)
class Placed:
    """Where a partition is: the leader's node id, and the number of members of the ISR."""

    leader: int
    in_sync: int


class Clients:
    """Clients of one cluster."""

    def __init__(self, bootstrap: str) -> None:
        self._options: dict[str, str | int | float | bool] = {
            "bootstrap.servers": bootstrap,
            "log_level": SILENT,  # a killed leader's connections would fill the terminal
        }
        self._admin = AdminClient(dict(self._options))

    def create(self, topic: str) -> None:
        """Create a topic of one partition, and wait until all replicas are in sync.

        Raises:
            ClusterError: the cluster refuses the topic, or the replicas need too long.
        """
        made = self._admin.create_topics(
            [NewTopic(topic, num_partitions=1, replication_factor=REPLICAS)]
        )
        try:
            made[topic].result(timeout=WAIT_S)
        except (KafkaException, TimeoutError) as error:
            raise ClusterError(f"topic {topic}: {error!r}") from error
        self.wait_whole(topic)

    def placed(self, topic: str) -> Placed:
        """Return the leader and the size of the ISR, as a broker tells them."""
        partition = self._admin.list_topics(topic, timeout=WAIT_S).topics[topic].partitions
        if PARTITION not in partition:
            return Placed(leader=-1, in_sync=0)
        return Placed(partition[PARTITION].leader, len(partition[PARTITION].isrs))

    def wait_whole(self, topic: str) -> None:
        """Wait until every replica is in the ISR and the partition has a leader.

        Raises:
            ClusterError: the replicas need too long.
        """
        deadline = time.monotonic() + WAIT_S
        while time.monotonic() < deadline:
            placed = self.placed(topic)
            if placed.leader >= 0 and placed.in_sync == REPLICAS:
                return
            time.sleep(POLL_S)
        raise ClusterError(f"topic {topic}: the ISR is not whole after {WAIT_S:.0f} s")

    def produce_in_series(self, topic: str, records: int) -> list[float]:
        """Return the latency in milliseconds of each record; the next record waits for the last."""
        producer = Producer({**self._options, "acks": "all", "linger.ms": 0})
        found = []
        for _ in range(records):
            begun = time.perf_counter()
            _send_one(producer, topic)
            found.append((time.perf_counter() - begun) * 1000)
        return found

    def produce_in_batches(self, topic: str, records: int) -> float:
        """Return megabytes a second of batches of 64 KiB, at most five in flight."""
        options = {"acks": "all", "linger.ms": 20, "batch.size": BATCH_BYTES}
        queue = {"queue.buffering.max.messages": 20_000, "enable.idempotence": True}
        producer = Producer({**self._options, **options, **queue})
        _send_one(producer, topic)
        delivered = _Delivered()
        begun = time.perf_counter()
        for _ in range(records):
            while True:
                try:
                    producer.produce(topic, VALUE, on_delivery=delivered)
                    break
                except BufferError:
                    producer.poll(POLL_S)
            producer.poll(0)
        producer.flush(WAIT_S)
        elapsed = time.perf_counter() - begun
        delivered.check(records)
        return records * RECORD_BYTES / 1e6 / elapsed

    def consume(self, topic: str, records: int) -> float:
        """Return megabytes a second of a consumer that reads the partition from its beginning.

        Raises:
            ClusterError: fewer records are read in time.
        """
        options = {"group.id": "bench", "enable.auto.commit": False}
        consumer = Consumer({**self._options, **options})
        consumer.assign([TopicPartition(topic, PARTITION, OFFSET_BEGINNING)])
        begun, read, got = time.perf_counter(), 0, 0
        while read < records and time.perf_counter() - begun < WAIT_S:
            for message in consumer.consume(1000, timeout=1):
                if message.error() is None:
                    read += 1
                    got += len(message.value() or b"")
        elapsed = time.perf_counter() - begun
        consumer.close()
        if read < records:
            raise ClusterError(f"topic {topic}: {read} of {records} records were read")
        return got / 1e6 / elapsed

    def ready_producer(self, topic: str) -> Callable[[], None]:
        """Return a function that produces one record with a producer that knows the leader."""
        producer = Producer({**self._options, **QUICK_RETRIES, "acks": "all", "linger.ms": 0})
        _send_one(producer, topic)
        return lambda: _send_one(producer, topic)


class _Delivered:
    """Counts what was acknowledged, and keeps the first error."""

    def __init__(self) -> None:
        self.count = 0
        self.error: KafkaError | None = None

    def __call__(self, error: KafkaError | None, message: Message) -> None:
        del message
        if error is None:
            self.count += 1
        else:
            self.error = self.error or error

    def check(self, records: int) -> None:
        """Refuse a measurement of records that were not acknowledged.

        Raises:
            ClusterError: fewer records were acknowledged.
        """
        if self.count != records:
            raise ClusterError(f"{self.count} of {records} records acknowledged: {self.error}")


def _send_one(producer: Producer, topic: str) -> None:
    delivered = _Delivered()
    producer.produce(topic, VALUE, on_delivery=delivered)
    deadline = time.monotonic() + WAIT_S
    while not delivered.count and delivered.error is None and time.monotonic() < deadline:
        producer.poll(POLL_S)
    delivered.check(1)
