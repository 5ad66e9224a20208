"""Topics in Kafka's protocol: created, deleted, looked up and described through one broker.

A look-up is a validate-only create; a description is a Metadata request by id, which a broker
answers from its own image (KIP-516). The broker forwards the rest (KIP-590).
"""

from random import Random
from typing import Final, cast

from typing_extensions import override

from kraftproof.cluster.protocol import Cluster
from kraftproof.cluster.systems.kafka.client import (
    OPERATION_TIMEOUT_MS,
    KafkaClient,
    answered,
    first_of,
)
from kraftproof.cluster.systems.system import Completion, Value
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    create_topics_request,
    create_topics_response,
    delete_topics_request,
    delete_topics_response,
    metadata_request,
    metadata_response,
)
from kraftproof.node.wire.schema import Message
from kraftproof.node.wire.types import format_uuid, parse_uuid

TOPIC_WORKLOADS: Final = ("topics", "topic-names")
"""The names of the workloads of topics."""
CREATE_VERSION: Final = 7
DELETE_VERSION: Final = 6
METADATA_VERSION: Final = 12
REPLICATION_FACTOR: Final = 3
OF_THE_TOPIC: Final = 1
"""The source of a configuration that was set for the topic (DYNAMIC_TOPIC_CONFIG)."""


class TopicsClient(KafkaClient):
    """Topics, through one broker."""

    def __init__(self, cluster: Cluster, random: Random) -> None:
        brokers = [node.node_id for node in cluster.nodes if node.has("broker")]
        super().__init__(cluster, brokers, random)
        self._factor = min(REPLICATION_FACTOR, len(brokers))

    @override
    def _request(self, f: str, key: str, value: Value) -> tuple[Message, int]:
        match f:
            case "create":
                return self._create(key, value, self._factor), CREATE_VERSION
            case "lookup":
                return self._create(key, None, 1, validate_only=True), CREATE_VERSION
            case "delete":
                return self._delete(key, value), DELETE_VERSION
            case "describe":
                return self._describe(value), METADATA_VERSION
            case _:
                raise AssertionError(f)

    def _create(
        self, name: str, value: Value, factor: int, *, validate_only: bool = False
    ) -> Message:
        shape = value or {}
        partitions, configs = shape.get("partitions", 1), shape.get("configs", {})
        assert isinstance(partitions, int), "a workload gives the number of partitions"
        assert isinstance(configs, dict), "a workload gives configurations by name"
        topic = create_topics_request.CreatableTopic(
            name=name,
            num_partitions=partitions,
            replication_factor=factor,
            configs=tuple(
                create_topics_request.CreatableTopicConfig(name=config, value=configs[config])
                for config in sorted(configs)
            ),
        )
        return create_topics_request.CreateTopicsRequest(
            topics=(topic,), timeout_ms=OPERATION_TIMEOUT_MS, validate_only=validate_only
        )

    def _delete(self, name: str, value: Value) -> Message:
        assert value is not None
        state = delete_topics_request.DeleteTopicState(name=name)
        if value["by"] == "id":
            topic_id = parse_uuid(str(value["id"]))
            state = delete_topics_request.DeleteTopicState(topic_id=topic_id)
        return delete_topics_request.DeleteTopicsRequest(
            topics=(state,), timeout_ms=OPERATION_TIMEOUT_MS
        )

    def _describe(self, value: Value) -> Message:
        assert value is not None
        topic = metadata_request.MetadataRequestTopic(topic_id=parse_uuid(str(value["id"])))
        return metadata_request.MetadataRequest(topics=(topic,), allow_auto_topic_creation=False)

    @override
    def _completion(self, f: str, answer: Message) -> Completion:
        match f:
            case "create" | "lookup":
                created = cast("create_topics_response.CreateTopicsResponse", answer)
                return self._of_create(f, first_of(created.topics))
            case "delete":
                deleted = cast("delete_topics_response.DeleteTopicsResponse", answer)
                return self._of_delete(first_of(deleted.responses).error_code)
            case _:
                shown = first_of(cast("metadata_response.MetadataResponse", answer).topics)
                return self._of_describe(shown)

    def _of_create(
        self, f: str, created: create_topics_response.CreatableTopicResult
    ) -> Completion:
        if created.error_code == ErrorCode.TOPIC_ALREADY_EXISTS:
            return answered("exists")
        if created.error_code != ErrorCode.NONE:
            return self._refused(f, created.error_code)
        if f == "lookup":
            return answered("absent")
        return answered(
            "created",
            id=format_uuid(created.topic_id),
            partitions=created.num_partitions,
            factor=created.replication_factor,
            configs={
                entry.name: entry.value
                for entry in created.configs or ()
                if entry.config_source == OF_THE_TOPIC
            },
        )

    def _of_delete(self, error_code: int) -> Completion:
        if error_code == ErrorCode.NONE:
            return answered("deleted")
        if error_code in {ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.UNKNOWN_TOPIC_ID}:
            return answered("absent")
        return self._refused("delete", error_code)

    def _of_describe(self, shown: metadata_response.MetadataResponseTopic) -> Completion:
        if shown.error_code == ErrorCode.NONE:
            partitions = sorted(shown.partitions, key=lambda partition: partition.partition_index)
            return answered(
                "present",
                indexes=[partition.partition_index for partition in partitions],
                replicas=[list(partition.replica_nodes) for partition in partitions],
                isrs=[list(partition.isr_nodes) for partition in partitions],
                leaders=[partition.leader_id for partition in partitions],
                epochs=[partition.leader_epoch for partition in partitions],
            )
        if shown.error_code in {ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, ErrorCode.UNKNOWN_TOPIC_ID}:
            return answered("absent")
        return self._refused("describe", shown.error_code)
