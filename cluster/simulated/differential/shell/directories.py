"""Compare what the shell does with the logs of partitions, and when a directory fails."""

from random import Random
from types import SimpleNamespace
from typing import Any, Final, cast

from kraftproof.cluster.simulated.differential.difference import check, same
from kraftproof.cluster.simulated.differential.shell.background import compare_background
from kraftproof.cluster.simulated.differential.shell.partitions_rig import (
    HOME,
    LOGS,
    TOPIC,
    TOPIC_ID,
    PartitionsRig,
)
from kraftproof.cluster.simulated.differential.shell.requests import new_request
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import Epoch, NodeId, Offset
from kraftproof.node.core.effects import Append, Flush, Reply, Send, Truncate
from kraftproof.node.core.events import BatchesRead, DirectoryFailed, TimestampFound
from kraftproof.node.core.log_effects import (
    CreateLog,
    FindTimestamp,
    LogRead,
    ReplyWithBatches,
)
from kraftproof.node.shell.failed_logs import FailedLogs
from kraftproof.node.wire.messages.generated import (
    delete_records_response,
    fetch_request,
    fetch_response,
    produce_response,
)

STORAGE_ERROR: Final = 56


def compare_shell_directories(random: Random) -> None:
    """Answer Fetches from logs, and fail writes, flushes and creations.

    Raises:
        DifferenceError: the shell has another result than the model.
    """
    _compare_reads(random)
    _compare_failures(random)
    compare_background(random)


def _compare_reads(random: Random) -> None:
    """Answer a Fetch of several partitions with a limit for the whole answer."""
    disk = PartitionsRig(is_vital=False)
    logs, limit = random.sample(LOGS, 3), random.choice((0, 15, 35, 1 << 20))
    disk.fails = random.choice(("", "", "read"))
    parts = tuple(
        fetch_response.PartitionData(partition_index=log.partition, high_watermark=9)
        for log in logs
    )
    topic = fetch_response.FetchableTopicResponse(topic=TOPIC, topic_id=TOPIC_ID, partitions=parts)
    reads = tuple(
        LogRead(
            topic_index=0,
            partition_index=place,
            log=log,
            offset=Offset(0),
            end_offset=Offset(5),
            max_bytes=random.choice((5, 15, 100)),
            may_exceed=random.random() < 0.8,
        )
        for place, log in enumerate(logs)
    )
    counted = random.choice((0, 25, 1_000))
    is_counted = random.random() < 0.7
    effect = ReplyWithBatches(
        request=3,
        message=fetch_response.FetchResponse(responses=(topic,)),
        reads=reads,
        max_bytes=limit,
        counted_for=new_request(3) if is_counted else None,
        counted_bytes=counted,
    )
    disk.handlers[ReplyWithBatches](effect)
    left, expected = limit, list[tuple[int, int, bytes]]()
    for read in reads:
        data, most = disk.data[read.log], max(min(read.max_bytes, left), 0)
        is_first = not any(one[2] for one in expected)
        fits = len(data) <= most or (read.may_exceed and is_first)
        data = data if fits and not disk.fails else b""
        error = STORAGE_ERROR if disk.fails else 0
        expected.append((read.log.partition, error, data))
        left -= len(data)
    (reply,) = disk.replies
    assert isinstance(reply.message, fetch_response.FetchResponse), "the answer of a Fetch"
    found = [
        (one.partition_index, one.error_code, one.records)
        for one in reply.message.responses[0].partitions
    ]
    same("the batches of a Fetch", (reply.request, found), (3, expected))
    excess = limit - left - counted
    posted = [BatchesRead(received=new_request(3), excess_bytes=excess)] if excess > 0 else []
    same("the excess of a Fetch", disk.posted, posted if is_counted else [])


