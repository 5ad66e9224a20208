"""Invariant of ListOffsets by time, judged by the records in the leader's log (KIP-79, KIP-734)."""

import gzip
from collections.abc import Iterator
from typing import Any, ClassVar, Final

from msgspec import Struct
from typing_extensions import override

from kraftproof.cluster.simulated.disk.partition_mirrors import PartitionMirror
from kraftproof.cluster.simulated.invariants.invariant import ProcessView, Requests
from kraftproof.cluster.simulated.invariants.partitions.replicas import NewestImage, Replicas
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.events import Received
from kraftproof.node.wire.messages import (
    Message,
    fetch_request,
    fetch_response,
    list_offsets_request,
    list_offsets_response,
)
from kraftproof.node.wire.primitives import Reader
from kraftproof.node.wire.records.raw_batch import RawBatch
from kraftproof.node.wire.types import ZERO_UUID

NEWEST_TIME: Final = -3
NOT_FOUND: Final = -1
EPOCHS_FROM: Final = 4
"""First version of ListOffsets whose answers name the leader epoch of the record."""
_HEADER_BYTES: Final = 61
_GZIP: Final = 1
_LIBRARY_CODECS: Final = {2: "snappy", 3: "lz4", 4: "zstd"}
_BYTES: Final = 1 << 20

ListOffsets = list_offsets_request.ListOffsetsRequest
Times = tuple[tuple[int, int, int], ...]
"""Offset, time and leader epoch of each record of a batch."""


class _Asked(Struct, frozen=True):
    """The leader's log at the arrival of a look-up."""

    generation: int
    told: int
    """The largest high watermark that the leader had told."""
    start: int = 0
    """The start of the log: the records below were deleted."""


