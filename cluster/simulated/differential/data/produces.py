"""Compare the answers to Produce of many partitions with the model of a broker."""

from dataclasses import dataclass
from typing import Final

from kraftproof.cluster.simulated.background.client_batches import (
    NO_PRODUCER,
    TRANSACTIONAL,
    ClientRecord,
    Header,
    client_batch,
    encode_batch,
)
from kraftproof.cluster.simulated.differential.bare_data_plane import START_MS
from kraftproof.cluster.simulated.differential.data.asking import Asking, Place
from kraftproof.cluster.simulated.differential.data.drawn_broker import INTERNAL
from kraftproof.cluster.simulated.differential.data.drawn_rights import TRANSACTIONAL_ID
from kraftproof.cluster.simulated.differential.difference import check, same
from kraftproof.cluster.simulated.invariants.security.authorized_answers import TOPIC, WRITE
from kraftproof.node.core.events import Received
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import produce_request, produce_response
from kraftproof.node.wire.types import ZERO_UUID

IDS_FROM, LEADERS_FROM, REASONS_FROM, STARTS_FROM = 13, 10, 8, 5
ALL, NONE = -1, 0
ACKS: Final = (ALL, ALL, 1, 1, NONE, 2)
WAIT_MS: Final = 50
Request = produce_request.ProduceRequest
Response = produce_response.ProduceResponse


@dataclass(slots=True, kw_only=True)
class _Due:
    """The answer about a partition."""

    place: Place
    error: ErrorCode = ErrorCode.NONE
    base: int = -1
    start: int = -1
    has_reason: bool = False
    waits: bool = False
    appended_ms: int = -1
    """The time of the append, where the topic stamps its records."""


def produce(asking: Asking) -> None:
    """Send a batch to each of some partitions, and compare the whole answer.

    Raises:
        DifferenceError: the answer is not the one of the model.
    """
    random = asking.random
    topics = asking.draw_topics()
    transactional_id = random.choice((None, None, None, "t", "tu"))
    time_ms = START_MS + asking.rig.time_ms
    sound = client_batch([b"v"], time_ms, NO_PRODUCER)
    odd = random.choice((None, None, _of_transaction(time_ms)))
    data = [[random.choice((sound, sound, sound, odd)) for _ in indexes] for _, indexes in topics]
    request = Request(
        transactional_id=transactional_id,
        acks=random.choice(ACKS),
        timeout_ms=WAIT_MS,
        topic_data=tuple(
            produce_request.TopicProduceData(
                name=name,
                topic_id=asking.id_of(name),
                partition_data=tuple(
                    produce_request.PartitionProduceData(index=index, records=one)
                    for index, one in zip(indexes, batches, strict=True)
                ),
            )
            for (name, indexes), batches in zip(topics, data, strict=True)
        ),
    )
    event = asking.event(request)
    due = [
        [
            _due(asking, event, request, (name, index), one)
            for index, one in dict(zip(indexes, batches, strict=True)).items()
        ]
        for (name, indexes), batches in zip(topics, data, strict=True)
    ]
    token = asking.rig.ask(event)
    every = [one for of_topic in due for one in of_topic]
    if request.acks == NONE:
        end = asking.rig.ended.pop(token, None)
        has_error = any(one.error for one in every)
        closes = end is not None and end.closes_connection
        check("a Produce without acks ends, with its connection after an error", end is not None)
        same("a Produce without acks closes the connection", closes, has_error)
        return
    if any(one.waits for one in every):
        asking.wait_for("a Produce without acknowledgements", token, WAIT_MS)
    for one in every:
        one.error = ErrorCode.REQUEST_TIMED_OUT if one.waits else one.error
    _compare(asking, event, request, due, asking.answer(token, Response))


def _of_transaction(time_ms: int) -> bytes:
    return encode_batch(
        [ClientRecord(b"v", time_ms, b"k")], Header(producer=(5, 0, 0), flags=TRANSACTIONAL)
    )


def _has_transaction(request: Request) -> bool:
    batches = [one.records for topic in request.topic_data for one in topic.partition_data]
    return any(one is not None and one[22] & TRANSACTIONAL for one in batches)


