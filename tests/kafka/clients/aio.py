"""The calls of aiokafka. No tests here."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, TypeVar

from aiokafka import AIOKafkaConsumer, AIOKafkaProducer, TopicPartition
from aiokafka.admin import AIOKafkaAdminClient, NewPartitions, NewTopic, RecordsToDelete
from aiokafka.admin.config_resource import ConfigResource, ConfigResourceType
from aiokafka.errors import KafkaError, for_code

from tests.kafka.clients.rows import RefusedError
from tests.kafka.clients.trio import BROKERS, CALL_SECONDS, TIMES_MS, VALUES, Trio

T = TypeVar("T")


def refusing(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine to its end.

    Raises:
        RefusedError: the client raised an error, or did not end.
    """

    async def bounded() -> T:
        return await asyncio.wait_for(coroutine, CALL_SECONDS)

    try:
        return asyncio.run(bounded())
    except KafkaError as error:
        raise RefusedError(type(error).__name__) from error
    except TimeoutError as error:
        raise RefusedError("the client's loop goes on") from error


def check(response: Any) -> None:
    """Look for an error code in the answer of an administration client.

    Raises:
        RefusedError: the answer has one.
    """
    for response_of_one in response if isinstance(response, list) else [response]:
        fields = response_of_one.to_object()
        for entries in fields.values():
            for entry in entries if isinstance(entries, list) else ():
                code = entry.get("error_code", 0) if isinstance(entry, dict) else 0
                if code:
                    raise RefusedError(for_code(code).__name__)