class TimesFindRecords(Replicas):
    """A consumer that starts at a time gets each record from that time on."""

    statement = (
        "ListOffsets by time names the first committed record of that time or later, or the first "
        "record of the newest time, and no deleted record."
    )
    requests: ClassVar[Requests] = (ListOffsets, fetch_request.FetchRequest)

    def __init__(self, newest: NewestImage | None = None) -> None:
        super().__init__(newest)
        self._told: dict[tuple[int, int, LogId], _Asked] = {}
        """By node, incarnation and log: generation and largest told high watermark."""
        self._asked: dict[tuple[int, int, int], dict[LogId, _Asked]] = {}
        """By node, incarnation and request."""
        self._times: dict[bytes, Times] = {}
        """By the bytes of a batch."""

    @override
    def on_data_received(self, process: ProcessView, event: Received) -> None:
        if not isinstance(event.message, ListOffsets):
            return
        known: dict[LogId, _Asked] = {}
        for topic in event.message.topics:
            for part in topic.partitions:
                log = self._log_of(topic.name, ZERO_UUID, part.partition_index)
                mirror = None if log is None else process.partitions.get(log)
                if log is not None and mirror is not None:
                    told = self._told.get((process.node_id, process.incarnation, log))
                    is_valid = told is not None and told.generation == mirror.generation
                    end = told.told if told and is_valid else 0
                    known[log] = _Asked(mirror.generation, end, mirror.start_offset)
        self._asked[process.node_id, process.incarnation, event.request] = known

    @override
    def on_data_answered(self, process: ProcessView, event: Received, message: Message) -> None:
        if isinstance(message, fetch_response.FetchResponse):
            for log, part in self._fetched(message):
                mirror = process.partitions.get(log)
                if mirror is not None:
                    key = (process.node_id, process.incarnation, log)
                    self._told[key] = _Asked(mirror.generation, part.high_watermark)
        elif isinstance(event.message, ListOffsets):
            request = (process.node_id, process.incarnation, event.request)
            known = self._asked.pop(request, {})
            if isinstance(message, list_offsets_response.ListOffsetsResponse):
                self._judge_all(process, event, message, known)

    def _judge_all(
        self,
        process: ProcessView,
        event: Received,
        message: list_offsets_response.ListOffsetsResponse,
        known: dict[LogId, _Asked],
    ) -> None:
        assert isinstance(event.message, ListOffsets), "its request"
        for topic, listed in zip(event.message.topics, message.topics, strict=True):
            for asked, found in zip(topic.partitions, listed.partitions, strict=True):
                log = self._log_of(topic.name, ZERO_UUID, asked.partition_index)
                mirror = None if log is None else process.partitions.get(log)
                before = None if log is None else known.get(log)
                is_by_time = asked.timestamp >= 0 or asked.timestamp == NEWEST_TIME
                if mirror is None or before is None or found.error_code or not is_by_time:
                    continue
                if mirror.generation != before.generation:
                    continue  # the search may have seen the log before a truncation
                wrong = self._fault(mirror, asked.timestamp, found, before)
                has_epoch = event.version >= EPOCHS_FROM
                if wrong is None and has_epoch and found.offset >= 0:
                    wrong = self._wrong_epoch(mirror, found)
                if wrong is not None:
                    detail = f"log {log}: time {asked.timestamp}: {wrong}"
                    self.monitor.report_violation(self, process, detail)

    def _fault(
        self,
        mirror: PartitionMirror,
        wanted: int,
        found: list_offsets_response.ListOffsetsPartitionResponse,
        before: _Asked,
    ) -> str | None:
        """Describe a record that is not there, or an earlier or newer record that is."""
        at, time, told = found.offset, found.timestamp, before.told
        present = False
        if at != NOT_FOUND and at < before.start:
            return f"offset {at} is found, the log began at {before.start}"
        for offset, record_time, _ in self._records(mirror):
            if offset == at:
                present = record_time == time
            is_before = offset < (at if at != NOT_FOUND else told)
            if wanted == NEWEST_TIME:
                is_newer = record_time > time and offset < told
                is_missed = is_newer or (is_before and record_time >= max(time, 0))
            else:
                is_missed = is_before and record_time >= wanted
            if is_missed:
                name = f"offset {at} of time {time} is found"
                return f"{name}, not offset {offset} of time {record_time}"
        if at == NOT_FOUND:
            return None
        if at >= mirror.start_offset and not present:
            return f"offset {at} has another time than {time}, or is not there"
        return f"time {time} is too old" if time < wanted else None

    def _wrong_epoch(
        self, mirror: PartitionMirror, found: list_offsets_response.ListOffsetsPartitionResponse
    ) -> str | None:
        for offset, _, epoch in self._records(mirror):
            if offset == found.offset and epoch != found.leader_epoch:
                return f"offset {offset} has epoch {epoch}, {found.leader_epoch} is told"
        return None

    def _records(self, mirror: PartitionMirror) -> Iterator[tuple[int, int, int]]:
        for batch in mirror.batches:
            times = self._times.get(batch.data)
            if times is None:
                times = self._times[batch.data] = tuple(times_of(batch))
            for each in times:
                if each[0] >= mirror.start_offset:
                    yield each


def times_of(batch: RawBatch) -> Iterator[tuple[int, int, int]]:
    """Yield offset, time and leader epoch of each record of a batch, by its bytes."""
    if batch.is_log_append_time:
        for offset in range(batch.base_offset, batch.next_offset):
            yield offset, batch.max_timestamp_ms, batch.epoch
        return
    reader = Reader(_decompressed(batch.compression, batch.data[_HEADER_BYTES:]))
    for delta in range(batch.count):
        record = Reader(reader.take(reader.varint()))
        record.take(1)
        yield batch.base_offset + delta, batch.base_timestamp_ms + record.varlong(), batch.epoch


def _decompressed(codec: int, data: bytes) -> bytes:
    if codec == _GZIP:
        return gzip.decompress(data)
    if codec in _LIBRARY_CODECS:
        import pyarrow  # heavy, and few runs need it

        library: Any = pyarrow
        if _LIBRARY_CODECS[codec] == "snappy":
            size = Reader(data).uvarint()
            raw: bytes = library.decompress(data, size, codec="snappy", asbytes=True)
            return raw
        with library.CompressedInputStream(library.py_buffer(data), _LIBRARY_CODECS[codec]) as it:
            return bytes(it.read(_BYTES))
    return data
