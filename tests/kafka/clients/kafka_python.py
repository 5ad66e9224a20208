"""The calls of kafka-python. No tests here."""

from typing import Any

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import (
    ACL,
    ACLFilter,
    ACLOperation,
    ACLPermissionType,
    ACLResourcePatternType,
    ConfigFilterType,
    ConfigResource,
    ConfigResourceType,
    NewPartitions,
    NewTopic,
    OffsetSpec,
    ResourcePattern,
    ResourcePatternFilter,
    ResourceType,
    ScramMechanism,
    UserScramCredentialUpsertion,
)

from tests.kafka.clients.kafka_python_groups import CALL_MS, KafkaPythonGroups, refusing
from tests.kafka.clients.trio import BROKERS, CALL_SECONDS, TIMES_MS, VALUES, Trio

NEXT_LEVEL = 23
"""A level of metadata.version above that of the cluster."""


class KafkaPython(KafkaPythonGroups):
    """A method for each row that the client offers."""

    def __init__(self, trio: Trio, topic: str) -> None:
        super().__init__(trio.brokers, topic)
        self._trio = trio

    def _produce(self, topic: str = "", **settings: Any) -> None:
        producer = KafkaProducer(bootstrap_servers=self._servers, **settings)
        try:
            headers = [("header", b"x")]
            part = 0 if topic else 1
            sent = producer.send(
                topic or self._topic, b"value", key=b"key", headers=headers, partition=part
            )
            refusing(sent.get, CALL_SECONDS)
        finally:
            producer.close(CALL_SECONDS)

    def produce_acks_0(self) -> None:
        self._produce(acks=0, enable_idempotence=False)

    def produce_acks_1(self) -> None:
        self._produce(acks=1, enable_idempotence=False)

    def produce_acks_all(self) -> None:
        self._produce(acks="all", enable_idempotence=False)

    def produce_idempotent(self) -> None:
        self._produce(enable_idempotence=True)

    def produce_gzip(self) -> None:
        self._produce(compression_type="gzip")

    def produce_missing(self) -> None:
        self._produce(f"{self._topic}-missing")

    def _consume(self, offset: int) -> None:
        consumer = self._consumer()
        consumer.assign([self._part])
        consumer.seek(self._part, offset)
        self._read(consumer, VALUES[offset:])

    @staticmethod
    def _read(consumer: KafkaConsumer, values: tuple[bytes, ...]) -> None:
        try:
            found: list[bytes] = []
            while len(found) < len(values):
                polled = refusing(consumer.poll, CALL_MS)
                assert polled
                found += [record.value for records in polled.values() for record in records]
            assert tuple(found) == values
        finally:
            consumer.close()

    def consume_stored(self) -> None:
        consumer = KafkaConsumer(
            bootstrap_servers=self._servers, group_id="stored", auto_offset_reset="earliest"
        )
        consumer.assign([self._part])
        self._read(consumer, VALUES)

    def consume_assigned(self) -> None:
        self._consume(0)

    def consume_from_offset(self) -> None:
        self._consume(2)

    def consume_from_time(self) -> None:
        consumer = self._consumer()
        try:
            found = refusing(consumer.offsets_for_times, {self._part: TIMES_MS[1]})
            assert found[self._part].offset == 1
        finally:
            consumer.close()
        self._consume(1)

    def read_ends(self) -> None:
        consumer = self._consumer()
        try:
            assert refusing(consumer.beginning_offsets, [self._part]) == {self._part: 0}
            assert refusing(consumer.end_offsets, [self._part]) == {self._part: len(VALUES)}
        finally:
            consumer.close()

    def list_topics(self) -> None:
        assert self._topic in refusing(self._admin.list_topics)

    def create_topics(self) -> None:
        refusing(self._admin.create_topics, [NewTopic(f"{self._topic}-new", 1, 2)])

    def delete_topics(self) -> None:
        refusing(self._admin.delete_topics, [self._trio.create(f"{self._topic}-gone")])

    def create_partitions(self) -> None:
        topic = self._trio.create(f"{self._topic}-wide")
        refusing(self._admin.create_partitions, {topic: NewPartitions(3)})

    def describe_topics(self) -> None:
        (found,) = refusing(self._admin.describe_topics, [self._topic])
        assert len(found["partitions"]) == 2

    def describe_cluster(self) -> None:
        found = refusing(self._admin.describe_cluster)
        assert sorted(node["broker_id"] for node in found["brokers"]) == list(BROKERS)

    def _describe(self, kind: ConfigResourceType, name: str) -> str:
        asked, every = [ConfigResource(kind, name)], ConfigFilterType.ALL
        return str(refusing(self._admin.describe_configs, asked, config_filter=every))

    def describe_configs(self) -> None:
        assert "retention.ms" in self._describe(ConfigResourceType.TOPIC, self._topic)

    def describe_broker(self) -> None:
        assert "node.id" in self._describe(ConfigResourceType.BROKER, "3")

    def _alter(self, kind: ConfigResourceType, name: str, configs: Any, **how: bool) -> None:
        refusing(self._admin.alter_configs, [ConfigResource(kind, name, configs)], **how)

    def alter_configs(self) -> None:
        configs = {"segment.ms": "70000"}
        self._alter(ConfigResourceType.TOPIC, self._topic, configs, incremental=False)

    def alter_incremental(self) -> None:
        configs = {"segment.ms": "80000"}
        self._alter(ConfigResourceType.TOPIC, self._topic, configs, incremental=True)

    def alter_broker(self) -> None:
        configs = {"log.segment.bytes": "50000000"}
        self._alter(ConfigResourceType.BROKER, "3", configs, incremental=True)

    def delete_records(self) -> None:
        refusing(self._admin.delete_records, {TopicPartition(self._topic, 1): 0})

    def list_offsets(self) -> None:
        asked = {self._part: OffsetSpec.LATEST}
        found = refusing(self._admin.list_partition_offsets, asked)
        assert found[self._part].offset == len(VALUES)

    def elect_leaders(self) -> None:
        # An election that is not needed is an error of this client.
        refusing(self._admin.elect_leaders, 0, {self._topic: [0]}, raise_errors=False)

    def reassign(self) -> None:
        topic = TopicPartition(self._trio.create(f"{self._topic}-moved"), 1)
        refusing(self._admin.alter_partition_reassignments, {topic: [BROKERS[0], BROKERS[2]]})

    def list_reassignments(self) -> None:
        refusing(self._admin.list_partition_reassignments)

    def describe_log_dirs(self) -> None:
        assert self._topic in str(refusing(self._admin.describe_log_dirs))

    def alter_log_dirs(self) -> None:
        moves = {(self._topic, 0, BROKERS[0]): "/nowhere"}
        self._check_each(refusing(self._admin.alter_replica_log_dirs, moves))

    def describe_producers(self) -> None:
        found = refusing(self._admin.describe_producers, [TopicPartition(self._topic, 1)])
        assert len(found) == 1

    def acls(self) -> None:
        who = ("User:bob", "*", ACLOperation.READ, ACLPermissionType.ALLOW)
        made = refusing(
            self._admin.create_acls,
            [ACL(*who, resource_pattern=ResourcePattern(ResourceType.TOPIC, self._topic))],
        )
        assert not made["failed"]
        asked = ACLFilter(
            *who,
            resource_pattern=ResourcePatternFilter(
                ResourceType.TOPIC, self._topic, ACLResourcePatternType.LITERAL
            ),
        )
        assert len(refusing(self._admin.describe_acls, asked)[0]) == 1
        assert len(refusing(self._admin.delete_acls, [asked])[0][1]) == 1

    def scram(self) -> None:
        user = "kafka-python-user"
        made = UserScramCredentialUpsertion(
            user, ScramMechanism.SCRAM_SHA_256, "password", iterations=4096
        )
        assert refusing(self._admin.alter_user_scram_credentials, [made]) == {user: None}
        assert user in str(refusing(self._admin.describe_user_scram_credentials, [user]))

    def describe_features(self) -> None:
        assert "metadata.version" in str(refusing(self._admin.describe_features))

    def update_features(self) -> None:
        changes = {"metadata.version": NEXT_LEVEL}
        found = refusing(self._admin.update_features, changes, validate_only=True)
        assert set(found.values()) == {"OK"}

    def describe_topic_partitions(self) -> None:
        assert self._topic in str(refusing(self._admin.describe_topic_partitions, [self._topic]))

    def reset_configs(self) -> None:
        asked = [ConfigResource(ConfigResourceType.TOPIC, self._topic, ["segment.ms"])]
        refusing(self._admin.reset_configs, asked)

    def api_versions(self) -> None:
        assert refusing(self._admin.api_versions)

    def find_hanging(self) -> None:
        refusing(self._admin.find_hanging_transactions)

    def list_config_resources(self) -> None:
        assert self._topic in str(refusing(self._admin.list_config_resources))

    def describe_quorum(self) -> None:
        assert "leader_epoch" in str(refusing(self._admin.describe_metadata_quorum))
