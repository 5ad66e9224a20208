"""A log directory fails in the middle of a step: no answer claims what was not written."""

import pytest

from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import NodeId, Offset
from kraftproof.node.core.effects import Append, Flush, Reply, Send
from kraftproof.node.core.events import DirectoryFailed, Flushed, Tick, TimestampFound
from kraftproof.node.core.log_effects import (
    CreateLog,
    DeleteLog,
    FindTimestamp,
    LogRead,
    NoteEpoch,
    ReplyWithBatches,
    ReplyWithVolumes,
    WriteCheckpoints,
)
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages.generated import (
    delete_records_response,
    fetch_request,
    fetch_response,
    produce_response,
)
from kraftproof.node.wire.messages.generated.describe_log_dirs_response import (
    DescribeLogDirsResponse,
    DescribeLogDirsResult,
)
from kraftproof.node.wire.types import ZERO_UUID, Uuid
from tests.node.shell.in_memory_partitions import (
    FIRST_OF_METADATA,
    FIRST_OF_OTHER,
    HOME,
    METADATA_HOME,
    OTHER_HOME,
)
from tests.node.shell.in_memory_ports import Rig
from tests.support.node.raw_batches import raw

TOPIC = Uuid(b"a topic's own id")
SICK, SOUND = 1, FIRST_OF_OTHER
"""A partition of the directory that fails, and one of the other."""
ERROR = ErrorCode.KAFKA_STORAGE_ERROR


def log(partition):
    return LogId(TOPIC, partition)


def append(partition):
    return Append(log(partition), raw(0))


def rig(*failing):
    made = Rig()
    made.disk.partitions.failing.update(failing or (HOME,))
    made.disk.partitions.known = [log(SICK), log(SOUND)]
    for client in ("first", "second"):
        made.receive(client)
    return made


def failures(made):
    made.shell.run()
    return [event.directory for event in made.node.events if isinstance(event, DirectoryFailed)]


def produced(*partitions, by_id):
    topic = produce_response.TopicProduceResponse(
        name="" if by_id else "t",
        topic_id=TOPIC if by_id else ZERO_UUID,
        partition_responses=tuple(
            produce_response.PartitionProduceResponse(index=index, base_offset=7)
            for index in partitions
        ),
    )
    return produce_response.ProduceResponse(responses=(topic,))


@pytest.mark.parametrize("by_id", [False, True])
def test_an_acknowledgement_of_a_failed_append_becomes_an_error(by_id):
    made = rig()
    made.start(
        append(SICK),
        append(SOUND),
        Reply(request=1, message=produced(SICK, SOUND, by_id=by_id)),
    )
    ((_, answer),) = made.answers
    parts = answer.responses[0].partition_responses
    assert [(one.error_code, one.base_offset) for one in parts] == [(ERROR, -1), (0, 7)]
    assert made.failure is None
    assert failures(made) == [HOME]
    assert "append 10" in made.notes


def test_a_failed_deletion_ends_the_directory_and_not_the_process():
    made = rig()
    made.start(DeleteLog(log=log(SICK)))
    assert made.failure is None
    assert failures(made) == [HOME]


def test_the_next_event_is_the_failure_and_the_step_after_is_not_corrected():
    made = rig()
    made.runs_when_woken = False
    made.node.planned += [
        [append(SICK)],
        [],
        [Reply(request=1, message=produced(SICK, by_id=True))],
    ]
    made.shell.tick()
    made.shell.tick()
    made.shell.run()
    kinds = [type(event) for event in made.node.events[-3:]]
    assert kinds == [Tick, DirectoryFailed, Tick]
    ((_, answer),) = made.answers
    assert answer.responses[0].partition_responses[0].error_code == 0


def test_a_follower_acknowledges_no_failed_append():
    made = rig()
    topic = fetch_request.FetchTopic(
        topic_id=TOPIC,
        partitions=tuple(
            fetch_request.FetchPartition(partition=index, fetch_offset=9) for index in (SICK, SOUND)
        ),
    )
    fetch = Send(
        destination=NodeId(2),
        correlation=1,
        message=fetch_request.FetchRequest(topics=(topic,)),
        version=17,
        timeout_ns=10**9,
        is_to_broker=True,
    )
    seen = []
    made.peers.send = lambda connection, correlation_id, request: seen.append(request.message)
    made.start(append(SICK), fetch)
    (message,) = seen
    assert [part.partition for part in message.topics[0].partitions] == [SOUND]


