"""Effects about partitions: each log for itself, and nothing that waits for another log."""

from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import Offset
from kraftproof.node.core.effects import Append, Flush, Truncate
from kraftproof.node.core.events import (
    BatchesRead,
    Flushed,
    ProducersRead,
    Received,
    TimestampFound,
)
from kraftproof.node.core.log_effects import (
    ConfigureLog,
    CreateLog,
    DeleteLog,
    FindTimestamp,
    LogRead,
    NoteEpoch,
    RaiseLogStart,
    ReadProducers,
    ReplyWithBatches,
    RestartLog,
    WriteCheckpoints,
)
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages.generated.fetch_response import (
    FetchableTopicResponse,
    FetchResponse,
    PartitionData,
)
from kraftproof.node.wire.types import Uuid
from tests.node.shell.effects import EXIT, TRUNCATE, send
from tests.node.shell.effects import flush as metadata_flush
from tests.node.shell.in_memory_partitions import FIRST_OF_METADATA, METADATA_HOME
from tests.node.shell.in_memory_ports import Rig
from tests.support.node.raw_batches import raw

TOPIC = Uuid(b"a topic's own id")


def log(partition):
    return LogId(TOPIC, partition)


def flush(partition, end_offset):
    return Flush(log=log(partition), generation=2, end_offset=Offset(end_offset))


def truncate(partition):
    return Truncate(log(partition), Offset(0))


def flushed(rig):
    return [
        (event.log.partition, event.generation, event.end_offset)
        for event in rig.node.events
        if isinstance(event, Flushed)
    ]


def finish(rig, work=0):
    rig.workers.held.rotate(-work)
    rig.workers.held.popleft()()
    rig.workers.held.rotate(work)


def test_one_log_is_flushed_while_another_log_is():
    rig = Rig()
    rig.start(flush(1, 10), flush(2, 20), flush(1, 11), metadata_flush(3))
    assert rig.notes == ["start flush 1", "start flush 2", "start flush 3"]
    finish(rig, 1)
    assert flushed(rig) == [(2, 2, 20)]
    finish(rig, 0)
    assert flushed(rig) == [(2, 2, 20), (1, 2, 10)]
    assert rig.notes[-2:] == ["fsync 1", "start flush 1"]


def test_a_partition_waits_for_no_fsync_and_is_no_barrier():
    rig = Rig()
    rig.workers.has_slow_barriers = True
    rig.start(metadata_flush(1), flush(1, 5), truncate(1), send(1))
    assert rig.notes[2:] == ["truncate 1", "send"]
    assert not rig.shell.is_held
    rig.step(TRUNCATE, send(2))
    assert rig.shell.is_held
    assert rig.notes[-1] == "held"


def test_appends_and_changes_go_to_the_log_that_they_name():
    rig = Rig()
    rig.start(
        CreateLog(log=log(4), topic="t"),
        ConfigureLog(log=log(4), segment_bytes=100),
        Append(log(4), raw(0)),
        NoteEpoch(log=log(4), epoch=1, start_offset=1),
        RaiseLogStart(log=log(4), start_offset=1),
        RestartLog(log=log(4), start_offset=9),
    )
    names = ("create", "configure", "append", "note epoch", "raise start", "restart")
    assert rig.notes == [f"{name} 4" for name in names]
    assert rig.disk.appended == []


def test_a_deleted_log_reports_no_flush():
    rig = Rig()
    rig.start(flush(1, 5), flush(1, 6), DeleteLog(log=log(1)))
    while rig.workers.held:
        finish(rig)
    assert flushed(rig) == []
    assert rig.notes == ["start flush 1", "delete 1", "fsync 1", "removed"]


def test_a_failed_flush_in_the_directory_of_the_metadata_log_ends_the_node():
    rig = Rig()
    rig.start(flush(FIRST_OF_METADATA, 5))
    rig.disk.partitions.failing.add(METADATA_HOME)
    finish(rig)
    assert rig.failure is not None
    assert flushed(rig) == []


