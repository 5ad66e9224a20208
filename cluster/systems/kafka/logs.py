"""Partitions in Kafka's protocol: produced to and fetched from their leaders, one request each.

`send` produces one record; `poll` and `final` fetch below the high watermark; `assign` is the
reader's own affair. A key is TOPIC-PARTITION. The client learns the leader of a partition by
Metadata requests, and asks again after an error. The identity of an idempotent producer lasts as
long as the client's connection, as a process of the history does.
"""

from random import Random
from typing import Final, cast

import msgspec
from typing_extensions import override

from kraftproof.cluster.connection import Connection, ConnectionFailed, OutcomeUnknown
from kraftproof.cluster.protocol import Cluster
from kraftproof.cluster.systems.errors import ErrorTable
from kraftproof.cluster.systems.kafka import log_requests as requests
from kraftproof.cluster.systems.kafka.client import OPERATION_TIMEOUT_NS, answered, first_of
from kraftproof.cluster.systems.kafka.connection import PostsMessages, connect
from kraftproof.cluster.systems.kafka.errors import error_name
from kraftproof.cluster.systems.kafka.records import Producer, batch_of, records_of
from kraftproof.cluster.systems.system import Client, Completion, Outcome, Value
from kraftproof.node.wire.errors import ErrorCode, WireError
from kraftproof.node.wire.messages import (
    create_topics_response,
    delete_topics_response,
    fetch_response,
    init_producer_id_response,
    list_offsets_response,
    metadata_response,
    produce_response,
)
from kraftproof.node.wire.records.raw_batch import NO_TIMESTAMP
from kraftproof.node.wire.schema import Message

LOG_WORKLOADS: Final = ("log", "log-topics", "reassignment", "controlled-shutdown")
"""The names of the workloads of partitions."""
_REPLICATION_FACTOR: Final = 3


def _record(value: Value) -> bytes:
    """Return the bytes of a record: a JSON value, and spaces as its padding."""
    encoded: bytes = msgspec.json.encode(value["value"])
    padding: int = value.get("padding", 0)
    return encoded + b" " * padding


class RefusedError(Exception):
    """The node answers with an error code.

    Attributes:
        code: The code.
        f: The operation's name in the table of errors; None for the name of the workload.
    """

    def __init__(self, code: int, f: str | None = None) -> None:
        super().__init__(error_name(code))
        self.code = code
        self.f = f


