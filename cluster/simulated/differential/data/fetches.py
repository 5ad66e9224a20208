"""Compare the answers to Fetch of many partitions with the model of a broker."""

from dataclasses import dataclass
from typing import Final

from msgspec.structs import replace

from kraftproof.cluster.simulated.differential.data.asking import Asking, Place
from kraftproof.cluster.simulated.differential.data.drawn_rights import ADMIN
from kraftproof.cluster.simulated.differential.difference import same
from kraftproof.cluster.simulated.invariants.security.authorized_answers import (
    CLUSTER_ACTION,
    READ,
    TOPIC,
)
from kraftproof.node.core.events import Received
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import fetch_request, fetch_response
from kraftproof.node.wire.principal import Principal
from kraftproof.node.wire.types import ZERO_UUID

IDS_FROM, LEADERS_FROM, STATES_FROM, ENDPOINTS_FROM, STARTS_FROM = 13, 12, 15, 16, 5
CONSUMER: Final = -1
STRANGER: Final = 9
"""A broker without a registration."""
WAIT_MS: Final = 40
LARGE: Final = 1 << 20
NO_EPOCH: Final = -1
ADMINISTRATOR: Final = Principal(type="User", name=ADMIN.partition(":")[2])
MOVED: Final = (ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.FENCED_LEADER_EPOCH)
Request = fetch_request.FetchRequest
Response = fetch_response.FetchResponse
Part = fetch_request.FetchPartition


@dataclass(slots=True, kw_only=True)
class _Due:
    """The answer about a partition."""

    place: Place
    error: ErrorCode
    high_watermark: int = -1
    start: int = -1
    read: tuple[int, int] | None = None
    """The range of the records."""


def fetch(asking: Asking) -> None:
    """Fetch from some partitions as a consumer or a follower, and compare the whole answer.

    Raises:
        DifferenceError: the answer is not the one of the model.
    """
    random, broker = asking.random, asking.broker
    replica = random.choice((CONSUMER, CONSUMER, CONSUMER, *broker.others, STRANGER))
    readable = _readable(asking) if random.random() < 0.3 else []
    if readable:
        replica = CONSUMER
    topics = readable or [
        (name, [one for one in indexes if _may_ask(asking, (name, one), replica)])
        for name, indexes in asking.draw_topics()
    ]
    waits = random.random() < 0.5
    bare = Request(
        session_id=random.choice((0, 0, 0, 0, 0, 0, 7)),
        max_wait_ms=WAIT_MS if waits else random.choice((0, -1)),
        min_bytes=1,
        max_bytes=LARGE,
        topics=tuple(
            fetch_request.FetchTopic(
                topic=name,
                topic_id=asking.id_of(name),
                partitions=tuple(
                    _part(asking, (name, one), replica, is_readable=bool(readable))
                    for one in indexes
                ),
            )
            for name, indexes in topics
        ),
    )
    event = asking.event(bare)
    if readable:
        event = replace(event, principal=ADMINISTRATOR)
    request = _by(bare, event.version, replica)
    event = _with(event, request)
    token = asking.rig.ask(event)
    request = replace(request, topics=tuple(map(_once_each, filter(_has_parts, request.topics))))
    due = [
        [
            _due(asking, event, replica, (topic.topic, one.partition), one)
            for one in topic.partitions
        ]
        for topic in request.topics
    ]
    if request.session_id:
        found = asking.answer(token, Response)
        same("a Fetch of a session", found.error_code, int(ErrorCode.FETCH_SESSION_ID_NOT_FOUND))
        return
    every = [one for of_topic in due for one in of_topic]
    is_due = not waits or not every or any(one.error or one.read is not None for one in every)
    if not is_due:
        asking.wait_for("a Fetch without news", token, WAIT_MS)
    _compare(asking, event, request, due, token)
    for one in every:
        if replica != CONSUMER and not one.error:
            partition = broker.partitions[one.place[0]][one.place[1]]
            partition.starts_of_others[replica] = 0


def _readable(asking: Asking) -> list[tuple[str, list[int]]]:
    """Return some partitions with committed records that this broker leads, by topic."""
    random, broker, found = asking.random, asking.broker, dict[str, list[int]]()
    for name, partitions in broker.partitions.items():
        for index, one in partitions.items():
            is_led = not broker.error(name, index) and one.leader == broker.own
            if is_led and one.start < broker.high_watermark(name, index) and random.random() < 0.8:
                found.setdefault(name, []).append(index)
    return list(found.items())


def _has_parts(topic: fetch_request.FetchTopic) -> bool:
    return bool(topic.partitions)


def _once_each(topic: fetch_request.FetchTopic) -> fetch_request.FetchTopic:
    """Return a topic with the last part of each partition, at the place of the first."""
    parts = {one.partition: one for one in topic.partitions}
    return replace(topic, partitions=tuple(parts.values()))


def _may_ask(asking: Asking, place: Place, replica: int) -> bool:
    """Return whether a Fetch keeps the ISR: a follower outside may join by its Fetch."""
    one = asking.broker.partitions.get(place[0], {}).get(place[1])
    return one is None or replica not in one.replicas or replica in one.isr


