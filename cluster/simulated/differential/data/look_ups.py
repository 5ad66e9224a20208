"""Compare look-ups in many partitions with the model: offsets, epochs, producers, directories."""

from typing import Final

from msgspec.structs import replace

from kraftproof.cluster.simulated.differential.data.asking import Asking, Place
from kraftproof.cluster.simulated.differential.data.data_rig import PATHS
from kraftproof.cluster.simulated.differential.data.drawn_broker import SIZE
from kraftproof.cluster.simulated.differential.difference import same
from kraftproof.cluster.simulated.invariants.security.authorized_answers import (
    CLUSTER_ACTION,
    DESCRIBE,
    READ,
    TOPIC,
)
from kraftproof.node.core.events import Received
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    describe_log_dirs_request,
    describe_log_dirs_response,
    describe_producers_request,
    describe_producers_response,
    list_offsets_request,
    list_offsets_response,
    offset_for_leader_epoch_request,
    offset_for_leader_epoch_response,
)

LATEST, EARLIEST, NEWEST, EARLIEST_LOCAL, TIERED, PENDING = -1, -2, -3, -4, -5, -6
FIRST_VERSIONS: Final = {NEWEST: 7, EARLIEST_LOCAL: 8, TIERED: 9, PENDING: 11}
EPOCHS_FROM, NOT_AVAILABLE_FROM = 4, 5
TIMES: Final = (LATEST, LATEST, EARLIEST, NEWEST, EARLIEST_LOCAL, TIERED, PENDING, -7, 0, 5, 5)
REPEATED: Final = -99
"""The time that stands for a partition which the request names more than once."""
_NOT_FOUND: Final = (-1, -1)
Offsets = list_offsets_response.ListOffsetsPartitionResponse


def list_offsets(asking: Asking) -> None:
    """Look up offsets by time; the searches end in a drawn order.

    Raises:
        DifferenceError: an answer is not the one of the model.
    """
    random = asking.random
    topics = asking.draw_topics()
    module = list_offsets_request
    request = module.ListOffsetsRequest(
        replica_id=random.choice((-1, -1, 0, 2)),
        topics=tuple(
            module.ListOffsetsTopic(
                name=name,
                partitions=tuple(
                    module.ListOffsetsPartition(
                        partition_index=index,
                        timestamp=random.choice(TIMES),
                        current_leader_epoch=asking.draw_epoch((name, index)),
                    )
                    for index in indexes
                ),
            )
            for name, indexes in topics
        ),
    )
    event = asking.event(request)
    token = asking.rig.ask(event)
    request = replace(request, topics=tuple(map(_once_each, request.topics)))
    searched = _end_searches(asking, event, request)
    found = asking.answer(token, list_offsets_response.ListOffsetsResponse)
    what = f"of ListOffsets v{event.version}"
    same(f"the topics {what}", [one.name for one in found.topics], [name for name, _ in topics])
    for number, (topic, shown) in enumerate(zip(request.topics, found.topics, strict=True)):
        due = [
            _of_search(event, one.partition_index, searched[number, place])
            if (number, place) in searched
            else _offsets(asking, event, request.replica_id, topic.name, one)
            for place, one in enumerate(topic.partitions)
        ]
        same(f"the partitions {what}", [_shown(one) for one in shown.partitions], due)


def _once_each(
    topic: list_offsets_request.ListOffsetsTopic,
) -> list_offsets_request.ListOffsetsTopic:
    """Return a topic with each partition once, with a time of REPEATED for a repeated one."""
    parts: dict[int, list_offsets_request.ListOffsetsPartition] = {}
    for one in topic.partitions:
        is_again = one.partition_index in parts
        parts[one.partition_index] = replace(one, timestamp=REPEATED) if is_again else one
    return replace(topic, partitions=tuple(parts.values()))


def _shown(one: Offsets) -> tuple[object, ...]:
    has_end = one.timestamp < 0 <= one.offset  # the epochs at ends are compared elsewhere
    epoch = -1 if has_end else one.leader_epoch
    return (one.partition_index, one.error_code, one.offset, one.timestamp, epoch)