def test_look_ups_run_beside_the_steps_and_end_in_their_events():
    rig = Rig()
    rig.start(
        FindTimestamp(
            token=3, log=log(1), timestamp_ms=5, start_offset=Offset(0), end_offset=Offset(9)
        ),
        ReadProducers(log=log(1), generation=4, end_offset=Offset(8)),
        WriteCheckpoints(high_watermarks=()),
        send(1),
    )
    assert rig.notes == ["send"]
    while rig.workers.held:
        finish(rig)
    assert rig.notes == ["send", "look-up", "producers", "checkpoints"]
    found, read = rig.node.events[1:]
    assert isinstance(found, TimestampFound)
    assert (found.token, found.offset) == (3, 5)
    assert isinstance(read, ProducersRead)
    assert (read.log, read.generation, read.end_offset) == (log(1), 4, 8)


def test_a_failed_removal_ends_the_node_and_an_ended_node_hears_nothing():
    rig = Rig()
    rig.start(DeleteLog(log=log(FIRST_OF_METADATA)))
    rig.disk.fails.add("removed")
    finish(rig)
    assert rig.failure is not None
    rig = Rig()
    rig.start(ReadProducers(log=log(1), generation=4, end_offset=Offset(8)), EXIT)
    finish(rig)
    assert rig.events == []


def answer(counts):
    """Return an answer with a topic for each count of partitions."""
    return FetchResponse(
        responses=tuple(
            FetchableTopicResponse(
                topic_id=TOPIC,
                partitions=tuple(PartitionData(partition_index=p) for p in range(count)),
            )
            for count in counts
        )
    )


def reads(*places, max_bytes=100):
    return tuple(
        LogRead(
            topic_index=topic,
            partition_index=partition,
            log=log(number),
            offset=Offset(0),
            end_offset=Offset(9),
            max_bytes=max_bytes,
        )
        for number, (topic, partition) in enumerate(places)
    )


def replied(rig, effect):
    rig.receive("client")
    rig.start(effect)
    ((_, message),) = rig.answers
    return [
        (topic, part.partition_index, part.error_code, part.records)
        for topic, response in enumerate(message.responses)
        for part in response.partitions
    ]


def test_a_fetch_is_answered_with_the_bytes_of_each_log():
    rig = Rig()
    rig.disk.partitions.stored = {0: b"zero", 1: b"", 2: b"two"}
    effect = ReplyWithBatches(
        request=1, message=answer([2, 2]), reads=reads((1, 1), (0, 0), (1, 0))
    )
    assert replied(rig, effect) == [
        (0, 0, 0, b""),
        (0, 1, 0, None),
        (1, 0, 0, b"two"),
        (1, 1, 0, b"zero"),
    ]


def test_only_the_first_batch_of_an_answer_may_exceed_its_limits():
    rig = Rig()
    rig.disk.partitions.stored = {0: b"", 1: b"x" * 60, 2: b"y" * 30, 3: b"z" * 9}
    places = ((0, 0), (0, 1), (0, 2), (0, 3))
    effect = ReplyWithBatches(
        request=1, message=answer([4]), reads=reads(*places, max_bytes=50), max_bytes=70
    )
    found = {index: len(records) for _, index, _, records in replied(rig, effect)}
    assert found == {0: 0, 1: 60, 2: 0, 3: 9}


def excess_of(counted_bytes, *, has_quota=True):
    rig = Rig()
    rig.disk.partitions.stored = {0: b"x" * 60, 1: b"y" * 30}
    rig.start()
    rig.receive("consumer")
    asked = next(event for event in rig.node.events if isinstance(event, Received))
    effect = ReplyWithBatches(
        request=asked.request,
        message=answer([2]),
        reads=reads((0, 0), (0, 1), max_bytes=50),
        counted_for=asked if has_quota else None,
        counted_bytes=counted_bytes,
    )
    rig.step(effect)
    reported = [event for event in rig.node.events if isinstance(event, BatchesRead)]
    assert all(event.received is asked for event in reported)
    return [event.excess_bytes for event in reported]


def test_bytes_above_the_counted_ones_are_reported_for_the_quota_of_the_client():
    assert excess_of(50) == [40]
    assert excess_of(90) == []
    assert excess_of(100) == []
    assert excess_of(50, has_quota=False) == []


def test_a_broken_file_is_an_error_of_its_partition():
    rig = Rig()
    rig.disk.partitions.stored = {0: None, 1: b"sound"}
    effect = ReplyWithBatches(request=1, message=answer([2]), reads=reads((0, 0), (0, 1)))
    assert replied(rig, effect) == [
        (0, 0, ErrorCode.KAFKA_STORAGE_ERROR, b""),
        (0, 1, 0, b"sound"),
    ]