def _part(asking: Asking, place: Place, replica: int, *, is_readable: bool) -> Part:
    one = asking.broker.partitions.get(place[0], {}).get(place[1])
    if is_readable and one is not None:
        return Part(
            partition=place[1],
            fetch_offset=asking.random.choice((one.start, one.start, one.end - 1)),
            partition_max_bytes=LARGE,
            log_start_offset=-1,
            current_leader_epoch=asking.random.choice((NO_EPOCH, one.epoch)),
        )
    end = 0 if one is None else one.end
    offset = 0 if replica != CONSUMER else asking.random.choice((0, end, end + 1, end - 1, 1))
    return Part(
        partition=place[1],
        fetch_offset=offset,
        partition_max_bytes=LARGE,
        log_start_offset=0 if replica != CONSUMER else -1,
        current_leader_epoch=asking.draw_epoch(place),
    )


def _by(request: Request, version: int, replica: int) -> Request:
    """Return the request of a replica, whose place depends on the version."""
    if version < STATES_FROM:
        return replace(request, replica_id=replica)
    state = fetch_request.ReplicaState(
        replica_id=replica, replica_epoch=NO_EPOCH if replica == CONSUMER else 10 + replica
    )
    return replace(request, replica_state=state)


def _with(event: Received, request: Request) -> Received:
    return replace(event, message=request)


def _due(asking: Asking, event: Received, replica: int, place: Place, asked: Part) -> _Due:
    """Return the answer about a partition."""
    broker, name = asking.broker, place[0]
    by_id, is_known = event.version >= IDS_FROM, name in broker.ids
    if replica != CONSUMER:
        may = asking.rights.allows_on_cluster(event, CLUSTER_ACTION)
    else:
        may = (by_id and not is_known) or asking.rights.allows(event, READ, TOPIC, name)
    if not may:
        return _Due(place=place, error=ErrorCode.TOPIC_AUTHORIZATION_FAILED)
    if not is_known:
        unknown = ErrorCode.UNKNOWN_TOPIC_ID if by_id else ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return _Due(place=place, error=unknown)
    error = broker.error(*place, asked.current_leader_epoch)
    if error:
        return _Due(place=place, error=error)
    one = broker.partitions[name][place[1]]
    if replica != CONSUMER and replica not in one.replicas:
        knows = asked.current_leader_epoch != NO_EPOCH
        moved, newer = ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.UNKNOWN_LEADER_EPOCH
        return _Due(place=place, error=newer if knows else moved)
    if not one.start <= asked.fetch_offset <= one.end:
        return _Due(place=place, error=ErrorCode.OFFSET_OUT_OF_RANGE)
    committed = broker.high_watermark(*place)
    end = committed if replica == CONSUMER else one.end
    offset = asked.fetch_offset
    read = (offset, end) if offset < end else None
    return _Due(place=place, error=error, high_watermark=committed, start=one.start, read=read)


def _compare(
    asking: Asking, event: Received, request: Request, due: list[list[_Due]], token: int
) -> None:
    broker, version = asking.broker, event.version
    what = f"of Fetch v{version}"
    found = asking.answer(token, Response)
    by_id = version >= IDS_FROM
    names = [("", one.topic_id) if by_id else (one.topic, ZERO_UUID) for one in request.topics]
    same(f"the topics {what}", [(one.topic, one.topic_id) for one in found.responses], names)
    moved: list[int] = []
    reads = []
    for number, (topic, of_topic) in enumerate(zip(found.responses, due, strict=True)):
        shown = []
        for place, one in enumerate(of_topic):
            leader = (-1, -1)
            if one.error in MOVED and version >= LEADERS_FROM:
                leader = broker.leader(*one.place)
                moved.append(leader[0])
            ends = (one.high_watermark, one.start if version >= STARTS_FROM else -1)
            if one.error == ErrorCode.OFFSET_OUT_OF_RANGE:
                ends = (-1, -1)
            shown.append((one.place[1], one.error, *ends, *leader))
            if one.read is not None:
                reads.append((number, place, broker.ids[one.place[0]], one.place[1], *one.read))
        same(f"the partitions {what}", [*map(_shown, topic.partitions)], shown)
    read = asking.rig.reads.pop(token, ())
    first = [(index == 0) for index in range(len(read))]
    same(f"the first records {what} may exceed the size", [one.may_exceed for one in read], first)
    taken = [
        (
            one.topic_index,
            one.partition_index,
            one.log.topic_id,
            one.log.partition,
            one.offset,
            one.end_offset,
        )
        for one in read
    ]
    same(f"the records {what}", taken, reads)
    same(
        f"the endpoints {what}",
        [(one.node_id, one.host, one.port, one.rack) for one in found.node_endpoints],
        broker.endpoints(moved, event.listener) if version >= ENDPOINTS_FROM else [],
    )


def _shown(one: fetch_response.PartitionData) -> tuple[object, ...]:
    return (
        one.partition_index,
        one.error_code,
        one.high_watermark,
        one.log_start_offset,
        one.current_leader.leader_id,
        one.current_leader.leader_epoch,
    )
