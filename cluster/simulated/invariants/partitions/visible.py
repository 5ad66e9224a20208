"""Invariants of what a leader shows: only records that every member of the ISR has on its disk.

The controller's newest committed ISR is the measure, not the ISR that the leader knows. A leader
counts a proposed member before the answer (497-08), so that the leader never shows too much.
"""

from typing import ClassVar, Final

from typing_extensions import override

from kraftproof.cluster.simulated.disk.partition_mirrors import PartitionMirror
from kraftproof.cluster.simulated.invariants.invariant import ProcessView, Requests
from kraftproof.cluster.simulated.invariants.partitions.replicas import (
    NewestImage,
    Replicas,
)
from kraftproof.cluster.simulated.invariants.partitions.shown import ShownEnds
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.effects import Append, Effect
from kraftproof.node.core.events import Received
from kraftproof.node.core.log_effects import RaiseLogStart
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.wire.messages import (
    Message,
    fetch_request,
    fetch_response,
    list_offsets_request,
    produce_request,
)
from kraftproof.node.wire.records.raw_batch import parse_batches

REPLICA_STATE_FROM: Final = 15
"""The first version of Fetch whose replica stands in the replica's state."""
"""A log, and an offset: every record below is shown."""


class VisibleIsOnTheIsr(ShownEnds):
    """A shown record survives the loss of all but one member of the ISR."""

    statement = (
        "Each member of a partition's ISR has every record below a high watermark, an answered "
        "end or a log start on its disk, with the same bytes."
    )
    requests: ClassVar[Requests] = (
        fetch_request.FetchRequest,
        produce_request.ProduceRequest,
        list_offsets_request.ListOffsetsRequest,
    )

    def __init__(self, newest: NewestImage | None = None) -> None:
        super().__init__(newest)
        self._ends: dict[LogId, int] = {}
        """By log: the end of the shown records."""

    @override
    def on_data_answered(self, process: ProcessView, event: Received, message: Message) -> None:
        for log, end in self._shown_by(event, message):
            self._show(process, log, end)

    @override
    def on_partition_changed(self, process: ProcessView, log: LogId, effect: Effect) -> None:
        if isinstance(effect, Append) or not self._is_durable(log.topic_id):
            return
        if isinstance(effect, RaiseLogStart):
            self._show(process, log, effect.start_offset)
        partition = self._partition(log)
        if partition is not None and process.node_id in partition.isr:
            self._judge(process, log, process.node_id, 0, self._ends.get(log, 0))

    @override
    def on_partitions_moved(
        self, process: ProcessView, before: MetadataImage, after: MetadataImage
    ) -> None:
        for log in sorted(self._ends):
            partition = self._partition(log)
            if partition is None or not self._is_durable(log.topic_id):
                del self._ends[log]
                continue
            known = before.partitions.get(log.topic_id)
            was = None if known is None else known.get(log.partition)
            if was is partition:
                continue
            for member in partition.isr:
                if was is None or member not in was.isr:
                    self._judge(process, log, member, 0, self._ends[log])

    def _show(self, process: ProcessView, log: LogId, end: int) -> None:
        """Judge newly shown records on every member of the ISR."""
        begin = self._ends.get(log, 0)
        if end <= begin:
            return
        partition = self._partition(log)
        if partition is None or not self._is_durable(log.topic_id):
            return
        self._ends[log] = end
        for member in partition.isr:
            self._judge(process, log, member, begin, end)

    def _judge(self, process: ProcessView, log: LogId, member: int, begin: int, end: int) -> None:
        """Report a member that lacks a record from `begin` on and below `end`."""
        mirror, own = self._mirror(member, log), process.partitions.get(log)
        durable_end = 0 if mirror is None else mirror.durable_end
        if durable_end < end:
            detail = f"log {log}: offset {end - 1} is shown, member {member} of the ISR has"
            found = f"{detail} {durable_end} records on its disk"
            self.monitor.report_violation(self, process, found)
        elif mirror is not None and own is not None and own is not mirror:
            wrong = _first_difference(own, mirror, begin, end)
            if wrong is not None:
                detail = f"log {log}: member {member} of the ISR has other bytes at offset {wrong}"
                self.monitor.report_violation(self, process, detail)