def _offsets(
    asking: Asking,
    event: Received,
    replica: int,
    name: str,
    asked: list_offsets_request.ListOffsetsPartition,
) -> tuple[object, ...]:
    """Return the answer about a partition without a search."""
    place = (name, asked.partition_index)
    error = _error(asking, event, place, asked.current_leader_epoch)
    if asked.timestamp == REPEATED and error != ErrorCode.TOPIC_AUTHORIZATION_FAILED:
        return (place[1], ErrorCode.INVALID_REQUEST, *_NOT_FOUND, -1)
    is_unknown = event.version < FIRST_VERSIONS.get(asked.timestamp, 0) or asked.timestamp < PENDING
    if is_unknown and error != ErrorCode.TOPIC_AUTHORIZATION_FAILED:
        error = ErrorCode.UNSUPPORTED_VERSION
    if error or asked.timestamp in {TIERED, PENDING}:
        return (place[1], error, *_NOT_FOUND, -1)
    one = asking.broker.partitions[name][place[1]]
    end = one.end if replica >= 0 else asking.broker.high_watermark(*place)
    if asked.timestamp == LATEST and end < one.found:
        # A new leader that has not committed the records of its predecessor (KIP-207).
        is_new = event.version >= NOT_AVAILABLE_FROM
        late = ErrorCode.OFFSET_NOT_AVAILABLE if is_new else ErrorCode.LEADER_NOT_AVAILABLE
        return (place[1], late, *_NOT_FOUND, -1)
    return (place[1], error, end if asked.timestamp == LATEST else one.start, -1, -1)


def _error(asking: Asking, event: Received, place: Place, known_epoch: int) -> ErrorCode:
    if not asking.rights.allows(event, DESCRIBE, TOPIC, place[0]):
        return ErrorCode.TOPIC_AUTHORIZATION_FAILED
    return asking.broker.error(*place, known_epoch)


def _end_searches(
    asking: Asking, event: Received, request: list_offsets_request.ListOffsetsRequest
) -> dict[tuple[int, int], int]:
    """End the searches of a request; return their results by places in the request."""
    due = []
    for number, topic in enumerate(request.topics):
        for place, one in enumerate(topic.partitions):
            where = (topic.name, one.partition_index)
            is_old = event.version < FIRST_VERSIONS.get(one.timestamp, 0)
            searches = one.timestamp >= 0 or one.timestamp == NEWEST
            if (
                searches
                and not is_old
                and not _error(asking, event, where, one.current_leader_epoch)
            ):
                partition = asking.broker.partitions[topic.name][one.partition_index]
                committed = asking.broker.high_watermark(*where)
                end = partition.end if request.replica_id >= 0 else committed
                found = (asking.broker.ids[topic.name], one.partition_index)
                due.append(((number, place), (found, one.timestamp, partition.start, end)))
    under_way = list(asking.rig.searches)
    taken = [
        ((one.log.topic_id, one.log.partition), one.timestamp_ms, one.start_offset, one.end_offset)
        for one in under_way
    ]
    same("the searches of ListOffsets", taken, [one for _, one in due])
    results: dict[tuple[int, int], int] = {}
    order = list(zip(due, under_way, strict=True))
    asking.random.shuffle(order)
    for ((where_asked, _), search), offset in zip(order, range(100, 200), strict=False):
        results[where_asked] = asking.random.choice((offset, offset, offset, -1))
        asking.rig.find(search, results[where_asked])
    return results


def _of_search(event: Received, index: int, found: int) -> tuple[object, ...]:
    error = ErrorCode.KAFKA_STORAGE_ERROR if found < 0 else ErrorCode.NONE
    return (index, error, found, found, found if event.version >= EPOCHS_FROM else -1)