class LogClient(Client):
    """A producer and reader of partitions; it has one connection at a time, to one leader."""

    def __init__(
        self,
        cluster: Cluster,
        errors: ErrorTable,
        random: Random,
        segment_setting: str = requests.INTERNAL_SEGMENT,
    ) -> None:
        self._cluster = cluster
        self._segment_setting = segment_setting
        self._errors = errors
        self._brokers = [node.node_id for node in cluster.nodes if node.has("broker")]
        random.shuffle(self._brokers)
        self._place = 0
        self._leaders: dict[str, int] = {}
        self._connection: Connection[Message] | None = None
        self._node: int | None = None
        self._producer: Producer | None = None
        self._sequences: dict[str, int] = {}

    @property
    @override
    def node(self) -> int | None:
        return self._brokers[self._place] if self._node is None else self._node

    @override
    async def open(self) -> None:
        if self._connection is None:
            await self._connect(self._brokers[self._place])

    @override
    def close(self) -> None:
        self._disconnect()
        self._producer = None
        self._sequences.clear()

    @override
    async def invoke(self, f: str, key: str, value: Value) -> Completion:
        try:
            return await self._invoke(f, key, value)
        except RefusedError as error:
            self._leaders.pop(key, None)
            outcome = self._errors.of(error.f or f, error.code)
            is_on = outcome is Outcome.FAIL and error.code not in requests.ENDS_PRODUCER
            return Completion(outcome=outcome, error=str(error), connected=is_on)
        except WireError as error:
            self._forget(key)
            outcome = self._errors.of_silence(f)
            return Completion(outcome=outcome, error=f"WireError: {error}", connected=False)
        except (ConnectionFailed, OutcomeUnknown):
            self._forget(key)
            raise

    async def _invoke(self, f: str, key: str, value: Value) -> Completion:
        if f == "create":
            return await self._create(key, value)
        if f == "delete":
            return await self._delete(key)
        if f == "assign":
            return Completion(outcome=Outcome.OK, value=value)
        await self._lead_by(key)
        match f:
            case "send":
                return await self._send(key, value)
            case "poll":
                return await self._fetch(key, int(value["position"]))
            case "final":
                return await self._final(key, value["position"])
            case _:
                raise AssertionError(f)

    # Writing

    async def _create(self, key: str, value: Value) -> Completion:
        topic, _ = requests.split(key)
        factor = min(int(value.get("replicas", _REPLICATION_FACTOR)), len(self._brokers))
        settings = {}
        if "min_insync" in value:
            settings[requests.MIN_INSYNC_SETTING] = str(value["min_insync"])
        if "segment_bytes" in value:
            settings[self._segment_setting] = str(value["segment_bytes"])
        request = requests.create(topic, int(value["partitions"]), factor, settings)
        answer = await self._call(request, requests.CREATE_VERSION)
        created = cast("create_topics_response.CreateTopicsResponse", answer)
        code = first_of(created.topics).error_code
        if code not in {ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS}:
            raise RefusedError(code)
        return answered("created" if code == ErrorCode.NONE else "exists")

    async def _delete(self, key: str) -> Completion:
        topic, _ = requests.split(key)
        answer = await self._call(requests.delete(topic), requests.DELETE_VERSION)
        deleted = cast("delete_topics_response.DeleteTopicsResponse", answer)
        code = first_of(deleted.responses).error_code
        if code not in {ErrorCode.NONE, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}:
            raise RefusedError(code)
        return answered("deleted" if code == ErrorCode.NONE else "absent")

    async def _send(self, key: str, value: Value) -> Completion:
        producer = await self._identity(key) if value["idempotent"] else Producer()
        # The time of a run begins at 0: by its own timestamp, a record would be too old to keep.
        batch = batch_of(_record(value), NO_TIMESTAMP, producer)
        request = requests.produce(key, batch, value["acks"])
        if value["acks"] == 0:
            await self._post(request)
            self._count(key, producer)
            return Completion(outcome=Outcome.OK, value={"offset": None})
        answer = await self._call(request, requests.PRODUCE_VERSION)
        topics = cast("produce_response.ProduceResponse", answer).responses
        part = first_of(first_of(topics).partition_responses)
        if part.error_code != ErrorCode.NONE:
            f = requests.SEND_TO_LEADER if value["acks"] == 1 else "send"
            raise RefusedError(part.error_code, f)
        self._count(key, producer)
        return Completion(outcome=Outcome.OK, value={"offset": part.base_offset})

    async def _identity(self, key: str) -> Producer:
        if self._producer is None:
            try:
                answer = await self._call(requests.identity(), requests.IDENTITY_VERSION)
            except OutcomeUnknown as error:
                raise ConnectionFailed(f"no producer id: {error}") from error
            told = cast("init_producer_id_response.InitProducerIdResponse", answer)
            if told.error_code != ErrorCode.NONE:
                raise ConnectionFailed(f"no producer id: {error_name(told.error_code)}")
            self._producer = Producer(told.producer_id, told.producer_epoch)
        return self._producer._replace(sequence=self._sequences.get(key, 0))

    def _count(self, key: str, producer: Producer) -> None:
        if producer.sequence >= 0:
            self._sequences[key] = producer.sequence + 1

    async def _post(self, request: Message) -> None:
        if not isinstance(self._connection, PostsMessages):
            raise ConnectionFailed("this connection has no requests without an answer")
        await self._connection.post(request, requests.PRODUCE_VERSION)

    # Reading

    async def _final(self, key: str, position: int | None) -> Completion:
        """Fetch a part of the log, up to the offset that the leader reports as the last."""
        begin = await self._offset(key, requests.EARLIEST)
        end = await self._offset(key, requests.LATEST)
        start = begin if position is None else max(position, begin)
        fetched = await self._fetch(key, start)
        return Completion(
            outcome=Outcome.OK,
            value={**fetched.value, "log_start": begin, "end": max(end, fetched.value["end"])},
        )

    async def _offset(self, key: str, which: int) -> int:
        request = requests.list_offsets(key, which)
        answer = await self._call(request, requests.LIST_OFFSETS_VERSION)
        topics = cast("list_offsets_response.ListOffsetsResponse", answer).topics
        part = first_of(first_of(topics).partitions)
        if part.error_code != ErrorCode.NONE:
            raise RefusedError(part.error_code)
        return part.offset

    async def _fetch(self, key: str, position: int) -> Completion:
        answer = await self._call(requests.fetch(key, position), requests.FETCH_VERSION)
        topics = cast("fetch_response.FetchResponse", answer).responses
        part = first_of(first_of(topics).partitions)
        if part.error_code != ErrorCode.NONE:
            raise RefusedError(part.error_code)
        data = cast("bytes | None", part.records) or b""
        records = [
            [offset, msgspec.json.decode(value.rstrip())]
            for offset, value in records_of(data)
            if offset >= position
        ]
        log_start = max(0, part.log_start_offset)
        value = {"records": records, "log_start": log_start, "end": part.high_watermark}
        return Completion(outcome=Outcome.OK, value=value)

    # Leaders

    async def _lead_by(self, key: str) -> None:
        """Connect to the leader of a partition.

        Raises:
            ConnectionFailed: no leader is known, or the leader can't be reached.
        """
        leader = self._leaders.get(key)
        if leader is None:
            leader = self._leaders[key] = await self._ask_leader(key)
        if leader != self._node or self._connection is None:
            self._disconnect()
            await self._connect(leader)

    async def _ask_leader(self, key: str) -> int:
        topic, partition = requests.split(key)
        try:
            answer = await self._call(requests.metadata(topic), requests.METADATA_VERSION)
            shown = first_of(cast("metadata_response.MetadataResponse", answer).topics)
        except OutcomeUnknown as error:
            raise ConnectionFailed(f"no leader known: {error}") from error
        for one in shown.partitions:
            if one.partition_index == partition and one.leader_id in self._brokers:
                return one.leader_id
        self._turn_away()
        raise ConnectionFailed(f"no leader of {key}")

    async def _call(self, message: Message, version: int) -> Message:
        assert self._connection is not None, "open the client first"
        return await self._connection.call(message, version, OPERATION_TIMEOUT_NS)

    async def _connect(self, node_id: int) -> None:
        try:
            self._connection = await connect(self._cluster, node_id, OPERATION_TIMEOUT_NS)
        except ConnectionFailed:
            self._turn_away()
            raise
        self._node = node_id

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection = self._node = None

    def _turn_away(self) -> None:
        self._place = (self._place + 1) % len(self._brokers)

    def _forget(self, key: str) -> None:
        self._leaders.pop(key, None)
        self._turn_away()
        self.close()
