"""The calls of kafka-python. No tests here."""

from collections.abc import Callable
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
    KafkaAdminClient,
    NewPartitions,
    NewTopic,
    OffsetSpec,
    ResourcePattern,
    ResourcePatternFilter,
    ResourceType,
    ScramMechanism,
    UserScramCredentialUpsertion,
)
from kafka.errors import KafkaError, NoError
from kafka.structs import OffsetAndMetadata

from tests.kafka.clients.rows import RefusedError
from tests.kafka.clients.trio import BROKERS, CALL_SECONDS, TIMES_MS, VALUES, Trio

CALL_MS = CALL_SECONDS * 1000
NEXT_LEVEL = 23
"""A level of metadata.version above that of the cluster."""


def refusing(call: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    """Return the value of a call.

    Raises:
        RefusedError: the client raised an error.
    """
    try:
        return call(*arguments, **keywords)
    except KafkaError as error:
        raise RefusedError(type(error).__name__) from error


class KafkaPython:
    """A method for each row that the client offers."""

    def __init__(self, trio: Trio, topic: str) -> None:
        self._servers = trio.brokers.split(",")
        self._trio = trio
        self._topic = topic
        self._part = TopicPartition(topic, 0)
        self._admin = KafkaAdminClient(bootstrap_servers=self._servers)

    def close(self) -> None:
        self._admin.close()

    def _produce(self, **settings: Any) -> None:
        producer = KafkaProducer(bootstrap_servers=self._servers, **settings)
        try:
            sent = producer.send(
                self._topic, b"value", key=b"key", headers=[("header", b"x")], partition=1
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

    def _consumer(self, group: str | None = None) -> KafkaConsumer:
        return KafkaConsumer(
            bootstrap_servers=self._servers, group_id=group, enable_auto_commit=False
        )

    def _consume(self, offset: int) -> None:
        consumer = self._consumer()
        try:
            consumer.assign([self._part])
            consumer.seek(self._part, offset)
            found: list[bytes] = []
            while len(found) < len(VALUES) - offset:
                polled = refusing(consumer.poll, CALL_MS)
                assert polled
                found += [record.value for records in polled.values() for record in records]
            assert tuple(found) == VALUES[offset:]
        finally:
            consumer.close()

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

    def list_config_resources(self) -> None:
        assert self._topic in str(refusing(self._admin.list_config_resources))

    def describe_quorum(self) -> None:
        assert "leader_epoch" in str(refusing(self._admin.describe_metadata_quorum))

    def subscribe(self) -> None:
        consumer = self._consumer("kafka-python-group")
        try:
            consumer.subscribe([self._topic])
            refusing(consumer.poll, CALL_MS)
        finally:
            consumer.close(autocommit=False)

    def commit(self) -> None:
        consumer = self._consumer("kafka-python-group")
        try:
            consumer.assign([self._part])
            refusing(consumer.commit, {self._part: OffsetAndMetadata(1, "", -1)})
        finally:
            consumer.close(autocommit=False)

    def committed(self) -> None:
        consumer = self._consumer("kafka-python-group")
        try:
            refusing(consumer.committed, self._part)
        finally:
            consumer.close(autocommit=False)

    def list_groups(self) -> None:
        refusing(self._admin.list_groups)

    def describe_groups(self) -> None:
        refusing(self._admin.describe_groups, ["g"])

    def delete_groups(self) -> None:
        self._check_each(refusing(self._admin.delete_groups, ["g"]))

    def list_group_offsets(self) -> None:
        refusing(self._admin.list_group_offsets, {"g": [self._part]})

    def alter_group_offsets(self) -> None:
        offsets = {self._part: OffsetAndMetadata(1, "", -1)}
        self._check_each(refusing(self._admin.alter_group_offsets, "g", offsets))

    def transaction(self) -> None:
        producer = KafkaProducer(bootstrap_servers=self._servers, transactional_id="python")
        try:
            refusing(producer.init_transactions)
        finally:
            producer.close(0)

    def list_transactions(self) -> None:
        refusing(self._admin.list_transactions)

    def describe_transaction(self) -> None:
        refusing(self._admin.describe_transactions, ["python"])

    @staticmethod
    def _check_each(found: Any) -> None:
        pairs = found.items() if isinstance(found, dict) else found
        for _, error in pairs:
            if error is not NoError and error != "OK":
                raise RefusedError(getattr(error, "__name__", str(error)))
