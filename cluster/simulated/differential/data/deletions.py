"""Compare the answers to DeleteRecords of many partitions with the model of a broker."""

from typing import Final

from kraftproof.cluster.simulated.differential.data.asking import Asking, Place
from kraftproof.cluster.simulated.differential.difference import same
from kraftproof.cluster.simulated.invariants.security.authorized_answers import DELETE, TOPIC
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import delete_records_request, delete_records_response

WAIT_MS: Final = 30
HIGH_WATERMARK: Final = -1
DENIED: Final = ErrorCode.TOPIC_AUTHORIZATION_FAILED


def delete_records(asking: Asking) -> None:
    """Delete the first records of some partitions, and compare the whole answer.

    Raises:
        DifferenceError: the answer is not the one of the model.
    """
    module = delete_records_request
    topics = [
        (name, [(index, _draw_offset(asking, (name, index))) for index in indexes])
        for name, indexes in asking.draw_topics()
    ]
    request = module.DeleteRecordsRequest(
        timeout_ms=WAIT_MS,
        topics=tuple(
            module.DeleteRecordsTopic(
                name=name,
                partitions=tuple(
                    module.DeleteRecordsPartition(partition_index=index, offset=offset)
                    for index, offset in parts
                ),
            )
            for name, parts in topics
        ),
    )
    event = asking.event(request)
    topics = [(name, [*dict(parts).items()]) for name, parts in topics]
    due: list[list[tuple[int, ErrorCode, int]]] = []
    for name, parts in topics:
        may = asking.rights.allows(event, DELETE, TOPIC, name)
        due.append(
            [
                (index, DENIED if not may else _raise_start(asking, (name, index), offset), offset)
                for index, offset in parts
            ]
        )
    token = asking.rig.ask(event)
    # Kept apart from the errors: the last deletion of a partition decides about its low watermark.
    offsets = {
        (name, index): _asked(asking, (name, index), offset)
        for (name, _), of_topic in zip(topics, due, strict=True)
        for index, error, offset in of_topic
        if not error
    }
    waits = any(_low(asking, place) < offset for place, offset in offsets.items())
    if waits:
        asking.wait_for("a deletion", token, WAIT_MS)
    found = asking.answer(token, delete_records_response.DeleteRecordsResponse)
    for (name, _), of_topic, shown in zip(topics, due, found.topics, strict=True):
        expected: list[tuple[int, ErrorCode, int]] = []
        for index, error, offset in of_topic:
            place = (name, index)
            if error:
                expected.append((index, error, -1))
            elif _low(asking, place) < _asked(asking, place, offset):
                expected.append((index, ErrorCode.REQUEST_TIMED_OUT, -1))
            else:
                expected.append((index, ErrorCode.NONE, _low(asking, place)))
        same("a topic of DeleteRecords", shown.name, name)
        told = [
            (one.partition_index, one.error_code, one.low_watermark) for one in shown.partitions
        ]
        same("the partitions of DeleteRecords", told, expected)


def _draw_offset(asking: Asking, place: Place) -> int:
    """Return the offset of a deletion, often the first offset that is not committed."""
    offsets = [HIGH_WATERMARK, 0, 1, 2, -2]
    if not asking.broker.error(*place):
        offsets += [asking.broker.high_watermark(*place) + 1] * 2
    return asking.random.choice(offsets)


def _asked(asking: Asking, place: Place, offset: int) -> int:
    return asking.broker.high_watermark(*place) if offset == HIGH_WATERMARK else offset


def _raise_start(asking: Asking, place: Place, offset: int) -> ErrorCode:
    """Raise the start of a log in the model, and return the error of a deletion."""
    broker = asking.broker
    error = broker.error(*place)
    if error:
        return error
    if broker.policies.get(place[0]) == "compact":
        return ErrorCode.POLICY_VIOLATION
    offset, committed = _asked(asking, place, offset), broker.high_watermark(*place)
    if not 0 <= offset <= committed:
        return ErrorCode.OFFSET_OUT_OF_RANGE
    one = broker.partitions[place[0]][place[1]]
    one.start = max(one.start, offset)
    return ErrorCode.NONE


def _low(asking: Asking, place: Place) -> int:
    """Return the smallest start over the live replicas of a partition."""
    one = asking.broker.partitions[place[0]][place[1]]
    others = [each for each in one.replicas if each != asking.broker.own]
    starts = [
        one.starts_of_others.get(each, -1) for each in others if each not in asking.broker.fenced
    ]
    return min([one.start, *starts])
