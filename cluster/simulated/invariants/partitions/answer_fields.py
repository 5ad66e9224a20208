"""Invariant of the fields beside the records: starts, epochs, high watermarks and sizes."""

from collections.abc import Iterator
from typing import ClassVar, Final

from typing_extensions import override

from kraftproof.cluster.simulated.disk.partition_mirrors import PartitionMirror
from kraftproof.cluster.simulated.invariants.invariant import ProcessView, Requests
from kraftproof.cluster.simulated.invariants.partitions.replicas import (
    NewestImage,
    Replicas,
)
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.events import Received
from kraftproof.node.wire.messages import (
    Message,
    fetch_request,
    fetch_response,
    list_offsets_request,
    list_offsets_response,
    produce_request,
    produce_response,
)
from kraftproof.node.wire.records.raw_batch import parse_batches
from kraftproof.node.wire.types import ZERO_UUID, Uuid

EARLIEST: Final = frozenset((-2, -4))
EPOCHS_FROM: Final = 4
"""The first version of ListOffsets with leader epochs in the answers."""
LEADERS_FROM: Final = 12
"""The first version of Fetch whose answers name the current leader."""


class AnswersNameTheLog(Replicas):
    """Clients go on from the offsets of an answer, and bound their memory by its size."""

    statement = (
        "Answers name the start of the leader's log and the epoch of the first record; a Fetch "
        "below the start is refused; the last stable offset is the high watermark, and not beyond "
        "the log; an answer has at most the wanted bytes, or one batch."
    )
    requests: ClassVar[Requests] = (
        fetch_request.FetchRequest,
        list_offsets_request.ListOffsetsRequest,
        produce_request.ProduceRequest,
    )

    def __init__(self, newest: NewestImage | None = None) -> None:
        super().__init__(newest)
        self._arrived: dict[tuple[int, int, int], dict[LogId, tuple[int, int]]] = {}
        """By node, incarnation and request: the generation and the start of each log.

        A Produce and a ListOffsets may wait, and the start of a log may be raised in this time.
        """

    @override
    def on_data_received(self, process: ProcessView, event: Received) -> None:
        logs = list(self._named(event.message))
        if logs:
            found = ((log, process.partitions.get(log)) for log in logs)
            self._arrived[process.node_id, process.incarnation, event.request] = {
                log: (mirror.generation, mirror.start_offset)
                for log, mirror in found
                if mirror is not None
            }

    @override
    def on_data_answered(self, process: ProcessView, event: Received, message: Message) -> None:
        key = (process.node_id, process.incarnation, event.request)
        arrived = self._arrived.pop(key, {})
        match event.message, message:
            case fetch_request.FetchRequest(), fetch_response.FetchResponse():
                self._judge_fetched(process, event.message, message)
            case (
                list_offsets_request.ListOffsetsRequest(),
                list_offsets_response.ListOffsetsResponse(),
            ):
                for log, told, epoch in self._earliest(event.message, message):
                    self._judge_start(process, log, told, arrived)
                    if event.version >= EPOCHS_FROM:
                        self._judge_epoch(process, log, told, epoch)
            case produce_request.ProduceRequest(), produce_response.ProduceResponse():
                for log, _, result in self._results(event.message, message):
                    if not result.error_code and result.log_start_offset >= 0:
                        self._judge_start(process, log, result.log_start_offset, arrived)
            case _:
                pass

    def _named(self, request: Message) -> Iterator[LogId]:
        """Yield the logs of a request that may wait, and whose answer names starts."""
        named: list[tuple[str, Uuid, int]] = []
        match request:
            case produce_request.ProduceRequest() if request.acks:
                named = [
                    (topic.name, topic.topic_id, data.index)
                    for topic in request.topic_data
                    for data in topic.partition_data
                ]
            case list_offsets_request.ListOffsetsRequest():
                named = [
                    (topic.name, ZERO_UUID, asked.partition_index)
                    for topic in request.topics
                    for asked in topic.partitions
                ]
            case _:
                return
        for name, topic_id, index in named:
            log = self._log_of(name, topic_id, index)
            if log is not None:
                yield log

    def _judge_fetched(
        self,
        process: ProcessView,
        request: fetch_request.FetchRequest,
        answer: fetch_response.FetchResponse,
    ) -> None:
        for log, part in self._fetched(answer):
            mirror = process.partitions.get(log)
            if mirror is not None and part.log_start_offset != mirror.start_offset:
                detail = _another_start(log, mirror, part.log_start_offset)
                self.monitor.report_violation(self, process, detail)
        for log, part in self._fetched(answer):
            mirror = process.partitions.get(log)
            if mirror is not None and part.high_watermark > mirror.end_offset:
                end = f"ends at {mirror.end_offset}, high watermark {part.high_watermark}"
                self.monitor.report_violation(self, process, f"log {log}: {end}")
        for wrong in (*_wrong_sizes(request, answer), *_below(request, answer)):
            self.monitor.report_violation(self, process, wrong)

    def _judge_start(
        self, process: ProcessView, log: LogId, told: int, arrived: dict[LogId, tuple[int, int]]
    ) -> None:
        """Compare the told start of a log with the starts at the arrival and at the answer."""
        mirror = process.partitions.get(log)
        if mirror is None or log not in arrived:
            return
        generation, start = arrived[log]
        if generation == mirror.generation and not start <= told <= mirror.start_offset:
            self.monitor.report_violation(self, process, _another_start(log, mirror, told))

    def _judge_epoch(self, process: ProcessView, log: LogId, told: int, epoch: int) -> None:
        """Compare the epoch beside the start of a log with the first record."""
        mirror = process.partitions.get(log)
        if mirror is None or told < mirror.start_offset:
            return  # the first record of the arrival is gone
        first = next(mirror.after(told), None)
        if first is not None and first.epoch != epoch:
            detail = f"log {log}: epoch {epoch} is told with offset {told}"
            found = f"{detail}, the record has epoch {first.epoch}"
            self.monitor.report_violation(self, process, found)

    def _earliest(
        self,
        request: list_offsets_request.ListOffsetsRequest,
        answer: list_offsets_response.ListOffsetsResponse,
    ) -> Iterator[tuple[LogId, int, int]]:
        """Yield logs with the starts that an answer names, and the epochs beside the starts."""
        for topic, listed in zip(request.topics, answer.topics, strict=True):
            for asked, at in zip(topic.partitions, listed.partitions, strict=True):
                log = self._log_of(topic.name, ZERO_UUID, asked.partition_index)
                if log is not None and asked.timestamp in EARLIEST and not at.error_code:
                    yield log, at.offset, at.leader_epoch


