"""Describe the log of a partition as a starting node found the log on its disk."""

from msgspec import Struct

from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import Epoch, Offset
from kraftproof.node.wire.records.raw_batch import RawBatch
from kraftproof.node.wire.types import Uuid


class LogSpan(Struct, frozen=True, gc=False):
    """A run of batches: the first offset, the bytes before, and the newest timestamp within."""

    offset: Offset
    position: int
    newest_ms: int


class DamagedLog(Struct, frozen=True, kw_only=True):
    """The log of a partition that is damaged where no crash damages a file; the log stays as is."""

    log: LogId
    topic: str
    directory: Uuid
    """The id of the log directory."""


class RecoveredLog(Struct, frozen=True, kw_only=True):
    """The recovered log of a partition; its generation is 0, and its records are durable."""

    log: LogId
    topic: str
    directory: Uuid
    """The id of the log directory."""
    start_offset: Offset
    end_offset: Offset
    high_watermark: Offset
    """A lower bound, from the last checkpoint."""
    epochs: tuple[tuple[Epoch, Offset], ...] = ()
    """Each epoch with its first offset, in ascending order; an epoch may have no records."""
    spans: tuple[LogSpan, ...] = ()
    """The batches in ascending order, from the first stored byte on; one span per segment."""
    size: int = 0
    """The stored bytes."""
    producer_batches: tuple[RawBatch, ...] = ()
    """Of each producer the last PRODUCER_BATCHES batches below the high watermark, and the last
    MOST_UNCOMMITTED batches above it; in the order of the log, without data."""
