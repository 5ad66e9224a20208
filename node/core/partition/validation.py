"""Validate a produced batch before the append, in Kafka's order of checks and with Kafka's errors.

The steps are apart, since checks of the topic and of the leader come between: first the
framing of the request's bytes, then the content against the settings of the topic.

The header of a batch names the newest time of its records and the type of the times. Look-ups by
time and retention read the header alone, so the leader corrects a wrong header, as Kafka does.
"""

from typing import Final

from msgspec import Struct

from kraftproof.node.core.base.types import NANOSECONDS_PER_MS, WallClock
from kraftproof.node.core.partition.settings import TopicSettings
from kraftproof.node.wire.errors import ErrorCode, WireError
from kraftproof.node.wire.records.raw_batch import (
    MAGIC,
    MAGIC_AT,
    NO_PRODUCER,
    NO_TIMESTAMP,
    PREFIX_BYTES,
    CorruptRawBatchError,
    RawBatch,
    parse_sent_batch,
    require_crc,
)
from kraftproof.node.wire.records.raw_records import RecordView, read_records

_ZSTD: Final = 4
_ZSTD_FROM: Final = 7
"""The first version of Produce with zstd (KIP-110)."""
_LEAST_LENGTH: Final = 14
"""The least length in the frame of a batch, of any format."""
_LARGEST_MS: Final = (1 << 63) - 1
"""The largest time that a header can name."""
_MOST_RECORD_ERRORS: Final = 100
"""Maximum number of records named in an answer."""


class RecordError(Struct, frozen=True):
    """A record with a fault."""

    index: int
    message: str


class Refusal(Struct, frozen=True):
    """The reason against the append of a batch."""

    error: ErrorCode
    message: str | None = None
    records: tuple[RecordError, ...] = ()


def parse_produced(data: bytes | None, version: int) -> RawBatch | Refusal:
    """Return the only batch of a partition in a Produce request, unchecked but for its frame.

    Bytes of an incomplete batch after the batch are ignored, as in Kafka.
    """
    data = data or b""
    try:
        length = _frame(data, 0)
        if length == 0 or data[MAGIC_AT] != MAGIC:
            return Refusal(ErrorCode.INVALID_RECORD, f"no batch of magic {MAGIC}")
        batch = parse_sent_batch(data[:length])
        if batch.compression == _ZSTD and version < _ZSTD_FROM:
            return Refusal(
                ErrorCode.UNSUPPORTED_COMPRESSION_TYPE, f"Produce version {version} has no zstd"
            )
        if _frame(data, length) > 0:
            return Refusal(ErrorCode.INVALID_RECORD, "a Produce request has exactly one batch")
    except WireError as error:
        return Refusal(ErrorCode.CORRUPT_MESSAGE, str(error))
    return batch


def _frame(data: bytes, position: int) -> int:
    """Return the number of bytes of the batch of any format at `position`; 0 if incomplete.

    Raises:
        WireError: a length or a magic that no format has.
    """
    remaining = len(data) - position
    if remaining < PREFIX_BYTES:
        return 0
    length = int.from_bytes(data[position + 8 : position + PREFIX_BYTES], "big", signed=True)
    if length < _LEAST_LENGTH:
        raise WireError(f"a batch of length {length} at byte {position}")
    if remaining <= MAGIC_AT:
        return 0
    magic = data[position + MAGIC_AT]
    if magic > MAGIC:
        raise WireError(f"a batch of magic {magic} at byte {position}")
    return PREFIX_BYTES + length if remaining >= PREFIX_BYTES + length else 0


