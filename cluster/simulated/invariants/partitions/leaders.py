"""Invariants of the broker that answers for a partition: leadership, epochs and the minimum ISR."""

from typing import ClassVar, Final

from msgspec import Struct
from typing_extensions import override

from kraftproof.cluster.simulated.invariants.invariant import ProcessView, Requests
from kraftproof.cluster.simulated.invariants.partitions.replicas import (
    ACKS_ALL,
    BROKER,
    NO_CONFIGS,
    NO_EPOCH,
    TOPIC,
    EpochRequest,
    EpochResponse,
    NewestImage,
    Replicas,
    partition_in,
)
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.wire.messages import (
    Message,
    delete_records_request,
    fetch_request,
    fetch_response,
    list_offsets_request,
    produce_request,
    produce_response,
)
from kraftproof.node.wire.types import ZERO_UUID, Uuid

_MIN_ISR: Final = "min.insync.replicas"
DATA_REQUESTS: Final[Requests] = (
    fetch_request.FetchRequest,
    produce_request.ProduceRequest,
    list_offsets_request.ListOffsetsRequest,
    EpochRequest,
    delete_records_request.DeleteRecordsRequest,
)
"""The requests whose answers have a result for each partition."""


class LeadersServe(Replicas):
    """The leader of the present epoch alone serves a partition (KIP-320)."""

    statement = (
        "A broker serves a partition only as the leader by its own image, in the leader epoch that "
        "the request names."
    )
    requests: ClassVar[Requests] = DATA_REQUESTS

    def __init__(self, newest: NewestImage | None = None) -> None:
        super().__init__(newest)
        self._images: dict[tuple[int, int, int], MetadataImage] = {}
        """By node, incarnation and request: the image at the arrival of some requests."""

    @override
    def on_data_received(self, process: ProcessView, event: Received) -> None:
        if may_end_apart(event.message):
            key = (process.node_id, process.incarnation, event.request)
            self._images[key] = process.image

    @override
    def on_data_answered(self, process: ProcessView, event: Received, message: Message) -> None:
        key = (process.node_id, process.incarnation, event.request)
        before = self._images.pop(key, process.image)
        for log, epoch, error in self._newest.results(event.message, message):
            partition = None if log is None else partition_in(process.image, log)
            if error or log is None or partition is None:
                continue
            for image in (before, process.image) if before is not process.image else ():
                held = partition_in(image, log)
                if held is not None and held.leader == process.node_id:
                    partition = held
            is_known = epoch in (partition.leader_epoch, NO_EPOCH)
            if partition.leader != process.node_id or not is_known:
                detail = f"log {log}: serves epoch {epoch}, by its image broker {partition.leader}"
                found = f"{detail} leads epoch {partition.leader_epoch}"
                self.monitor.report_violation(self, process, found)


def may_end_apart(request: Message) -> bool:
    """Return whether a partition of a request may be done before the answer.

    A search by time goes on in a thread, also after the end of the leadership. The partitions of a
    Produce wait for each other.
    """
    match request:
        case list_offsets_request.ListOffsetsRequest():
            return True
        case produce_request.ProduceRequest(topic_data=topics):
            return sum(len(topic.partition_data) for topic in topics) > 1
        case _:
            return False


class EpochEndsAreTrue(Replicas):
    """A leader knows where each epoch of its log ends, and refuses a log that has diverged."""

    statement = (
        "The end of an epoch is the first offset of a larger epoch in the leader's log, or else "
        "the log end; a Fetch beyond the end of its last epoch is answered as diverging."
    )
    requests: ClassVar[Requests] = (fetch_request.FetchRequest, EpochRequest)

    @override
    def on_data_answered(self, process: ProcessView, event: Received, message: Message) -> None:
        match event.message, message:
            case EpochRequest() as request, EpochResponse():
                for topic, answered in zip(request.topics, message.topics, strict=True):
                    for asked, end in zip(topic.partitions, answered.partitions, strict=True):
                        log = self._log_of(topic.topic, ZERO_UUID, asked.partition)
                        if log is not None and not end.error_code:
                            told = (end.leader_epoch, end.end_offset)
                            self._judge(process, log, asked.leader_epoch, told)
            case fetch_request.FetchRequest() as request, fetch_response.FetchResponse():
                for wanted, found in zip(request.topics, message.responses, strict=False):
                    for part, result in zip(wanted.partitions, found.partitions, strict=True):
                        log = self._log_of(wanted.topic, wanted.topic_id, part.partition)
                        if log is not None and not result.error_code:
                            self._judge_fetch(process, log, part, result)
            case _:
                return

    def _judge_fetch(
        self,
        process: ProcessView,
        log: LogId,
        asked: fetch_request.FetchPartition,
        found: fetch_response.PartitionData,
    ) -> None:
        diverging = found.diverging_epoch
        if diverging.end_offset >= 0:
            told = (diverging.epoch, diverging.end_offset)
            self._judge(process, log, asked.last_fetched_epoch, told)
        elif asked.last_fetched_epoch >= 0:
            mirror = process.partitions.get(log)
            end = None if mirror is None else mirror.end_of_epoch(asked.last_fetched_epoch)
            if end is not None and end < asked.fetch_offset:
                detail = f"epoch {asked.last_fetched_epoch} ends at {end}"
                fetched = f"a Fetch from offset {asked.fetch_offset} is served"
                self.monitor.report_violation(self, process, f"log {log}: {detail}, and {fetched}")

    def _judge(self, process: ProcessView, log: LogId, epoch: int, told: tuple[int, int]) -> None:
        mirror, partition = process.partitions.get(log), partition_in(process.image, log)
        if mirror is None or partition is None:
            return
        is_unknown = epoch < 0 or epoch > partition.leader_epoch
        end = mirror.end_of_epoch(epoch)
        is_right = told == (-1, -1) if is_unknown else told[0] <= epoch and told[1] == end
        if not is_right:
            detail = f"epoch {epoch} ends at {end}, epoch {told[0]} and offset {told[1]} are told"
            self.monitor.report_violation(self, process, f"log {log}: {detail}")


