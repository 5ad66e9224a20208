"""Quotas in Kafka's protocol: set by an administrator, and bytes moved as the limited clients.

A key is a client id, whose connections carry the id. Each broker leads the partition of its place
in a topic with one replica a partition, so a client moves bytes at its own broker.
"""

from random import Random
from typing import Final, cast

from typing_extensions import override

from kraftproof.cluster.connection import Connection, ConnectionFailed, OutcomeUnknown
from kraftproof.cluster.protocol import Cluster
from kraftproof.cluster.systems.kafka.client import (
    OPERATION_TIMEOUT_MS,
    OPERATION_TIMEOUT_NS,
    KafkaClient,
    answered,
    first_of,
)
from kraftproof.cluster.systems.kafka.connection import connect
from kraftproof.cluster.systems.kafka.records import Producer, batch_of
from kraftproof.cluster.systems.system import Completion, Outcome, Value
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    alter_client_quotas_request,
    alter_client_quotas_response,
    create_topics_request,
    create_topics_response,
    describe_client_quotas_request,
    describe_client_quotas_response,
    fetch_request,
    fetch_response,
    produce_request,
    produce_response,
)
from kraftproof.node.wire.records.raw_batch import NO_TIMESTAMP
from kraftproof.node.wire.schema import Message

CREATE_VERSION: Final = 7
ALTER_VERSION: Final = 1
DESCRIBE_VERSION: Final = 1
PRODUCE_VERSION: Final = 9
FETCH_VERSION: Final = 12
MUTED_TIMEOUT_NS: Final = 20_000_000_000
"""Longest wait for an answer on a connection that the broker may have muted."""
USER: Final = "ANONYMOUS"
"""The name of a client that does not log in."""
RATES: Final = ("producer_byte_rate", "consumer_byte_rate")