def _due(
    asking: Asking, event: Received, request: Request, place: Place, data: bytes | None
) -> _Due:
    """Return the answer about a batch, and append the batch to the model."""
    broker, name = asking.broker, place[0]
    error = _denial(asking, event, request, name)
    if not error and place[1] not in broker.partitions.get(name, {}):
        is_nameless = event.version >= IDS_FROM and name not in broker.ids
        error = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        error = ErrorCode.UNKNOWN_TOPIC_ID if is_nameless else error
    if not error and data is None:
        return _Due(place=place, error=ErrorCode.INVALID_RECORD, has_reason=True)
    if not error and request.acks not in {ALL, 0, 1}:
        error = ErrorCode.INVALID_REQUIRED_ACKS
    if not error:
        error = ErrorCode.INVALID_TOPIC_EXCEPTION if name in INTERNAL else broker.error(*place)
    if error:
        return _Due(place=place, error=error)
    one = broker.partitions[name][place[1]]
    if request.acks == ALL and len(one.isr) < broker.needed(name, one):
        return _Due(place=place, error=ErrorCode.NOT_ENOUGH_REPLICAS, start=one.start)
    if name in broker.compacted or (data is not None and data[22] & TRANSACTIONAL):
        wrong = ErrorCode.INVALID_RECORD
        return _Due(place=place, error=wrong, start=one.start, has_reason=True)
    one.end += 1
    waits = request.acks == ALL and broker.high_watermark(*place) < one.end
    appended_ms = START_MS + asking.rig.time_ms if name in broker.stamped else -1
    return _Due(
        place=place, base=one.end - 1, start=one.start, waits=waits, appended_ms=appended_ms
    )


def _denial(asking: Asking, event: Received, request: Request, name: str) -> ErrorCode:
    """Return the error of a producer without a right; an unknown id is no denial."""
    rights, transactional_id = asking.rights, request.transactional_id
    if _has_transaction(request) and (
        transactional_id is None
        or not rights.allows(event, WRITE, TRANSACTIONAL_ID, transactional_id)
    ):
        return ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
    is_nameless = event.version >= IDS_FROM and name not in asking.broker.ids
    if is_nameless or rights.allows(event, WRITE, TOPIC, name):
        return ErrorCode.NONE
    return ErrorCode.TOPIC_AUTHORIZATION_FAILED


def _compare(
    asking: Asking, event: Received, request: Request, due: list[list[_Due]], found: Response
) -> None:
    broker, version = asking.broker, event.version
    by_id = version >= IDS_FROM
    names = [
        ("", topic.topic_id) if by_id else (topic.name, ZERO_UUID) for topic in request.topic_data
    ]
    what = f"of Produce v{version} acks={request.acks}"
    same(f"the topics {what}", [(one.name, one.topic_id) for one in found.responses], names)
    moved: list[int] = []
    for topic, of_topic in zip(found.responses, due, strict=True):
        shown = []
        for one in of_topic:
            leader = (-1, -1)
            if one.error == ErrorCode.NOT_LEADER_OR_FOLLOWER and version >= LEADERS_FROM:
                leader = broker.leader(*one.place)
                moved.append(leader[0])
            base = -1 if one.error else one.base
            start = one.start if version >= STARTS_FROM else -1
            has_reason = one.has_reason and version >= REASONS_FROM
            appended_ms = -1 if one.error else one.appended_ms
            part = (one.place[1], one.error, base, start, *leader, has_reason, appended_ms)
            shown.append(part)
        same(f"the partitions {what}", [*map(_shown, topic.partition_responses)], shown)
    same(
        f"the endpoints {what}",
        [(one.node_id, one.host, one.port, one.rack) for one in found.node_endpoints],
        broker.endpoints(moved, event.listener),
    )


def _shown(one: produce_response.PartitionProduceResponse) -> tuple[object, ...]:
    return (
        one.index,
        one.error_code,
        one.base_offset,
        one.log_start_offset,
        one.current_leader.leader_id,
        one.current_leader.leader_epoch,
        one.error_message is not None,
        one.log_append_time_ms,
    )