class _Told(Struct, frozen=True):
    """A high watermark that a leader has answered, and the offset of the leader's image."""

    high_watermark: int
    image_offset: int


class MinIsrIsHonoured(Replicas):
    """With acks=all, a record needs min.insync.replicas members, before and after the append."""

    statement = (
        "The high watermark rises, and a Produce with acks=all succeeds, only with an ISR of at "
        "least min.insync.replicas members."
    )
    requests: ClassVar[Requests] = (fetch_request.FetchRequest, produce_request.ProduceRequest)

    def __init__(self, newest: NewestImage | None = None) -> None:
        super().__init__(newest)
        self._sizes: dict[LogId, list[tuple[int, int]]] = {}
        """By log: the offset of an image and the size of the ISR from there on."""
        self._least: dict[LogId, list[tuple[int, int]]] = {}
        """By log: the offset of an image and the least number of members from there on."""
        self._offsets: dict[int, int] = {}
        """By node: the offset of the image that the node published last."""
        self._told: dict[tuple[int, int, LogId], _Told] = {}

    @override
    def on_published(self, process: ProcessView, offset: int, image: MetadataImage) -> None:
        before = self._image
        super().on_published(process, offset, image)
        self._offsets[process.node_id] = offset
        if self._image is before:
            return
        for topic_id, partitions in image.partitions.items():
            is_known = before.partitions.get(topic_id) is partitions
            if is_known and not _has_other_configs(before, image, topic_id):
                continue
            for index, partition in partitions.items():
                log = LogId(topic_id, index)
                least = min(_min_isr(image, log), len(partition.replicas))
                _note(self._sizes.setdefault(log, []), offset, len(partition.isr))
                _note(self._least.setdefault(log, []), offset, least)

    @override
    def on_data_answered(self, process: ProcessView, event: Received, message: Message) -> None:
        match event.message, message:
            case (
                produce_request.ProduceRequest(acks=acks) as request,
                produce_response.ProduceResponse(),
            ) if acks == ACKS_ALL:
                for log, _, result in self._results(request, message):
                    if not result.error_code:
                        since = self._offsets.get(process.node_id, 0)
                        self._judge(process, log, since, "acks=all succeeds")
            case _, fetch_response.FetchResponse():
                for log_, part in self._fetched(message):
                    self._rise(process, log_, part.high_watermark)
            case _:
                return

    def _rise(self, process: ProcessView, log: LogId, high_watermark: int) -> None:
        key = (process.node_id, process.incarnation, log)
        now = _Told(high_watermark, self._offsets.get(process.node_id, 0))
        before = self._told.get(key)
        self._told[key] = now
        if before is not None and high_watermark > before.high_watermark:
            self._judge(process, log, before.image_offset, "the high watermark rises")

    def _judge(self, process: ProcessView, log: LogId, since: int, deed: str) -> None:
        """Report a deed without a large enough ISR in any image since an offset."""
        sizes = _since(self._sizes.get(log, []), since)
        least = _since(self._least.get(log, []), since)
        if sizes and max(sizes) < min(least):
            detail = f"log {log}: {deed} with {max(sizes)} members, {min(least)} are needed"
            self.monitor.report_violation(self, process, detail)


def _has_other_configs(before: MetadataImage, after: MetadataImage, topic_id: Uuid) -> bool:
    """Return whether min.insync.replicas of a topic may differ between two images."""
    if before.configs is after.configs:
        return False
    own, default = (TOPIC, after.topics[topic_id].name), (BROKER, "")
    was, now = before.configs.get, after.configs.get
    return was(own) is not now(own) or was(default) is not now(default)


def _note(values: list[tuple[int, int]], offset: int, value: int) -> None:
    """Add a value from an offset on, if the value is another one."""
    if not values or values[-1][1] != value:
        values.append((offset, value))


def _since(values: list[tuple[int, int]], since: int) -> list[int]:
    """Return the value at an offset, and all later values."""
    places = [place for place, (offset, _) in enumerate(values) if offset <= since]
    return [value for _, value in values[places[-1] if places else 0 :]]


def _min_isr(image: MetadataImage, log: LogId) -> int:
    """Return min.insync.replicas of a topic."""
    topic = image.topics.get(log.topic_id)
    for resource in ((TOPIC, "" if topic is None else topic.name), (BROKER, "")):
        value = image.configs.get(resource, NO_CONFIGS).get(_MIN_ISR)
        if value is not None:
            return int(value)
    return 1
