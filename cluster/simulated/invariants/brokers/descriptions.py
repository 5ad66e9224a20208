"""Invariant of a broker's descriptions: pages of topics, resources, producers and coordinators."""

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar, Final

from typing_extensions import override

from kraftproof.cluster.simulated.invariants.brokers.online import (
    offline_replicas,
    registered_listener,
    shown_leader,
)
from kraftproof.cluster.simulated.invariants.invariant import (
    ClusterConfig,
    Invariant,
    ProcessView,
    Requests,
)
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.image import MetadataImage, Partition
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    consumer_group_heartbeat_request,
    consumer_group_heartbeat_response,
    describe_producers_request,
    describe_producers_response,
    describe_topic_partitions_request,
    describe_topic_partitions_response,
    find_coordinator_request,
    find_coordinator_response,
    list_config_resources_request,
    list_config_resources_response,
    offset_fetch_request,
    offset_fetch_response,
)
from kraftproof.node.wire.principal import ANONYMOUS

TopicsRequest = describe_topic_partitions_request.DescribeTopicPartitionsRequest
TopicsResponse = describe_topic_partitions_response.DescribeTopicPartitionsResponse
ResourcesRequest = list_config_resources_request.ListConfigResourcesRequest
ResourcesResponse = list_config_resources_response.ListConfigResourcesResponse
ProducersRequest = describe_producers_request.DescribeProducersRequest
ProducersResponse = describe_producers_response.DescribeProducersResponse
FindRequest = find_coordinator_request.FindCoordinatorRequest
FindResponse = find_coordinator_response.FindCoordinatorResponse
OffsetsRequest = offset_fetch_request.OffsetFetchRequest
OffsetsResponse = offset_fetch_response.OffsetFetchResponse
BeatRequest = consumer_group_heartbeat_request.ConsumerGroupHeartbeatRequest
BeatResponse = consumer_group_heartbeat_response.ConsumerGroupHeartbeatResponse

MOST_PARTITIONS: Final = 2_000
"""The value of max.request.partition.size.limit, which no node changes."""
TOPIC, BROKER, LOGGER, METRICS, GROUP = RESOURCES = (2, 4, 8, 16, 32)
"""The types of resources with configurations (KIP-1142)."""
COORDINATED: Final = (0, 1, 2)
"""Groups, transactions and shares of groups."""
GROUPS_FROM, LISTS_FROM, NAMED_FROM = 8, 4, 2
"""First versions of OffsetFetch with groups, of FindCoordinator with keys and with the broker."""
Place = tuple[str, int]
"""Name of a topic, and a partition."""

SEQUENCES = 1 << 31
"""After the largest sequence number of a producer follows 0."""


class DescriptionsAreTrue(Invariant):
    """A tool that lists the cluster sees each topic, resource and producer once, as it is."""

    statement = (
        "A broker describes the partitions, the resources and the coordinators by its image, and "
        "the producers by its logs; a page ends at its limit, and the cursor names the next."
    )
    requests: ClassVar[Requests] = (
        TopicsRequest,
        ResourcesRequest,
        ProducersRequest,
        FindRequest,
        OffsetsRequest,
        BeatRequest,
    )

    def __init__(self, config: ClusterConfig) -> None:
        super().__init__()
        self._listener = config.client_listener

    @override
    def on_replying(self, process: ProcessView, event: Received, message: Message) -> None:
        if event.principal != ANONYMOUS:
            return
        match event.message, message:
            case TopicsRequest() as request, TopicsResponse():
                listener = self._listener or registered_listener(process.image, process.node_id)
                faults = _page_faults(process.image, listener, request, message)
                self._report(process, event, faults)
            case ResourcesRequest() as request, ResourcesResponse():
                faults = _resource_faults(process.image, request, event.version, message)
                self._report(process, event, faults)
            case _:
                return

    @override
    def on_data_answered(self, process: ProcessView, event: Received, message: Message) -> None:
        if event.principal != ANONYMOUS:
            return
        match event.message, message:
            case ProducersRequest() as request, ProducersResponse():
                self._report(process, event, _producer_faults(process, request, message))
            case FindRequest() as request, FindResponse():
                faults = _coordinator_faults(process, event, request, message)
                self._report(process, event, faults)
            case OffsetsRequest() as request, OffsetsResponse():
                self._report(process, event, _offset_faults(request, event.version, message))
            case BeatRequest(), BeatResponse(error_code=code):
                if code != ErrorCode.UNSUPPORTED_VERSION:
                    self._report(process, event, [f"a member of a group gets error {code}"])
            case _:
                return

    def _report(
        self, process: ProcessView, event: Received, faults: Iterator[str] | Sequence[str]
    ) -> None:
        for fault in faults:
            name = f"{type(event.message).__name__} v{event.version}"
            self.monitor.report_violation(self, process, f"{name}: {fault}")