def _first_difference(
    own: PartitionMirror, other: PartitionMirror, begin: int, end: int
) -> int | None:
    """Return the first offset with other bytes in two logs, as far as both have the records."""
    start = max(begin, own.start_offset, other.start_offset)
    stop = min(end, own.end_offset, other.end_offset)
    others = {batch.base_offset: batch.data for batch in other.between(start, stop)}
    for batch in own.between(start, stop):
        if batch.base_offset >= start and others.get(batch.base_offset) != batch.data:
            return batch.base_offset
    return None


class ReadersGetCommittedBytes(Replicas):
    """A consumer reads the bytes of the log, and nothing above the high watermark."""

    statement = (
        "A Fetch returns the batches of the log from the asked offset on, to a consumer at least "
        "one batch if there is one, and no batch above the high watermark."
    )
    requests: ClassVar[Requests] = (fetch_request.FetchRequest,)

    @override
    def on_data_answered(self, process: ProcessView, event: Received, message: Message) -> None:
        request = event.message
        assert isinstance(request, fetch_request.FetchRequest), "the only type of its requests"
        if not isinstance(message, fetch_response.FetchResponse) or message.error_code:
            return
        is_new = event.version >= REPLICA_STATE_FROM
        replica = request.replica_state.replica_id if is_new else request.replica_id
        only = sum(len(topic.partitions) for topic in request.topics) == 1
        # A throttled answer has no topics.
        strict = message.throttle_time_ms == 0
        for topic, answered in zip(request.topics, message.responses, strict=strict):
            for asked, part in zip(topic.partitions, answered.partitions, strict=True):
                if replica >= 0 and not part.records:
                    continue  # a follower may get no batch
                log = self._log_of(topic.topic, topic.topic_id, asked.partition)
                if log is None or part.error_code:
                    continue
                mirror, offset = process.partitions.get(log), asked.fetch_offset
                end = None if mirror is None else _end_of_stored(mirror, offset, part.records)
                wrong = _wrong_records(mirror, offset, part) if end is None else None
                if wrong is None and replica < 0:
                    end = _end_of(part, offset) if end is None else end
                    wrong = _unread(offset, end, part, is_alone=only)
                if wrong is not None:
                    self.monitor.report_violation(self, process, f"log {log}: {wrong}")


def _end_of_stored(mirror: PartitionMirror, offset: int, records: object) -> int | None:
    """Return the offset after returned batches, if they are those of the log from an offset on.

    The bytes are compared as they are: to decode batches that a log holds takes far longer.
    """
    if not isinstance(records, bytes):
        return None
    end, position = offset, 0
    for batch in mirror.after(offset):
        if position == len(records):
            return end
        if batch.base_offset > end or not records.startswith(batch.data, position):
            return None
        end = batch.next_offset
        position += len(batch.data)
    return end if position == len(records) else None


def _end_of(part: fetch_response.PartitionData, offset: int) -> int:
    """Return the offset after the returned batches."""
    end = offset
    assert isinstance(part.records, bytes | None), "partitions have bytes"
    for batch in parse_batches(part.records or b"", allow_partial=True):
        end = batch.next_offset
    return end


def _wrong_records(
    mirror: PartitionMirror | None, offset: int, part: fetch_response.PartitionData
) -> str | None:
    """Describe returned batches that are not the batches of the log from an offset on."""
    if not part.records or mirror is None:
        return None
    assert isinstance(part.records, bytes), "partitions have bytes"
    rest = mirror.between(offset, mirror.end_offset)
    stored = {batch.base_offset: batch.data for batch in rest}
    place = offset
    for batch in parse_batches(part.records, allow_partial=True):
        if not batch.base_offset <= place <= batch.last_offset:
            return f"offset {place} is expected, the batch begins at {batch.base_offset}"
        if stored.get(batch.base_offset) != batch.data:
            return f"the log has other bytes at offset {batch.base_offset}"
        place = batch.next_offset
    return None


def _unread(
    offset: int, end: int, part: fetch_response.PartitionData, *, is_alone: bool
) -> str | None:
    """Describe records up to an end that a consumer must not read, or does not get."""
    if end > max(part.high_watermark, offset):
        return f"offset {end - 1} is returned, the high watermark is {part.high_watermark}"
    is_due = is_alone and part.log_start_offset <= offset < part.high_watermark
    if is_due and end == offset and part.diverging_epoch.end_offset < 0:
        return f"offset {offset} is not returned, the high watermark is {part.high_watermark}"
    return None