def _compare_failures(random: Random) -> None:
    """Fail a write, a flush or a creation: the directory ends, or the process."""
    is_vital = random.random() < 0.3
    disk, log = PartitionsRig(is_vital=is_vital), random.choice(LOGS[1:])
    batch = cast("Any", SimpleNamespace())
    kinds: dict[str, object] = {
        "append": Append(log, batch),
        "truncate": Truncate(log, Offset(0)),
        "start_flush": Flush(log=log, generation=0, end_offset=Offset(0)),
        "fsync": Flush(log=log, generation=0, end_offset=Offset(0)),
        "create": CreateLog(log=log, topic=TOPIC, directory=HOME),
    }
    disk.fails = random.choice(sorted(kinds))
    effect = kinds[disk.fails]
    disk.handlers[type(effect)](effect)
    if is_vital:
        same("a failed disk ends the process", (len(disk.ended), disk.posted), (1, []))
        return
    same("a failed directory", (disk.has_failed, len(disk.ended)), (True, 0))
    (event,) = disk.posted
    assert isinstance(event, DirectoryFailed), "the node hears of the directory first"
    same("the failed directory of an event", event.directory, HOME)
    check("the reason of a failure", "Input/output error" in event.reason)
    disk.fails = ""
    disk.calls.clear()
    disk.handlers[Append](Append(log, batch))
    disk.handlers[Flush](Flush(log=log, generation=0, end_offset=Offset(0)))
    disk.handlers[CreateLog](CreateLog(log=log, topic=TOPIC, directory=HOME))
    same("effects on a failed directory", disk.calls, [])
    disk.posted.clear()
    asked = FindTimestamp(
        token=8, log=log, timestamp_ms=1, start_offset=Offset(0), end_offset=Offset(1)
    )
    disk.handlers[FindTimestamp](asked)
    lost = TimestampFound(
        token=8, offset=Offset(-1), timestamp_ms=-1, epoch=Epoch(-1), has_failed=True
    )
    same("a look-up in a failed directory", disk.posted, [lost])
    disk.handlers[Append](Append(LOGS[0], batch))
    same("effects on another directory", [name for name, _ in disk.calls], ["append"])
    _compare_corrected(disk, log)


def _compare_corrected(disk: PartitionsRig, log: LogId) -> None:
    """Correct answers that were decided before the failure."""
    failed, number = disk.executor.failed, log.partition
    assert failed is not None, "the step knows the failed logs"
    part = produce_response.PartitionProduceResponse
    topic = produce_response.TopicProduceResponse(
        name=TOPIC,
        partition_responses=(
            part(index=number, base_offset=4),
            part(index=0, base_offset=5),
            part(index=number, base_offset=-1, error_code=3),
        ),
    )
    reply = failed.correct(
        Reply(request=1, message=produce_response.ProduceResponse(responses=(topic,)))
    )
    found = cast("Any", reply).message.responses[0].partition_responses
    facts = [(one.index, one.error_code, one.base_offset) for one in found]
    expected = [(number, STORAGE_ERROR, -1), (0, 0, 5), (number, 3, -1)]
    same("an answer to a Produce", facts, expected)
    deleted = delete_records_response
    rows = tuple(
        deleted.DeleteRecordsPartitionResult(partition_index=one, low_watermark=3)
        for one in (0, number)
    )
    topics = (deleted.DeleteRecordsTopicResult(name=TOPIC, partitions=rows),)
    reply = failed.correct(Reply(request=1, message=deleted.DeleteRecordsResponse(topics=topics)))
    found = cast("Any", reply).message.topics[0].partitions
    facts = [(one.partition_index, one.error_code, one.low_watermark) for one in found]
    same("an answer to a DeleteRecords", facts, [(0, 0, 3), (number, STORAGE_ERROR, -1)])
    asked = fetch_request.FetchTopic(
        topic=TOPIC,
        partitions=tuple(fetch_request.FetchPartition(partition=one) for one in (number, 0)),
    )
    only = fetch_request.FetchTopic(
        topic=TOPIC, partitions=(fetch_request.FetchPartition(partition=number),)
    )
    for is_to_broker in (True, False):
        send = Send(
            destination=NodeId(1),
            correlation=1,
            message=fetch_request.FetchRequest(topics=(asked, only)),
            version=12,
            timeout_ns=1,
            is_to_broker=is_to_broker,
        )
        corrected = cast("Any", failed.correct(send)).message.topics
        numbers = [[one.partition for one in topic.partitions] for topic in corrected]
        same("a Fetch of a follower", numbers, [[0]] if is_to_broker else [[number, 0], [number]])
    _compare_corrected_fetch(failed, number)
    other = Truncate(log, Offset(0))
    check("an effect without a claim", failed.correct(other) is other)


def _compare_corrected_fetch(failed: FailedLogs, number: int) -> None:
    """Correct the answer to a Fetch, and its reads."""
    answer = fetch_response.FetchResponse(
        responses=(
            fetch_response.FetchableTopicResponse(
                topic_id=TOPIC_ID,
                partitions=tuple(
                    fetch_response.PartitionData(partition_index=one, high_watermark=7)
                    for one in (0, number)
                ),
            ),
        )
    )
    reads = tuple(
        LogRead(
            topic_index=0,
            partition_index=place,
            log=LOGS[one],
            offset=Offset(0),
            end_offset=Offset(1),
            max_bytes=1,
        )
        for place, one in enumerate((0, number))
    )
    fetched = cast("Any", failed.correct(ReplyWithBatches(request=1, message=answer, reads=reads)))
    rows_found = fetched.message.responses[0].partitions
    errors = [(one.partition_index, one.error_code, one.high_watermark) for one in rows_found]
    same("an answer to a Fetch", errors, [(0, 0, 7), (number, STORAGE_ERROR, -1)])
    same("the reads of a Fetch", fetched.reads, reads[:1])
