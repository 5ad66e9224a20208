"""Invariant of refusals and redirections of partitions' leaders."""

from collections.abc import Iterator
from typing import ClassVar

from typing_extensions import override

from kraftproof.cluster.simulated.disk.partition_mirrors import PartitionMirror
from kraftproof.cluster.simulated.invariants.invariant import Invariant, ProcessView, Requests
from kraftproof.cluster.simulated.invariants.partitions.fetched import follower_of
from kraftproof.cluster.simulated.invariants.partitions.leaders import DATA_REQUESTS, may_end_apart
from kraftproof.cluster.simulated.invariants.partitions.replicas import (
    NO_EPOCH,
    RUNNING,
    partition_in,
    results_of_parts,
)
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.image import MetadataImage, Partition
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import Message, fetch_request, fetch_response
from kraftproof.node.wire.principal import ANONYMOUS
from kraftproof.node.wire.types import Uuid


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