def _page_faults(
    image: MetadataImage, listener: str | None, request: TopicsRequest, message: TopicsResponse
) -> Iterator[str]:
    names = sorted({topic.name for topic in request.topics} or set(image.topic_ids))
    cursor = request.cursor
    if cursor is not None:
        is_named = not request.topics or cursor.topic_name in names
        if cursor.partition_index < 0 or not is_named:
            if any(topic.error_code != ErrorCode.INVALID_REQUEST for topic in message.topics):
                yield "a cursor on no topic is accepted"
            return
        names = [name for name in names if name >= cursor.topic_name]
    begin = ("", 0) if cursor is None else (cursor.topic_name, cursor.partition_index)
    places = [
        (name, partition.index)
        for name in names
        for partition in _partitions(image, name)
        if (name, partition.index) >= begin
    ]
    limit = max(1, min(request.response_partition_limit, MOST_PARTITIONS))
    told = [
        (topic.name or "", one.partition_index)
        for topic in message.topics
        for one in topic.partitions
    ]
    if told != places[:limit]:
        yield f"{len(told)} partitions from {told[:1]} are described, not {places[:limit][:3]}"
    following = message.next_cursor
    last = message.topics[-1].name if message.topics else ""
    later: list[Place] = [(name, 0) for name in names if name > (last or "")]
    if following is None:
        if places[limit:] or later:
            yield f"the page is called the last, {(places[limit:] or later)[0]} is left"
    elif (following.topic_name, following.partition_index) not in {*places[limit:][:1], *later[:1]}:
        yield f"the next page begins at {following.topic_name}-{following.partition_index}"
    for topic in message.topics:
        yield from _topic_faults(image, listener, topic)


def _partitions(image: MetadataImage, name: str) -> list[Partition]:
    topic_id = image.topic_ids.get(name)
    found: Mapping[int, Partition] = {} if topic_id is None else image.partitions.get(topic_id, {})
    return [found[index] for index in sorted(found)]


def _topic_faults(
    image: MetadataImage,
    listener: str | None,
    topic: describe_topic_partitions_response.DescribeTopicPartitionsResponseTopic,
) -> Iterator[str]:
    name = topic.name or ""
    topic_id = image.topic_ids.get(name)
    if topic_id is None:
        if not topic.error_code:
            yield f"topic {name!r} is described, and does not exist"
        return
    if topic.error_code or topic.topic_id != topic_id:
        yield f"topic {name!r} has error {topic.error_code}, or another id"
    for one in topic.partitions:
        partition = image.partitions[topic_id][one.partition_index]
        told = (one.leader_id, one.leader_epoch, one.replica_nodes, one.isr_nodes)
        leader = shown_leader(image, partition, listener)
        known = (leader, partition.leader_epoch, partition.replicas, partition.isr)
        offline = offline_replicas(image, partition, listener)
        if told != known or one.offline_replicas != offline or one.error_code:
            yield f"partition {name}-{one.partition_index} is described as {told}, not {known}"


def _resource_faults(
    image: MetadataImage, request: ResourcesRequest, version: int, message: ResourcesResponse
) -> Iterator[str]:
    kinds = {METRICS} if not version else set(request.resource_types) or set(RESOURCES)
    if not kinds <= set(RESOURCES):
        if message.error_code != ErrorCode.UNSUPPORTED_VERSION:
            yield f"unknown types get error {message.error_code}"
        return
    unfenced = [str(each.broker_id) for each in image.brokers.values() if not each.fenced]
    expected = {(TOPIC, name) for name in image.topic_ids}
    expected |= {(kind, name) for kind in (BROKER, LOGGER) for name in unfenced}
    expected |= {(kind, name) for kind, name in image.configs if kind in {METRICS, GROUP}}
    wanted = sorted(each for each in expected if each[0] in kinds)
    told = sorted((each.resource_type, each.resource_name) for each in message.config_resources)
    if message.error_code or told != wanted:
        wrong = sorted(set(told) ^ set(wanted))[:3]
        yield f"{len(told)} resources are listed, not {len(wanted)}: {wrong}"