def check_content(batch: RawBatch, settings: TopicSettings, wall: WallClock) -> RawBatch | Refusal:
    """Return the batch with a true header, or the reason against the append."""
    refusal = _check_limits(batch, settings) or _check_crc(batch) or _check_header(batch)
    checked = refusal or _check_records(batch, settings, wall // NANOSECONDS_PER_MS)
    return checked if isinstance(checked, Refusal) else _check_segment(batch, settings) or checked


def _check_limits(batch: RawBatch, settings: TopicSettings) -> Refusal | None:
    if batch.base_offset != 0:
        return Refusal(ErrorCode.INVALID_RECORD, f"base offset {batch.base_offset} instead of 0")
    if batch.size > settings.max_message_bytes:
        limit = f"max.message.bytes is {settings.max_message_bytes}"
        return Refusal(ErrorCode.MESSAGE_TOO_LARGE, f"a batch of {batch.size} bytes; {limit}")
    return None


def _check_crc(batch: RawBatch) -> Refusal | None:
    try:
        require_crc(batch.data, batch.base_offset)
    except CorruptRawBatchError as error:
        return Refusal(ErrorCode.CORRUPT_MESSAGE, str(error))
    return None


def _check_segment(batch: RawBatch, settings: TopicSettings) -> Refusal | None:
    if batch.size > settings.segment_bytes:
        limit = f"segment.bytes is {settings.segment_bytes}"
        return Refusal(ErrorCode.RECORD_LIST_TOO_LARGE, f"a batch of {batch.size} bytes; {limit}")
    return None


def _check_header(batch: RawBatch) -> Refusal | None:
    if batch.compression > _ZSTD:
        # Kafka's answer, too: to Kafka, the codec is an unforeseen exception.
        return Refusal(
            ErrorCode.UNKNOWN_SERVER_ERROR, f"compression codec {batch.compression} is unknown"
        )
    if batch.count < 1 or batch.count != batch.last_offset_delta + 1:
        problem = f"a batch of {batch.count} records up to delta {batch.last_offset_delta}"
    elif batch.is_control:
        problem = "a client cannot write control records"
    elif batch.producer_id != NO_PRODUCER and batch.base_sequence < 0:
        problem = f"producer {batch.producer_id} without a sequence number"
    elif batch.producer_id < NO_PRODUCER or (batch.producer_id >= 0 > batch.producer_epoch):
        problem = f"producer {batch.producer_id} of epoch {batch.producer_epoch}"
    elif batch.is_transactional:
        problem = "this broker has no transactions"
    else:
        return None
    return Refusal(ErrorCode.INVALID_RECORD, problem)


def _check_records(batch: RawBatch, settings: TopicSettings, now_ms: int) -> RawBatch | Refusal:
    try:
        records = read_records(batch)
    except WireError as error:
        return Refusal(ErrorCode.INVALID_RECORD, str(error))
    rules = _RecordRules(
        needs_keys=settings.is_compacted,
        uses_append_time=settings.uses_append_time,
        is_stamped=batch.is_log_append_time,
        oldest_ms=now_ms - settings.timestamp_before_max_ms,
        newest_ms=now_ms + settings.timestamp_after_max_ms,
    )
    judged = records if records is not None else _opaque_records(batch)
    faults = [(index, rules.fault_of(record)) for index, record in enumerate(judged)]
    found = [(index, fault) for index, fault in faults if fault is not None]
    if found:
        return _records_refusal(found)
    # The leader stamps the header of LogAppendTime at the append.
    return batch if settings.uses_append_time else _dated(batch, records)


class _RecordRules(Struct, frozen=True, kw_only=True):
    """The rules for each record of a batch."""

    needs_keys: bool
    uses_append_time: bool
    """Whether the topic has LogAppendTime."""
    is_stamped: bool
    """Whether the batch of the client has LogAppendTime."""
    oldest_ms: int
    newest_ms: int

    def fault_of(self, record: RecordView) -> tuple[ErrorCode, str] | None:
        """Return the fault of a record, if any; the key comes before the time."""
        if self.needs_keys and not record.has_key:
            return ErrorCode.INVALID_RECORD, "a record of a compacted topic needs a key"
        if not self.uses_append_time and record.timestamp_ms != NO_TIMESTAMP:
            if self.oldest_ms <= record.timestamp_ms <= self.newest_ms:
                return None
            message = f"a timestamp outside of {self.oldest_ms} to {self.newest_ms}"
            return ErrorCode.INVALID_TIMESTAMP, message
        if self.is_stamped:
            return ErrorCode.INVALID_TIMESTAMP, "a client cannot set LogAppendTime"
        return None


def _opaque_records(batch: RawBatch) -> tuple[RecordView, ...]:
    """Return the times of the header for records that the node cannot read."""
    times = (batch.base_timestamp_ms, batch.max_timestamp_ms)
    return tuple([RecordView(timestamp_ms=time, has_key=True) for time in times])


def _dated(batch: RawBatch, records: tuple[RecordView, ...] | None) -> RawBatch:
    """Return the batch with the newest time of its records; the times of opaque records stay."""
    if records is None:
        return batch
    newest_ms = max(one.timestamp_ms for one in records)
    newest_ms = min(max(newest_ms, NO_TIMESTAMP), _LARGEST_MS)
    is_true = newest_ms == batch.max_timestamp_ms and not batch.is_log_append_time
    return batch if is_true else batch.dated(newest_ms)


def _records_refusal(faults: list[tuple[int, tuple[ErrorCode, str]]]) -> Refusal:
    """Refuse a batch for its records; one wrong time makes INVALID_TIMESTAMP of the whole."""
    of_times = [fault for _, fault in faults if fault[0] is ErrorCode.INVALID_TIMESTAMP]
    error, message = of_times[0] if of_times else faults[0][1]
    named = tuple(RecordError(index, fault[1]) for index, fault in faults[:_MOST_RECORD_ERRORS])
    return Refusal(error, f"{len(faults)} records: {message}", named)
