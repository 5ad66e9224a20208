"""Define the effects about the logs of partitions; see effects.py for the contract."""

from msgspec import Struct

from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import Epoch, Offset
from kraftproof.node.core.events import Received
from kraftproof.node.wire.messages.generated.describe_log_dirs_response import (
    DescribeLogDirsResponse,
)
from kraftproof.node.wire.messages.generated.fetch_response import FetchResponse
from kraftproof.node.wire.types import ZERO_UUID, Uuid

MAX_TIMESTAMP = -3
"""The timestamp that ListOffsets uses for the record with the largest timestamp."""


class CreateLog(Struct, frozen=True, kw_only=True):
    """Make the directory of a partition, before the first effect about its log.

    The directory is durable at the latest with the log's first Flushed.
    """

    log: LogId
    topic: str
    directory: Uuid = ZERO_UUID
    """The id of the log directory; by default the directory with the fewest logs."""


class ConfigureLog(Struct, frozen=True, kw_only=True):
    """Set the maximum size of a partition's segments from now on (segment.bytes)."""

    log: LogId
    segment_bytes: int


class DeleteLog(Struct, frozen=True, kw_only=True):
    """Rename the directory of a partition; a deleted log is removed later, a stray log is kept.

    The log ends here: its flushes in progress end in no Flushed.
    """

    log: LogId
    is_stray: bool = False


class RestartLog(Struct, frozen=True, kw_only=True):
    """Drop all records of a partition, and continue at `start_offset`, durably."""

    log: LogId
    start_offset: Offset


class RaiseLogStart(Struct, frozen=True, kw_only=True):
    """Raise the start of a partition's log, durably, and remove the whole segments below.

    The start may be within a batch: the batch stays, and its first records are not visible.
    """

    log: LogId
    start_offset: Offset


class NoteEpoch(Struct, frozen=True, kw_only=True):
    """Note the begin of a leader's epoch in leader-epoch-checkpoint, even without records."""

    log: LogId
    epoch: Epoch
    start_offset: Offset


class WriteCheckpoints(Struct, frozen=True, kw_only=True):
    """Replace the checkpoint files of the log directories.

    A log without an entry keeps its last offset. The recovery points, the ends of the durable
    records, are the storage's own, and are written as well.
    """

    high_watermarks: tuple[tuple[LogId, Offset], ...]
    log_starts: tuple[tuple[LogId, Offset], ...] = ()


class FindTimestamp(Struct, frozen=True, kw_only=True):
    """Find the first record with a timestamp of at least `timestamp_ms`.

    Only records from `start_offset` on and below `end_offset` count. MAX_TIMESTAMP asks for the
    first record with the largest timestamp. The answer is a TimestampFound with the same token.
    """

    token: int
    log: LogId
    timestamp_ms: int
    start_offset: Offset
    end_offset: Offset


class ReadProducers(Struct, frozen=True, kw_only=True):
    """Read the last batches of each producer below `end_offset`, for example after a Truncate.

    The answer is a ProducersRead with the same log and generation.
    """

    log: LogId
    generation: int
    end_offset: Offset


class LogRead(Struct, frozen=True, kw_only=True):
    """The batches for one partition of a Fetch answer.

    The read begins with the batch that holds `offset`, and ends below `end_offset`. The read has
    whole batches of at most `max_bytes`, but at least one batch with `may_exceed`.
    """

    topic_index: int
    partition_index: int
    """The places in the answer's lists, counted from 0."""
    log: LogId
    offset: Offset
    end_offset: Offset
    max_bytes: int
    may_exceed: bool = True


class ReplyWithBatches(Struct, frozen=True, kw_only=True):
    """Answer a Fetch with the message and whole batches of partitions, read from the disk.

    The reads are made in their order, until `max_bytes`; only the first batch may exceed the limit.
    A file that no longer holds what was written gives error code 56 in its partition.
    """

    request: int
    message: FetchResponse
    reads: tuple[LogRead, ...]
    max_bytes: int = (1 << 31) - 1
    counted_for: Received | None = None
    """The request whose client has a quota for the bytes; None without a quota."""
    counted_bytes: int = 0
    """The bytes counted for the quota. A BatchesRead states the bytes of larger batches."""


class ReplyWithVolumes(Struct, frozen=True, kw_only=True):
    """Answer a DescribeLogDirs with the message, and with the sizes of the volumes (KIP-827).

    A directory whose volume can't be read gets error code 56.
    """

    request: int
    message: DescribeLogDirsResponse