def _producer_faults(
    process: ProcessView, request: ProducersRequest, message: ProducersResponse
) -> Iterator[str]:
    for topic, answered in zip(request.topics, message.topics, strict=True):
        topic_id = process.image.topic_ids.get(topic.name)
        for index, part in zip(topic.partition_indexes, answered.partitions, strict=True):
            if part.partition_index != index:
                yield f"partition {part.partition_index} is answered, not {index}"
            if topic_id is None:
                if part.error_code != ErrorCode.UNKNOWN_TOPIC_OR_PARTITION:
                    yield f"an unknown topic gets error {part.error_code}"
                continue
            mirror = process.partitions.get(LogId(topic_id, index))
            if mirror is None or part.error_code:
                continue
            told = {one.producer_id: one for one in part.active_producers}
            last = {each.producer_id: each for each in mirror.batches if each.producer_id >= 0}
            for producer, batch in last.items():
                sequence = (batch.base_sequence + batch.last_offset_delta) % SEQUENCES
                known = (batch.producer_epoch, sequence, batch.max_timestamp_ms)
                one = told.get(producer)
                found = (one.producer_epoch, one.last_sequence, one.last_timestamp) if one else None
                if found != known:
                    yield f"producer {producer} of {topic.name}-{index} is {found}, not {known}"


def _coordinator_faults(
    process: ProcessView, event: Received, request: FindRequest, message: FindResponse
) -> Iterator[str]:
    """Describe coordinators other than the asked broker; no broker of a run has groups."""
    kind, version = request.key_type, event.version
    if version < LISTS_FROM:
        told = [(message.error_code, message.node_id)]
    else:
        told = [(each.error_code, each.node_id) for each in message.coordinators]
        if [each.key for each in message.coordinators] != list(request.coordinator_keys):
            yield "other keys are answered"
    for error, node in told:
        if kind not in COORDINATED:
            is_right = error == ErrorCode.INVALID_REQUEST
        elif kind == COORDINATED[-1] or (kind == COORDINATED[0] and version < NAMED_FROM):
            is_right = error == ErrorCode.UNSUPPORTED_VERSION
        else:
            is_right = (error, node) == (ErrorCode.NONE, process.node_id)
            is_right = is_right or error == ErrorCode.COORDINATOR_NOT_AVAILABLE
        if not is_right:
            yield f"a key of type {kind} gets node {node} and error {error}"


def _offset_faults(
    request: OffsetsRequest, version: int, message: OffsetsResponse
) -> Iterator[str]:
    """Describe offsets of groups that cannot have any."""
    asked: list[tuple[str, list[Place]]] = []
    told: list[tuple[str, list[Place]]] = []
    if version >= GROUPS_FROM:
        for group in request.groups:
            rows = [(t.name, i) for t in group.topics or () for i in t.partition_indexes]
            asked.append((group.group_id, rows))
        for found in message.groups:
            parts = [(t.name, p) for t in found.topics for p in t.partitions]
            told.append((found.group_id, [(name, p.partition_index) for name, p in parts]))
            if found.error_code or any(p.error_code or p.committed_offset != -1 for _, p in parts):
                yield f"group {found.group_id!r} has an offset, or error {found.error_code}"
    else:
        rows = [(t.name, i) for t in request.topics or () for i in t.partition_indexes]
        asked.append(("", rows))
        singles = [(t.name, p) for t in message.topics for p in t.partitions]
        told.append(("", [(name, p.partition_index) for name, p in singles]))
        if message.error_code or any(p.error_code or p.committed_offset != -1 for _, p in singles):
            yield f"the group has an offset, or error {message.error_code}"
    if asked != told:
        yield "other groups, topics or partitions are answered"
