"""The calls of kafka-python about groups and transactions. No tests here."""

from collections.abc import Callable
from typing import Any

from kafka import KafkaConsumer, KafkaProducer, TopicPartition
from kafka.admin import AbortTransactionSpec, KafkaAdminClient, MemberToRemove, OffsetSpec
from kafka.errors import KafkaError, NoError
from kafka.structs import OffsetAndMetadata

from tests.kafka.clients.rows import RefusedError
from tests.kafka.clients.trio import CALL_SECONDS

CALL_MS = CALL_SECONDS * 1000


def refusing(call: Callable[..., Any], *arguments: Any, **keywords: Any) -> Any:
    """Return the value of a call.

    Raises:
        RefusedError: the client raised an error.
    """
    try:
        return call(*arguments, **keywords)
    except KafkaError as error:
        raise RefusedError(type(error).__name__) from error


class KafkaPythonGroups:
    """A method for each row about groups and transactions that the client offers."""

    def __init__(self, brokers: str, topic: str) -> None:
        self._servers = brokers.split(",")
        self._topic = topic
        self._part = TopicPartition(topic, 0)
        self._admin = KafkaAdminClient(bootstrap_servers=self._servers)

    def close(self) -> None:
        self._admin.close()

    def _consumer(self, group: str | None = None) -> KafkaConsumer:
        return KafkaConsumer(
            bootstrap_servers=self._servers, group_id=group, enable_auto_commit=False
        )

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
            assert refusing(consumer.committed, self._part) is None
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

    def reset_group_offsets(self) -> None:
        asked = {self._part: OffsetSpec.EARLIEST}
        self._check_each(refusing(self._admin.reset_group_offsets, "g", asked))

    def delete_group_offsets(self) -> None:
        self._check_each(refusing(self._admin.delete_group_offsets, "g", [self._part]))

    def remove_members(self) -> None:
        self._check_each(refusing(self._admin.remove_group_members, "g", [MemberToRemove("m")]))

    def abort_transaction(self) -> None:
        spec = AbortTransactionSpec(self._part, 1, 0, 0)
        refusing(self._admin.abort_transaction, spec)

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
