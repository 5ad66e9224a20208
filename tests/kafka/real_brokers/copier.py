"""A member of a consumer group that copies records in transactions, as a process of its own.

`python -m tests.kafka.real_brokers.copier BOOTSTRAP` prints a JSON object a line: `positions`
behind the committed copies, and `idle` where nothing was left to copy. An error ends the process
at once, like a crash: `Consumer.close` of confluent-kafka after a fatal error of the producer
waited for a thread of librdkafka, held Python's global lock, and stopped the proxies of the test.
"""

import json
import os
import sys

from confluent_kafka import Consumer, KafkaException, Message, Producer, TopicPartition

ORDERS, COPIES = "orders", "copies"
SILENT = {"log_level": 2}
WAIT_S = 0.5
"""Longest wait for records; a copier that goes on says something in each."""


def main() -> int:
    """Copy until the process is ended."""
    bootstrap = {"bootstrap.servers": sys.argv[1], **SILENT}
    reads = {"group.id": "copiers", "isolation.level": "read_committed"}
    reads |= {"auto.offset.reset": "earliest"}
    limits = {"session.timeout.ms": 6_000, "enable.auto.commit": False}
    consumer = Consumer({**bootstrap, **reads, **limits})
    writes = {"transactional.id": "copier", "transaction.timeout.ms": 20_000}
    producer = Producer({**bootstrap, **writes})
    consumer.subscribe([ORDERS])
    try:
        producer.init_transactions(60)
        while True:
            batch = consumer.consume(200, timeout=WAIT_S)
            if batch:
                copy(consumer, producer, batch)
            else:
                say(idle=bool(consumer.assignment()), positions=committed(consumer))
    except KafkaException as error:
        say(error=error.args[0].name())
        os._exit(1)


def copy(consumer: Consumer, producer: Producer, batch: list[Message]) -> None:
    """Copy records, and commit the copies together with the positions behind the records."""
    producer.begin_transaction()
    for message in batch:
        failed = message.error()
        if failed is not None:
            raise KafkaException(failed)
        producer.produce(COPIES, message.value(), partition=message.partition() or 0)
    positions = consumer.position(consumer.assignment())
    producer.send_offsets_to_transaction(positions, consumer.consumer_group_metadata(), 60)
    producer.commit_transaction(60)
    say(positions=known(positions))


def committed(consumer: Consumer) -> dict[int, int]:
    """Return the committed positions, which a copier before this one may have left."""
    try:
        return known(consumer.committed(consumer.assignment(), timeout=5))
    except KafkaException:
        return {}


def known(positions: list[TopicPartition]) -> dict[int, int]:
    """Return the positions that are there, by partition."""
    return {each.partition: each.offset for each in positions if each.offset >= 0}


def say(**line: object) -> None:
    """Print a line."""
    print(json.dumps(line), flush=True)


if __name__ == "__main__":
    main()
