"""Invariants of the fields beside the records: begins, sizes, redirections, and refusals."""

from collections.abc import Iterator
from typing import ClassVar, Final

from typing_extensions import override

from kraftproof.cluster.simulated.disk.partition_mirrors import PartitionMirror
from kraftproof.cluster.simulated.invariants.invariant import Invariant, ProcessView, Requests
from kraftproof.cluster.simulated.invariants.partitions.fetched import follower_of
from kraftproof.cluster.simulated.invariants.partitions.leaders import (
    DATA_REQUESTS,
    NO_EPOCH,
    may_end_apart,
    results_of_parts,
)
from kraftproof.cluster.simulated.invariants.partitions.replicas import Replicas, partition_in
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.image import MetadataImage, Partition
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    fetch_request,
    fetch_response,
    list_offsets_request,
    list_offsets_response,
)
from kraftproof.node.wire.principal import ANONYMOUS
from kraftproof.node.wire.records.raw_batch import parse_batches
from kraftproof.node.wire.types import ZERO_UUID, Uuid

EARLIEST: Final = frozenset((-2, -4))
RUNNING: Final = 3
"""The state of a broker that follows the image with its own registration."""
LEADERS_FROM: Final = 12
"""The first version of Fetch whose answers name the current leader."""


class AnswersNameTheLog(Replicas):
    """Clients go on from the offsets of an answer, and bound their memory by its size."""

    statement = (
        "Answers name the start of the leader's log; the last stable offset is the high watermark, "
        "and not beyond the log; an answer has at most the wanted bytes, or one batch."
    )
    requests: ClassVar[Requests] = (
        fetch_request.FetchRequest,
        list_offsets_request.ListOffsetsRequest,
    )

    @override
    def on_data_answered(self, process: ProcessView, event: Received, message: Message) -> None:
        for log, start in self._starts(event.message, message):
            mirror = process.partitions.get(log)
            if mirror is not None and start != mirror.start_offset:
                detail = f"log {log}: starts at {mirror.start_offset}, and {start} is told"
                self.monitor.report_violation(self, process, detail)
        for log, high_watermark in self._high_watermarks(message):
            mirror = process.partitions.get(log)
            if mirror is not None and high_watermark > mirror.end_offset:
                detail = f"log {log}: ends at {mirror.end_offset}, high watermark {high_watermark}"
                self.monitor.report_violation(self, process, detail)
        if isinstance(message, fetch_response.FetchResponse):
            assert isinstance(event.message, fetch_request.FetchRequest), "its request"
            for wrong in _wrong_sizes(event.message, message):
                self.monitor.report_violation(self, process, wrong)

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


def _is_one_batch(records: bytes) -> bool:
    return sum(1 for _ in parse_batches(records, allow_partial=True)) <= 1


class RefusalsHaveAReason(Invariant):
    """A broker that refuses what it could serve is as useless as a broker that is down."""

    statement = (
        "A running broker refuses a request about a partition only for the reason that the error "
        "names: another leader, another epoch, no topic, an offset outside of the log."
    )
    requests: ClassVar[Requests] = DATA_REQUESTS

    def __init__(self) -> None:
        super().__init__()
        self._images: dict[tuple[int, int, int], MetadataImage] = {}
        """By node, incarnation and request: the image at the arrival of some requests."""

    @override
    def on_data_received(self, process: ProcessView, event: Received) -> None:
        if may_end_apart(event.message):
            self._images[process.node_id, process.incarnation, event.request] = process.image

    @override
    def on_data_answered(self, process: ProcessView, event: Received, message: Message) -> None:
        status, request = process.status, event.message
        key = (process.node_id, process.incarnation, event.request)
        images = (process.image, self._images.pop(key, process.image))
        if status is None or status.broker_state != RUNNING or event.principal != ANONYMOUS:
            return
        if isinstance(request, fetch_request.FetchRequest):
            if follower_of(request, event.version)[0] >= 0:
                return  # the leader may not know the follower's replica yet
            for wrong in _wrong_ranges(process, event, message):
                self.monitor.report_violation(self, process, wrong)
        for name, topic_id, index, epoch, error in results_of_parts(request, message):
            if not error:
                continue
            log = _log_in(process.image, name, topic_id, index)
            wrongs: list[str | None] = []
            for image in images:
                partition = None if log is None else partition_in(image, log)
                refused = (epoch, error)
                if log is not None and partition is not None:
                    wrongs.append(_needless(process, log, partition, refused))
                else:
                    wrongs.append(None)
            if all(wrongs):
                self.monitor.report_violation(self, process, f"log {log}: {wrongs[0]}")


def _log_in(image: MetadataImage, name: str, topic_id: Uuid, index: int) -> LogId | None:
    found = image.topic_ids.get(name) if name else topic_id
    return None if found is None else LogId(found, index)


def _needless(
    process: ProcessView, log: LogId, partition: Partition, refused: tuple[int, int]
) -> str | None:
    """Describe an error that the image contradicts; the asked leader epoch, and the error."""
    epoch, error = refused
    known = f"epoch {partition.leader_epoch} of broker {partition.leader}"
    match error:
        case ErrorCode.UNKNOWN_TOPIC_OR_PARTITION | ErrorCode.UNKNOWN_TOPIC_ID:
            return "the partition is refused as unknown"
        case ErrorCode.FENCED_LEADER_EPOCH if not NO_EPOCH < epoch < partition.leader_epoch:
            return f"leader epoch {epoch} is refused as older, in {known}"
        case ErrorCode.UNKNOWN_LEADER_EPOCH if epoch <= partition.leader_epoch:
            return f"leader epoch {epoch} is refused as unknown, in {known}"
        case ErrorCode.NOT_LEADER_OR_FOLLOWER if partition.leader == process.node_id:
            mirror = process.partitions.get(log)
            is_held = mirror is not None and mirror.directory not in process.partitions.failed
            return f"refused as not the leader, in {known}" if is_held else None
        case _:
            return None


def _wrong_ranges(process: ProcessView, event: Received, message: Message) -> Iterator[str]:
    """Describe refused offsets within the log, and redirections to another leader."""
    request = event.message
    assert isinstance(request, fetch_request.FetchRequest), "a Fetch"
    if not isinstance(message, fetch_response.FetchResponse):
        return
    for topic, answered in zip(request.topics, message.responses, strict=False):
        for asked, part in zip(topic.partitions, answered.partitions, strict=True):
            log = _log_in(process.image, topic.topic, topic.topic_id, asked.partition)
            mirror = None if log is None else process.partitions.get(log)
            is_outside = part.error_code == ErrorCode.OFFSET_OUT_OF_RANGE
            is_held = mirror is not None and _holds(mirror, asked.fetch_offset)
            if is_outside and asked.last_fetched_epoch < 0 and is_held:
                yield f"log {log}: offset {asked.fetch_offset} is refused as out of range"
            told = part.current_leader
            partition = None if log is None else partition_in(process.image, log)
            if told.leader_id >= 0 and partition is not None:
                leader = (partition.leader, partition.leader_epoch)
                if (told.leader_id, told.leader_epoch) != leader:
                    yield f"log {log}: leader {told.leader_id} is told, the image has {leader[0]}"


def _holds(mirror: PartitionMirror, offset: int) -> bool:
    return mirror.start_offset <= offset <= mirror.end_offset
