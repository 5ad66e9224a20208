"""Invariant of the fields beside the records: starts, epochs, high watermarks and sizes."""

from collections.abc import Iterator
from typing import ClassVar, Final

from typing_extensions import override

from kraftproof.cluster.simulated.disk.partition_mirrors import PartitionMirror
from kraftproof.cluster.simulated.invariants.invariant import ProcessView, Requests
from kraftproof.cluster.simulated.invariants.partitions.replicas import (
    Replicas,
    Settings,
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
from kraftproof.node.wire.types import ZERO_UUID

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

    def __init__(self, static: Settings = ()) -> None:
        super().__init__(static)
        self._arrived: dict[tuple[int, int, int], dict[LogId, tuple[int, int]]] = {}
        """By node, incarnation and Produce: the generation and the start of each log."""

    @override
    def on_data_received(self, process: ProcessView, event: Received) -> None:
        if isinstance(event.message, produce_request.ProduceRequest) and event.message.acks:
            key = (process.node_id, process.incarnation, event.request)
            self._arrived[key] = {
                log: (mirror.generation, mirror.start_offset)
                for log, mirror in self._produced(process, event.message)
            }

    @override
    def on_data_answered(self, process: ProcessView, event: Received, message: Message) -> None:
        for log, start in self._starts(event.message, message):
            mirror = process.partitions.get(log)
            if mirror is not None and start != mirror.start_offset:
                detail = f"log {log}: starts at {mirror.start_offset}, and {start} is told"
                self.monitor.report_violation(self, process, detail)
        self._earliest_epochs(process, event, message)
        for log, high_watermark in self._high_watermarks(message):
            mirror = process.partitions.get(log)
            if mirror is not None and high_watermark > mirror.end_offset:
                detail = f"log {log}: ends at {mirror.end_offset}, high watermark {high_watermark}"
                self.monitor.report_violation(self, process, detail)
        if isinstance(message, fetch_response.FetchResponse):
            assert isinstance(event.message, fetch_request.FetchRequest), "its request"
            for wrong in (*_wrong_sizes(event.message, message), *_below(event.message, message)):
                self.monitor.report_violation(self, process, wrong)
        if isinstance(event.message, produce_request.ProduceRequest):
            key = (process.node_id, process.incarnation, event.request)
            arrived = self._arrived.pop(key, {})
            if isinstance(message, produce_response.ProduceResponse):
                self._judge_produced(process, event.message, message, arrived)

    def _produced(
        self, process: ProcessView, request: produce_request.ProduceRequest
    ) -> Iterator[tuple[LogId, PartitionMirror]]:
        """Yield the logs of a Produce that the broker has."""
        for topic in request.topic_data:
            for data in topic.partition_data:
                log = self._log_of(topic.name, topic.topic_id, data.index)
                mirror = None if log is None else process.partitions.get(log)
                if log is not None and mirror is not None:
                    yield log, mirror

    def _judge_produced(
        self,
        process: ProcessView,
        request: produce_request.ProduceRequest,
        message: produce_response.ProduceResponse,
        arrived: dict[LogId, tuple[int, int]],
    ) -> None:
        """Compare the told start of a log with the starts at the arrival and at the answer."""
        for log, _, result in self._results(request, message):
            mirror, told = process.partitions.get(log), result.log_start_offset
            if mirror is None or log not in arrived or result.error_code or told < 0:
                continue
            generation, start = arrived[log]
            if generation == mirror.generation and not start <= told <= mirror.start_offset:
                detail = f"log {log}: starts at {mirror.start_offset}, and {told} is told"
                self.monitor.report_violation(self, process, detail)

    def _high_watermarks(self, answer: Message) -> Iterator[tuple[LogId, int]]:
        if isinstance(answer, fetch_response.FetchResponse):
            for log, part in self._fetched(answer):
                yield log, part.high_watermark

    def _starts(self, request: Message, answer: Message) -> Iterator[tuple[LogId, int]]:
        """Yield logs with the starts that an answer names."""
        match request, answer:
            case _, fetch_response.FetchResponse():
                for log, part in self._fetched(answer):
                    yield log, part.log_start_offset
            case (
                list_offsets_request.ListOffsetsRequest(),
                list_offsets_response.ListOffsetsResponse(),
            ):
                yield from self._earliest(request, answer)
            case _:
                return

    def _earliest(
        self,
        request: list_offsets_request.ListOffsetsRequest,
        answer: list_offsets_response.ListOffsetsResponse,
    ) -> Iterator[tuple[LogId, int]]:
        for topic, listed in zip(request.topics, answer.topics, strict=True):
            for asked, at in zip(topic.partitions, listed.partitions, strict=True):
                log = self._log_of(topic.name, ZERO_UUID, asked.partition_index)
                if log is not None and asked.timestamp in EARLIEST and not at.error_code:
                    yield log, at.offset

    def _earliest_epochs(self, process: ProcessView, event: Received, answer: Message) -> None:
        """Compare the epoch beside the start of a log with the first record."""
        request = event.message
        if (
            not isinstance(answer, list_offsets_response.ListOffsetsResponse)
            or not isinstance(request, list_offsets_request.ListOffsetsRequest)
            or event.version < EPOCHS_FROM
        ):
            return
        for topic, listed in zip(request.topics, answer.topics, strict=True):
            for asked, at in zip(topic.partitions, listed.partitions, strict=True):
                log = self._log_of(topic.name, ZERO_UUID, asked.partition_index)
                mirror = None if log is None else process.partitions.get(log)
                if mirror is None or asked.timestamp not in EARLIEST or at.error_code:
                    continue
                first = next(mirror.after(at.offset), None)
                if first is not None and first.epoch != at.leader_epoch:
                    detail = f"log {log}: epoch {at.leader_epoch} is told with offset {at.offset}"
                    found = f"{detail}, the record has epoch {first.epoch}"
                    self.monitor.report_violation(self, process, found)


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
            records = part.records or b""
            assert isinstance(records, bytes), "partitions have bytes"
            most = max(min(asked.partition_max_bytes, request.max_bytes - total), 0)
            if len(records) > most and not (is_first and _is_one_batch(records)):
                yield f"{len(records)} bytes are returned, {most} are wanted"
            total += len(records)
            is_first = is_first and not records


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