class Aio:
    """A method for each row that the client offers."""

    def __init__(self, trio: Trio, topic: str) -> None:
        self._servers = trio.brokers
        self._trio = trio
        self._topic = topic
        self._part = TopicPartition(topic, 0)

    def _produce(self, topic: str = "", **settings: Any) -> None:
        async def send() -> None:
            async with AIOKafkaProducer(bootstrap_servers=self._servers, **settings) as producer:
                headers, part = [("header", b"x")], 0 if topic else 1
                await producer.send_and_wait(
                    topic or self._topic, b"value", key=b"key", headers=headers, partition=part
                )

        refusing(send())

    def produce_acks_0(self) -> None:
        self._produce(acks=0)

    def produce_acks_1(self) -> None:
        self._produce(acks=1)

    def produce_acks_all(self) -> None:
        self._produce(acks="all")

    def produce_idempotent(self) -> None:
        self._produce(enable_idempotence=True)

    def produce_gzip(self) -> None:
        self._produce(compression_type="gzip")

    def produce_missing(self) -> None:
        self._produce(f"{self._topic}-missing")

    def _with_consumer(
        self, work: Callable[[AIOKafkaConsumer], Awaitable[Any]], group: str | None = None
    ) -> Any:
        async def run() -> Any:
            consumer = AIOKafkaConsumer(
                bootstrap_servers=self._servers, group_id=group, enable_auto_commit=False
            )
            await consumer.start()
            try:
                return await work(consumer)
            finally:
                await consumer.stop()

        return refusing(run())

    def _consume(self, offset: int) -> None:
        async def read(consumer: AIOKafkaConsumer) -> None:
            consumer.assign([self._part])
            consumer.seek(self._part, offset)
            found = [(await consumer.getone()).value for _ in VALUES[offset:]]
            assert tuple(found) == VALUES[offset:]

        self._with_consumer(read)

    def consume_assigned(self) -> None:
        self._consume(0)

    def consume_stored(self) -> None:
        async def read(consumer: AIOKafkaConsumer) -> None:
            consumer.assign([self._part])
            await consumer.getone()

        self._with_consumer(read, "stored")

    def consume_from_offset(self) -> None:
        self._consume(2)

    def consume_from_time(self) -> None:
        found = self._with_consumer(
            lambda consumer: consumer.offsets_for_times({self._part: TIMES_MS[1]})
        )
        assert found[self._part].offset == 1
        self._consume(1)

    def read_ends(self) -> None:
        first = self._with_consumer(lambda consumer: consumer.beginning_offsets([self._part]))
        last = self._with_consumer(lambda consumer: consumer.end_offsets([self._part]))
        assert (first, last) == ({self._part: 0}, {self._part: len(VALUES)})

    def _with_admin(self, work: Callable[[AIOKafkaAdminClient], Awaitable[Any]]) -> Any:
        async def run() -> Any:
            admin = AIOKafkaAdminClient(bootstrap_servers=self._servers)
            await admin.start()
            try:
                return await work(admin)
            finally:
                await admin.close()

        return refusing(run())

    def list_topics(self) -> None:
        assert self._topic in self._with_admin(lambda admin: admin.list_topics())

    def create_topics(self) -> None:
        made = [NewTopic(f"{self._topic}-new", 1, 2)]
        check(self._with_admin(lambda admin: admin.create_topics(made)))

    def delete_topics(self) -> None:
        topic = self._trio.create(f"{self._topic}-gone")
        check(self._with_admin(lambda admin: admin.delete_topics([topic])))

    def create_partitions(self) -> None:
        wide = {self._trio.create(f"{self._topic}-wide"): NewPartitions(3)}
        check(self._with_admin(lambda admin: admin.create_partitions(wide)))

    def describe_topics(self) -> None:
        (found,) = self._with_admin(lambda admin: admin.describe_topics([self._topic]))
        assert len(found["partitions"]) == 2

    def describe_cluster(self) -> None:
        found = self._with_admin(lambda admin: admin.describe_cluster())
        assert sorted(node["node_id"] for node in found["brokers"]) == list(BROKERS)

    def describe_configs(self) -> None:
        asked = [ConfigResource(ConfigResourceType.TOPIC, self._topic)]
        found = self._with_admin(lambda admin: admin.describe_configs(asked))
        assert "retention.ms" in str(found)

    def describe_broker(self) -> None:
        asked = [ConfigResource(ConfigResourceType.BROKER, "3")]
        found = self._with_admin(lambda admin: admin.describe_configs(asked))
        assert "node.id" in str(found)

    def alter_configs(self) -> None:
        changed = [ConfigResource(ConfigResourceType.TOPIC, self._topic, {"segment.ms": "70000"})]
        check(self._with_admin(lambda admin: admin.alter_configs(changed)))

    def delete_records(self) -> None:
        asked = {TopicPartition(self._topic, 1): RecordsToDelete(before_offset=0)}
        self._with_admin(lambda admin: admin.delete_records(asked))

    def subscribe(self) -> None:
        async def read(consumer: AIOKafkaConsumer) -> None:
            consumer.subscribe([self._topic])
            await consumer.getone()

        self._with_consumer(read, "aiokafka-group")

    def commit(self) -> None:
        async def commit(consumer: AIOKafkaConsumer) -> None:
            consumer.assign([self._part])
            await consumer.commit({self._part: 1})

        self._with_consumer(commit, "aiokafka-group")

    def committed(self) -> None:
        async def committed(consumer: AIOKafkaConsumer) -> None:
            consumer.assign([self._part])
            await consumer.committed(self._part)

        self._with_consumer(committed, "aiokafka-group")

    def list_groups(self) -> None:
        self._with_admin(lambda admin: admin.list_consumer_groups())

    def describe_groups(self) -> None:
        self._with_admin(lambda admin: admin.describe_consumer_groups(["g"]))

    def list_group_offsets(self) -> None:
        self._with_admin(lambda admin: admin.list_consumer_group_offsets("g"))

    def transaction(self) -> None:
        async def begin() -> None:
            producer = AIOKafkaProducer(bootstrap_servers=self._servers, transactional_id="aio")
            try:
                await producer.start()
            finally:
                await producer.stop()

        refusing(begin())