def _another_start(log: LogId, mirror: PartitionMirror, told: int) -> str:
    return f"log {log}: starts at {mirror.start_offset}, and {told} is told"


def _wrong_sizes(
    request: fetch_request.FetchRequest, answer: fetch_response.FetchResponse
) -> Iterator[str]:
    """Describe parts that are larger than wanted, and other last stable offsets."""
    total, is_first = 0, True
    for topic, answered in zip(request.topics, answer.responses, strict=False):
        for asked, part in zip(topic.partitions, answered.partitions, strict=True):
            if part.error_code:
                continue
            if part.last_stable_offset != part.high_watermark:
                end = f"last stable offset {part.last_stable_offset}"
                yield f"{end} with high watermark {part.high_watermark}"
            records = part.records
            if not records:
                continue
            assert isinstance(records, bytes), "partitions have bytes"
            most = max(min(asked.partition_max_bytes, request.max_bytes - total), 0)
            if len(records) > most and not (is_first and _is_one_batch(records)):
                yield f"{len(records)} bytes are returned, {most} are wanted"
            total += len(records)
            is_first = False


def _below(
    request: fetch_request.FetchRequest, answer: fetch_response.FetchResponse
) -> Iterator[str]:
    """Describe parts that are served below the told start of the log."""
    for topic, answered in zip(request.topics, answer.responses, strict=False):
        for asked, part in zip(topic.partitions, answered.partitions, strict=True):
            is_served = not part.error_code and part.diverging_epoch.end_offset < 0
            if is_served and asked.fetch_offset < part.log_start_offset:
                start = f"the log starts at {part.log_start_offset}"
                yield f"a Fetch from offset {asked.fetch_offset} is served, {start}"


def _is_one_batch(records: bytes) -> bool:
    return sum(1 for _ in parse_batches(records, allow_partial=True)) <= 1