def epoch_ends(asking: Asking) -> None:
    """Ask for the ends of leader epochs, and compare the errors.

    Raises:
        DifferenceError: an answer has another error or place.
    """
    topics = asking.draw_topics()
    module = offset_for_leader_epoch_request
    request = module.OffsetForLeaderEpochRequest(
        topics=tuple(
            module.OffsetForLeaderTopic(
                topic=name,
                partitions=tuple(
                    module.OffsetForLeaderPartition(
                        partition=index, current_leader_epoch=asking.draw_epoch((name, index))
                    )
                    for index in indexes
                ),
            )
            for name, indexes in topics
        )
    )
    event = asking.event(request)
    response = offset_for_leader_epoch_response.OffsetForLeaderEpochResponse
    found = asking.answer(asking.rig.ask(event), response)
    may_all = asking.rights.allows_on_cluster(event, CLUSTER_ACTION)
    for topic, shown in zip(request.topics, found.topics, strict=True):
        name = topic.topic
        may = may_all or asking.rights.allows(event, DESCRIBE, TOPIC, name)
        denied = ErrorCode.TOPIC_AUTHORIZATION_FAILED
        due = [
            (
                one.partition,
                asking.broker.error(name, one.partition, one.current_leader_epoch)
                if may
                else denied,
            )
            for one in topic.partitions
        ]
        same("a topic of OffsetForLeaderEpoch", shown.topic, name)
        parts = [(one.partition, one.error_code) for one in shown.partitions]
        same("the partitions of OffsetForLeaderEpoch", parts, due)


def describe_producers(asking: Asking) -> None:
    """Ask for the producers of partitions, and compare the errors; no batch has a producer.

    Raises:
        DifferenceError: an answer is not the one of the model.
    """
    topics = asking.draw_topics()
    module = describe_producers_request
    request = module.DescribeProducersRequest(
        topics=tuple(
            module.TopicRequest(name=name, partition_indexes=tuple(indexes))
            for name, indexes in topics
        )
    )
    event = asking.event(request)
    response = describe_producers_response.DescribeProducersResponse
    found = asking.answer(asking.rig.ask(event), response)
    same("the topics of producers", [one.name for one in found.topics], [one for one, _ in topics])
    for (name, indexes), shown in zip(topics, found.topics, strict=True):
        may = asking.rights.allows(event, READ, TOPIC, name)
        due = []
        for index in indexes:
            error = asking.broker.error_of_replica(name, index)
            denied = ErrorCode.TOPIC_AUTHORIZATION_FAILED
            has_reason = not may or name not in asking.broker.ids
            due.append((index, error if may else denied, has_reason, ()))
        same(
            "the partitions of producers",
            [
                (one.partition_index, one.error_code, bool(one.error_message), one.active_producers)
                for one in shown.partitions
            ],
            due,
        )


def describe_directories(asking: Asking) -> None:
    """Ask for the log directories, of all topics or of some, and compare which has which log.

    Raises:
        DifferenceError: a directory has other logs than in the model.
    """
    module, broker = describe_log_dirs_request, asking.broker
    wanted = None if asking.random.random() < 0.4 else asking.draw_topics()
    request = module.DescribeLogDirsRequest(
        topics=None
        if wanted is None
        else tuple(
            module.DescribableLogDirTopic(topic=name, partitions=tuple(indexes))
            for name, indexes in wanted
        )
    )
    response = describe_log_dirs_response.DescribeLogDirsResponse
    found = asking.answer(asking.rig.ask(asking.event(request)), response)
    asked = None if wanted is None else {(name, one) for name, several in wanted for one in several}
    due: list[tuple[object, ...]] = []
    for second, path in enumerate(PATHS):
        if second and broker.has_failed:
            due.append((path, ErrorCode.KAFKA_STORAGE_ERROR, []))
            continue
        logs = [
            (name, index)
            for name in sorted(broker.ids)
            for index, one in sorted(broker.partitions[name].items())
            if broker.own in one.replicas
            and one.is_in_second == bool(second)
            and (asked is None or (name, index) in asked)
        ]
        due.append((path, ErrorCode.NONE, logs))
    shown = [
        (
            one.log_dir,
            one.error_code,
            [(of.name, each.partition_index) for of in one.topics for each in of.partitions],
        )
        for one in found.results
    ]
    same("the log directories", shown, due)
    for one in found.results:
        for topic in one.topics:
            for each in topic.partitions:
                partition = broker.partitions[topic.name][each.partition_index]
                size = SIZE * (partition.end - partition.start)
                same("the bytes of a log", (each.partition_size, each.offset_lag), (size, 0))