class QuotasClient(KafkaClient):
    """Quotas and the bytes of clients, through one broker."""

    def __init__(self, cluster: Cluster, random: Random) -> None:
        self._brokers = [node.node_id for node in cluster.nodes if node.has("broker")]
        super().__init__(cluster, self._brokers, random)
        self._as_client: dict[str, Connection[Message]] = {}
        """The open connections by client id."""

    @override
    async def invoke(self, f: str, key: str, value: Value) -> Completion:
        if f not in {"send", "read"}:
            completion = await super().invoke(f, key, value)
            described = completion.value
            if isinstance(described, describe_client_quotas_response.DescribeClientQuotasResponse):
                return Completion(outcome=Outcome.OK, value={"quotas": _shown(key, described)})
            return completion
        message, version = self._request(f, key, value)
        try:
            connection = await self._connection_of(key)
            answer = await connection.call(message, version, MUTED_TIMEOUT_NS)
            return self._moved(f, message, answer)
        except ConnectionFailed as error:
            self._turn_away()
            return Completion(outcome=Outcome.FAIL, error=str(error), connected=False)
        except OutcomeUnknown as error:
            self._turn_away()
            return Completion(outcome=self.errors.of_silence(f), error=str(error), connected=False)

    @override
    def close(self) -> None:
        for connection in self._as_client.values():
            connection.close()
        self._as_client.clear()
        super().close()

    async def _connection_of(self, client_id: str) -> Connection[Message]:
        connection = self._as_client.get(client_id)
        if connection is None:
            node = self._nodes[self._place]
            connection = await connect(
                self._cluster, node, OPERATION_TIMEOUT_NS, client_id=client_id
            )
            self._as_client[client_id] = connection
        return connection

    @override
    def _request(self, f: str, key: str, value: Value) -> tuple[Message, int]:
        match f:
            case "create":
                return self._create(key), CREATE_VERSION
            case "set":
                return _settings(key, value["quotas"]), ALTER_VERSION
            case "confirm":
                return _question(), DESCRIBE_VERSION
            case "send":
                return self._produce(value), PRODUCE_VERSION
            case _:
                return self._fetch(value), FETCH_VERSION

    def _partition(self) -> int:
        return self._brokers.index(self._nodes[self._place])

    def _create(self, topic: str) -> Message:
        module = create_topics_request
        assignments = tuple(
            module.CreatableReplicaAssignment(partition_index=place, broker_ids=(broker,))
            for place, broker in enumerate(self._brokers)
        )
        created = module.CreatableTopic(
            name=topic, num_partitions=-1, replication_factor=-1, assignments=assignments
        )
        return module.CreateTopicsRequest(topics=(created,), timeout_ms=OPERATION_TIMEOUT_MS)

    def _produce(self, value: Value) -> Message:
        module = produce_request
        batch = batch_of(b"x" * value["size"], NO_TIMESTAMP, Producer())
        part = module.PartitionProduceData(index=self._partition(), records=batch)
        return module.ProduceRequest(
            acks=1,
            timeout_ms=OPERATION_TIMEOUT_MS,
            topic_data=(module.TopicProduceData(name=value["topic"], partition_data=(part,)),),
        )

    def _fetch(self, value: Value) -> Message:
        module = fetch_request
        part = module.FetchPartition(
            partition=self._partition(), fetch_offset=0, partition_max_bytes=value["size"]
        )
        return module.FetchRequest(
            replica_id=-1,
            max_wait_ms=0,
            min_bytes=0,
            max_bytes=value["size"],
            session_epoch=-1,
            topics=(module.FetchTopic(topic=value["topic"], partitions=(part,)),),
        )

    def _moved(self, f: str, asked: Message, answer: Message) -> Completion:
        """Return the bytes that were moved, and the time that the client must wait."""
        size = 0
        if isinstance(answer, produce_response.ProduceResponse):
            throttle_ms = answer.throttle_time_ms
            code = first_of(first_of(answer.responses).partition_responses).error_code
            request = cast("produce_request.ProduceRequest", asked)
            size = len(request.topic_data[0].partition_data[0].records or b"")
        else:
            fetched = cast("fetch_response.FetchResponse", answer)
            throttle_ms, code = fetched.throttle_time_ms, fetched.error_code
            for part in fetched.responses[0].partitions if fetched.responses else ():
                code = part.error_code or code
                size = len(part.records or b"")
        if code != ErrorCode.NONE:
            return self._refused(f, code)
        return Completion(outcome=Outcome.OK, value={"bytes": size, "throttle_ms": throttle_ms})

    @override
    def _completion(self, f: str, answer: Message) -> Completion:
        match answer:
            case create_topics_response.CreateTopicsResponse():
                code = first_of(answer.topics).error_code
                if code in {ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS}:
                    return answered("created")
            case alter_client_quotas_response.AlterClientQuotasResponse():
                codes = sorted((entry.error_code for entry in answer.entries), reverse=True)
                code = first_of(codes)
                if code == ErrorCode.NONE:
                    return answered("set")
            case _:
                module = describe_client_quotas_response
                described = cast("module.DescribeClientQuotasResponse", answer)
                code = described.error_code
                if code == ErrorCode.NONE:
                    return Completion(outcome=Outcome.OK, value=described)
        return self._refused(f, code)


def _parts(entity: str, client_id: str) -> tuple[tuple[str, str], ...]:
    """Return the types and names of an entity of the workload."""
    named = {"user": ("user", USER), "client": ("client-id", client_id)}
    return tuple(named[part] for part in entity.split("+"))


def _settings(client_id: str, quotas: list[dict[str, object]]) -> Message:
    module = alter_client_quotas_request
    by_entity: dict[str, list[alter_client_quotas_request.OpData]] = {}
    for quota in quotas:
        operation = module.OpData(key=str(quota["quota"]), value=float(str(quota["rate"])))
        by_entity.setdefault(str(quota["entity"]), []).append(operation)
    entries = tuple(
        module.EntryData(
            entity=tuple(
                module.EntityData(entity_type=kind, entity_name=name)
                for kind, name in _parts(entity, client_id)
            ),
            ops=tuple(operations),
        )
        for entity, operations in by_entity.items()
    )
    return module.AlterClientQuotasRequest(entries=entries)


def _shown(
    client_id: str, described: describe_client_quotas_response.DescribeClientQuotasResponse
) -> list[dict[str, object]]:
    """Return the quotas of a client id in the form of the workload."""
    found: list[dict[str, object]] = []
    for entry in described.entries or ():
        names = {part.entity_type: part.entity_name for part in entry.entity}
        if names.get("client-id") != client_id:
            continue
        entity = "user+client" if "user" in names else "client"
        found += [
            {"entity": entity, "quota": one.key, "rate": int(one.value)} for one in entry.values
        ]
    return found


def _question() -> Message:
    module = describe_client_quotas_request
    return module.DescribeClientQuotasRequest(components=(), strict=False)
