"""Configurations in Kafka's protocol: altered through one broker, described by the same broker.

A key is a topic, or `brokers` for the defaults of all brokers. A `final` goes to the next broker.
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
from kraftproof.cluster.systems.system import Completion, Outcome, Value
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    alter_configs_request,
    alter_configs_response,
    create_topics_request,
    create_topics_response,
    describe_configs_request,
    describe_configs_response,
    incremental_alter_configs_request,
    incremental_alter_configs_response,
)
from kraftproof.node.wire.schema import Message

CONFIG_WORKLOADS: Final = ("configs",)
BROKERS: Final = "brokers"
TOPIC: Final = 2
BROKER: Final = 4
CREATE_VERSION: Final = 7
LEGACY_VERSION: Final = 2
INCREMENTAL_VERSION: Final = 1
DESCRIBE_VERSION: Final = 4
OF_TOPICS: Final = ("retention.ms", "max.message.bytes")
OF_BROKERS: Final = ("log.retention.ms", "message.max.bytes")
OWN_SOURCE: Final = {TOPIC: 1, BROKER: 3}
"""The source of a value that was set for a topic, or for all brokers."""
REPLICATION_FACTOR: Final = 3


class ConfigsClient(KafkaClient):
    """Configurations, through one broker."""

    def __init__(self, cluster: Cluster, random: Random) -> None:
        brokers = [node.node_id for node in cluster.nodes if node.has("broker")]
        super().__init__(cluster, brokers, random)
        self._factor = min(REPLICATION_FACTOR, len(brokers))

    @override
    async def invoke(self, f: str, key: str, value: Value) -> Completion:
        if f == "final":
            self._turn_away()
            await self.open()
        return await super().invoke(f, key, value)

    @override
    def _request(self, f: str, key: str, value: Value) -> tuple[Message, int]:
        match f:
            case "create":
                return self._create(key), CREATE_VERSION
            case "alter" if value["is_legacy"]:
                return _legacy(key, value["configs"]), LEGACY_VERSION
            case "alter":
                return _incremental(key, value["configs"]), INCREMENTAL_VERSION
            case _:
                return _describe(key), DESCRIBE_VERSION

    def _create(self, key: str) -> Message:
        topic = create_topics_request.CreatableTopic(
            name=key, num_partitions=1, replication_factor=self._factor
        )
        return create_topics_request.CreateTopicsRequest(
            topics=(topic,), timeout_ms=OPERATION_TIMEOUT_MS
        )

    @override
    def _completion(self, f: str, answer: Message) -> Completion:
        match answer:
            case create_topics_response.CreateTopicsResponse():
                code = first_of(answer.topics).error_code
                if code in {ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS}:
                    return answered("created" if code == ErrorCode.NONE else "exists")
            case (
                alter_configs_response.AlterConfigsResponse()
                | incremental_alter_configs_response.IncrementalAlterConfigsResponse()
            ):
                code = first_of([each.error_code for each in answer.responses])
                if code == ErrorCode.NONE:
                    return answered("altered")
            case _:
                results = cast("describe_configs_response.DescribeConfigsResponse", answer).results
                result = first_of(results)
                code = result.error_code
                if code == ErrorCode.NONE:
                    return Completion(outcome=Outcome.OK, value={"configs": _shown(result)})
        return self._refused(f, code)


def _shown(result: describe_configs_response.DescribeConfigsResult) -> dict[str, str | None]:
    """Return the values that are set for the resource itself, by name; None for others."""
    names = OF_BROKERS if result.resource_type == BROKER else OF_TOPICS
    found: dict[str, str | None] = dict.fromkeys(names)
    for one in result.configs:
        if one.name in names and one.config_source == OWN_SOURCE[result.resource_type]:
            found[one.name] = one.value
    return found


def _resource(key: str) -> tuple[int, str]:
    return (BROKER, "") if key == BROKERS else (TOPIC, key)


def _legacy(key: str, configs: dict[str, str]) -> Message:
    module = alter_configs_request
    kind, name = _resource(key)
    resource = module.AlterConfigsResource(
        resource_type=kind,
        resource_name=name,
        configs=tuple(
            module.AlterableConfig(name=config, value=value) for config, value in configs.items()
        ),
    )
    return module.AlterConfigsRequest(resources=(resource,))


def _incremental(key: str, configs: dict[str, str]) -> Message:
    module = incremental_alter_configs_request
    kind, name = _resource(key)
    resource = module.AlterConfigsResource(
        resource_type=kind,
        resource_name=name,
        configs=tuple(
            module.AlterableConfig(name=config, config_operation=0, value=value)
            for config, value in configs.items()
        ),
    )
    return module.IncrementalAlterConfigsRequest(resources=(resource,))


def _describe(key: str) -> Message:
    module = describe_configs_request
    kind, name = _resource(key)
    resource = module.DescribeConfigsResource(
        resource_type=kind,
        resource_name=name,
        configuration_keys=OF_BROKERS if key == BROKERS else OF_TOPICS,
    )
    return module.DescribeConfigsRequest(resources=(resource,))
