"""The calls of confluent-kafka about groups and transactions. No tests here."""

import time
from concurrent.futures import Future
from typing import Any

from confluent_kafka import (
    Consumer,
    ConsumerGroupTopicPartitions,
    KafkaException,
    Producer,
    TopicPartition,
)

from tests.kafka.clients.rows import RefusedError
from tests.kafka.clients.trio import CALL_SECONDS, Trio

POLL_SECONDS = 0.5


def result(found: Future | dict[Any, Future]) -> Any:
    """Return the value of the only future.

    Raises:
        RefusedError: the future failed.
    """
    (future,) = found.values() if isinstance(found, dict) else (found,)
    try:
        return future.result(CALL_SECONDS)
    except KafkaException as error:
        raise refusal(error) from error


def refusal(error: KafkaException) -> RefusedError:
    return RefusedError(error.args[0].name())


class ConfluentGroups:
    """A method for each row about groups and transactions that the client offers."""

    def __init__(self, trio: Trio, topic: str) -> None:
        self._servers = {"bootstrap.servers": trio.brokers}
        self._trio = trio
        self._topic = topic
        self._admin = trio.admin()

    def _consumer(self, group: str = "unused") -> Consumer:
        return Consumer(
            {**self._servers, "group.id": group, "auto.offset.reset": "error"}
            | {"enable.auto.commit": False}
        )

    def subscribe(self) -> None:
        self._subscribe(self._consumer("confluent-group"))

    def subscribe_next(self) -> None:
        config = {"group.id": "next", "group.protocol": "consumer"}
        self._subscribe(Consumer({**self._servers, **config}))

    def _subscribe(self, consumer: Consumer) -> None:
        try:
            consumer.subscribe([self._topic])
            deadline = time.monotonic() + CALL_SECONDS
            while time.monotonic() < deadline:
                message = consumer.poll(POLL_SECONDS)
                if message is not None and message.error() is not None:
                    raise RefusedError(message.error().name())
        finally:
            consumer.close()

    def commit(self) -> None:
        consumer = self._consumer("confluent-group")
        try:
            consumer.commit(offsets=[TopicPartition(self._topic, 0, 1)], asynchronous=False)
        except KafkaException as error:
            raise refusal(error) from error
        finally:
            consumer.close()

    def committed(self) -> None:
        consumer = self._consumer("confluent-group")
        try:
            asked = [TopicPartition(self._topic, 0)]
            (found,) = consumer.committed(asked, timeout=CALL_SECONDS)
            assert found.offset < 0
        except KafkaException as error:
            raise refusal(error) from error
        finally:
            consumer.close()

    def list_groups(self) -> None:
        found = result(self._admin.list_consumer_groups(request_timeout=CALL_SECONDS))
        for error in found.errors:
            raise error if isinstance(error, KafkaException) else RefusedError(error.name())

    def describe_groups(self) -> None:
        result(self._admin.describe_consumer_groups(["g"], request_timeout=CALL_SECONDS))

    def delete_groups(self) -> None:
        result(self._admin.delete_consumer_groups(["g"], request_timeout=CALL_SECONDS))

    def list_group_offsets(self) -> None:
        asked = [ConsumerGroupTopicPartitions("g", [TopicPartition(self._topic, 0)])]
        limit = CALL_SECONDS
        result(self._admin.list_consumer_group_offsets(asked, request_timeout=limit))

    def alter_group_offsets(self) -> None:
        asked = [ConsumerGroupTopicPartitions("g", [TopicPartition(self._topic, 0, 1)])]
        limit = CALL_SECONDS
        result(self._admin.alter_consumer_group_offsets(asked, request_timeout=limit))

    def transaction(self) -> None:
        producer = Producer({**self._servers, "transactional.id": "confluent"})
        try:
            producer.init_transactions(CALL_SECONDS)
        except KafkaException as error:
            raise refusal(error) from error
