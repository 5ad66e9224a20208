"""The calls of confluent-kafka. No tests here."""

import time
from typing import Any

from confluent_kafka import (
    Consumer,
    ElectionType,
    Producer,
    TopicCollection,
    TopicPartition,
)
from confluent_kafka.admin import (
    AclBinding,
    AclBindingFilter,
    AclOperation,
    AclPermissionType,
    AlterConfigOpType,
    ConfigEntry,
    ConfigResource,
    NewPartitions,
    NewTopic,
    OffsetSpec,
    ResourcePatternType,
    ResourceType,
    ScramCredentialInfo,
    ScramMechanism,
    UserScramCredentialDeletion,
    UserScramCredentialUpsertion,
)

from tests.kafka.clients.confluent_groups import POLL_SECONDS, ConfluentGroups, result
from tests.kafka.clients.rows import RefusedError
from tests.kafka.clients.trio import BROKERS, CALL_SECONDS, TIMES_MS, VALUES

USER = "confluent-user"


class Confluent(ConfluentGroups):
    """A method for each row that the client offers."""

    def _produce(self, topic: str = "", **settings: Any) -> None:
        config = {key.replace("_", "."): value for key, value in settings.items()}
        producer = Producer({**self._servers, **config})
        reports: list[Any] = []
        producer.produce(
            topic or self._topic,
            b"value",
            key=b"key",
            headers={"header": b"x"},
            partition=0 if topic else 1,
            on_delivery=lambda error, _: reports.append(error),
        )
        assert producer.flush(CALL_SECONDS) == 0
        assert reports == [None]

    def produce_acks_0(self) -> None:
        self._produce(acks="0")

    def produce_acks_1(self) -> None:
        self._produce(acks="1")

    def produce_acks_all(self) -> None:
        self._produce(acks="all")

    def produce_idempotent(self) -> None:
        self._produce(enable_idempotence=True)

    def produce_gzip(self) -> None:
        self._produce(compression_type="gzip")

    def produce_snappy(self) -> None:
        self._produce(compression_type="snappy")

    def produce_lz4(self) -> None:
        self._produce(compression_type="lz4")

    def produce_zstd(self) -> None:
        self._produce(compression_type="zstd")

    def produce_missing(self) -> None:
        self._produce(f"{self._topic}-missing")

    def _consume(self, offset: int, values: tuple[bytes, ...]) -> None:
        consumer = self._consumer()
        consumer.assign([TopicPartition(self._topic, 0, offset)])
        self._read(consumer, values)

    @staticmethod
    def _read(consumer: Consumer, values: tuple[bytes, ...]) -> None:
        try:
            found: list[bytes] = []
            deadline = time.monotonic() + CALL_SECONDS
            while len(found) < len(values) and time.monotonic() < deadline:
                message = consumer.poll(POLL_SECONDS)
                if message is not None and message.error() is None:
                    found.append(message.value())
                elif message is not None:
                    raise RefusedError(message.error().name())
            assert tuple(found) == values
        finally:
            consumer.close()

    def consume_stored(self) -> None:
        config = {"group.id": "stored", "auto.offset.reset": "earliest"}
        consumer = Consumer({**self._servers, **config})
        consumer.assign([TopicPartition(self._topic, 0)])
        self._read(consumer, VALUES)

    def consume_assigned(self) -> None:
        self._consume(0, VALUES)

    def consume_from_offset(self) -> None:
        self._consume(2, VALUES[2:])

    def consume_from_time(self) -> None:
        consumer = self._consumer()
        try:
            asked = [TopicPartition(self._topic, 0, TIMES_MS[1])]
            (found,) = consumer.offsets_for_times(asked, timeout=CALL_SECONDS)
            assert found.offset == 1
        finally:
            consumer.close()
        self._consume(1, VALUES[1:])

    def read_ends(self) -> None:
        consumer = self._consumer()
        try:
            ends = consumer.get_watermark_offsets(TopicPartition(self._topic, 0), CALL_SECONDS)
            assert ends == (0, len(VALUES))
        finally:
            consumer.close()

    def list_topics(self) -> None:
        assert self._topic in self._admin.list_topics(timeout=CALL_SECONDS).topics

    def create_topics(self) -> None:
        result(self._admin.create_topics([NewTopic(f"{self._topic}-new", 1, 2)]))

    def create_partitions(self) -> None:
        topic = self._trio.create(f"{self._topic}-wide")
        result(self._admin.create_partitions([NewPartitions(topic, 3)]))

    def delete_topics(self) -> None:
        result(self._admin.delete_topics([self._trio.create(f"{self._topic}-gone")]))

    def describe_topics(self) -> None:
        found = result(self._admin.describe_topics(TopicCollection([self._topic])))
        assert len(found.partitions) == 2

    def describe_cluster(self) -> None:
        found = result(self._admin.describe_cluster())
        assert sorted(node.id for node in found.nodes) == list(BROKERS)

    def _describe(self, kind: ResourceType, name: str) -> dict[str, Any]:
        found: dict[str, Any] = result(self._admin.describe_configs([ConfigResource(kind, name)]))
        return found

    def describe_configs(self) -> None:
        assert "retention.ms" in self._describe(ResourceType.TOPIC, self._topic)

    def describe_broker(self) -> None:
        assert self._describe(ResourceType.BROKER, "3")["node.id"].value == "3"

    def alter_configs(self) -> None:
        resource = ConfigResource(ResourceType.TOPIC, self._topic, {"segment.ms": "70000"})
        result(self._admin.alter_configs([resource]))

    def _alter(self, kind: ResourceType, name: str, key: str, value: str) -> None:
        change = ConfigEntry(key, value, incremental_operation=AlterConfigOpType.SET)
        resource = ConfigResource(kind, name, incremental_configs=[change])
        result(self._admin.incremental_alter_configs([resource]))

    def alter_incremental(self) -> None:
        self._alter(ResourceType.TOPIC, self._topic, "segment.ms", "80000")

    def alter_broker(self) -> None:
        self._alter(ResourceType.BROKER, "3", "log.segment.bytes", "50000000")

    def delete_records(self) -> None:
        found = result(self._admin.delete_records([TopicPartition(self._topic, 1, 0)]))
        assert found.low_watermark == 0

    def list_offsets(self) -> None:
        asked = {TopicPartition(self._topic, 0): OffsetSpec.latest()}
        assert result(self._admin.list_offsets(asked)).offset == len(VALUES)

    def elect_leaders(self) -> None:
        partition = TopicPartition(self._topic, 0)
        found = result(self._admin.elect_leaders(ElectionType.PREFERRED, [partition]))
        assert found[partition] is None or "ELECTION_NOT_NEEDED" in found[partition].name()

    def acls(self) -> None:
        names = ("User:bob", "*", AclOperation.READ, AclPermissionType.ALLOW)
        where = (ResourceType.TOPIC, self._topic, ResourcePatternType.LITERAL)
        result(self._admin.create_acls([AclBinding(*where, *names)]))
        asked = AclBindingFilter(*where, *names)
        assert len(result(self._admin.describe_acls(asked))) == 1
        assert len(result(self._admin.delete_acls([asked]))) == 1

    def scram(self) -> None:
        info = ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096)
        change = UserScramCredentialUpsertion(USER, info, b"password")
        result(self._admin.alter_user_scram_credentials([change]))
        found = result(self._admin.describe_user_scram_credentials([USER]))
        assert [one.iterations for one in found.scram_credential_infos] == [4096]
        removal = UserScramCredentialDeletion(USER, ScramMechanism.SCRAM_SHA_256)
        result(self._admin.alter_user_scram_credentials([removal]))