def test_deleted_records_and_read_batches_of_a_failed_log_are_errors():
    made = rig()
    made.disk.partitions.stored = {SOUND: b"sound"}
    deleted = delete_records_response.DeleteRecordsTopicResult(
        name="t",
        partitions=(
            delete_records_response.DeleteRecordsPartitionResult(
                partition_index=SICK, low_watermark=3
            ),
        ),
    )
    fetched = fetch_response.FetchableTopicResponse(
        topic_id=TOPIC,
        partitions=tuple(
            fetch_response.PartitionData(partition_index=index, high_watermark=5)
            for index in (SICK, SOUND)
        ),
    )
    reads = tuple(
        LogRead(
            topic_index=0,
            partition_index=place,
            log=log(index),
            offset=Offset(0),
            end_offset=Offset(9),
            max_bytes=100,
        )
        for place, index in enumerate((SICK, SOUND))
    )
    made.start(
        append(SICK),
        Reply(request=1, message=delete_records_response.DeleteRecordsResponse(topics=(deleted,))),
        ReplyWithBatches(
            request=2, message=fetch_response.FetchResponse(responses=(fetched,)), reads=reads
        ),
    )
    (_, deletion), (_, fetch) = made.answers
    part = deletion.topics[0].partitions[0]
    assert (part.error_code, part.low_watermark) == (ERROR, -1)
    found = [
        (one.error_code, one.high_watermark, one.records) for one in fetch.responses[0].partitions
    ]
    assert found == [(ERROR, -1, b""), (0, 5, b"sound")]


def test_a_failed_read_fails_the_directory():
    made = rig()
    part = fetch_response.PartitionData(partition_index=SICK, high_watermark=5)
    message = fetch_response.FetchResponse(
        responses=(fetch_response.FetchableTopicResponse(topic_id=TOPIC, partitions=(part,)),)
    )
    read = LogRead(
        topic_index=0,
        partition_index=0,
        log=log(SICK),
        offset=Offset(0),
        end_offset=Offset(9),
        max_bytes=100,
    )
    made.start(ReplyWithBatches(request=1, message=message, reads=(read,)))
    ((_, answer),) = made.answers
    assert answer.responses[0].partitions[0].error_code == ERROR
    assert failures(made) == [HOME]


def test_effects_on_a_failed_directory_are_left_out_and_look_ups_have_an_answer():
    made = rig()
    made.start(
        CreateLog(log=log(2), topic="t", directory=HOME),
        CreateLog(log=log(3), topic="t", directory=HOME),
        NoteEpoch(log=log(2), epoch=1, start_offset=Offset(0)),
        append(SICK),
        DeleteLog(log=log(SICK)),
        FindTimestamp(
            token=3, log=log(SICK), timestamp_ms=5, start_offset=Offset(0), end_offset=Offset(9)
        ),
        append(SOUND),
        Reply(request=1, message=produced(2, 3, by_id=True)),
    )
    assert made.notes[:3] == ["fail", "append 10", "reply"]
    assert failures(made) == [HOME]
    made.shell.run()
    (found,) = [event for event in made.node.events if isinstance(event, TimestampFound)]
    assert (found.token, found.has_failed) == (3, True)
    parts = made.answers[0][1].responses[0].partition_responses
    assert [part.error_code for part in parts] == [ERROR, ERROR]


def test_a_failed_fsync_fails_the_directory_and_reports_no_flush():
    made = rig(OTHER_HOME)
    made.disk.partitions.failing.clear()
    made.start(
        Flush(log=log(SICK), generation=0, end_offset=Offset(5)),
        Flush(log=log(SOUND), generation=0, end_offset=Offset(5)),
    )
    made.disk.partitions.failing.add(HOME)
    while made.workers.held:
        made.workers.held.popleft()()
    assert failures(made) == [HOME]
    flushed = [event.log for event in made.node.events if isinstance(event, Flushed)]
    assert flushed == [log(SOUND)]


def test_the_directory_of_the_metadata_log_ends_the_process():
    made = rig(METADATA_HOME)
    made.start(append(FIRST_OF_METADATA))
    assert made.failure is not None
    assert failures(made) == []


def test_a_failed_checkpoint_fails_its_directory_once():
    made = rig(OTHER_HOME)
    made.disk.fails.add("checkpoints")
    made.start(WriteCheckpoints(high_watermarks=()), WriteCheckpoints(high_watermarks=()))
    while made.workers.held:
        made.workers.held.popleft()()
    assert failures(made) == [HOME]


def test_the_volumes_are_added_to_the_described_directories():
    made = rig()
    results = tuple(
        DescribeLogDirsResult(log_dir=path, error_code=error)
        for path, error in (("/a", 0), ("/gone", 0), ("/b", ERROR))
    )
    made.start(ReplyWithVolumes(request=1, message=DescribeLogDirsResponse(results=results)))
    ((_, answer),) = made.answers
    found = [(one.error_code, one.total_bytes, one.usable_bytes) for one in answer.results]
    assert found == [(0, 100, 50), (ERROR, -1, -1), (ERROR, -1, -1)]
