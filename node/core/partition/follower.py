"""Follow the leader of a partition: decide on an answer to a Fetch (KIP-101, KIP-595 for the idea).

The functions compare an answer with the replica's log and return a step; fetcher.py sends the
Fetches. A follower truncates by epochs: the leader names the end of the largest common epoch, and
the follower removes its records above the end of this epoch in both logs.
"""

from msgspec import Struct

from kraftproof.node.core.base.types import Epoch, Monotonic, NodeId, Offset
from kraftproof.node.core.partition.epoch_cache import UNDEFINED_END
from kraftproof.node.core.partition.log_index import LogIndex
from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.messages import fetch_response
from kraftproof.node.wire.records.raw_batch import RawBatch, parse_batches


class Follower(Struct, kw_only=True):
    """The state of a replica that follows; a new leader epoch begins another."""

    leader: NodeId
    epoch: Epoch
    not_before: Monotonic
    """The time of the next Fetch."""
    failures: int = 0
    """Consecutive answers with an error, for the wait before the next Fetch."""
    is_fetching: bool = False
    """Whether a Fetch is under way."""
    is_finding_offsets: bool = False
    """Whether ListOffsets is under way, after OFFSET_OUT_OF_RANGE."""


class UnfitAnswerError(Exception):
    """The answer does not fit the replica's log; nothing of the answer is used."""


def truncation_offset(index: LogIndex, epoch: Epoch, end_offset: Offset) -> Offset:
    """Return the end of the common part, for the leader's largest epoch and its end.

    If this log lacks the epoch, the end of the next smaller epoch counts, and the next Fetch names
    that epoch: each round excludes an epoch, so the search ends.
    """
    own = index.epochs.end_of(epoch, index.end_offset)
    if own == UNDEFINED_END:
        entries = index.epochs.entries
        is_newer = bool(entries) and epoch > entries[-1].epoch
        return min(end_offset, index.end_offset) if is_newer else index.start_offset
    if own.epoch == epoch:
        return max(min(end_offset, own.end_offset), index.start_offset)
    return max(min(own.end_offset, index.end_offset), index.start_offset)


def has_no_common_part(index: LogIndex, end_offset: Offset, leaders_start: int) -> bool:
    """Return whether the common part ends at the start of this log or of the leader's log.

    DeleteRecords puts a start within a batch, where no log is cut.
    """
    return end_offset > 0 and end_offset in (index.start_offset, leaders_start)


def fetched_batches(
    index: LogIndex, epoch: Epoch, partition: fetch_response.PartitionData
) -> list[RawBatch]:
    """Return the batches of an answer, which continue the log.

    The first batch of an empty log may begin below the log's start: the leader's start is within
    the batch after DeleteRecords, and the leader sends whole batches. The first batch may begin
    below the end of a log whose records the leader has deleted.

    Raises:
        UnfitAnswerError: a batch is damaged, leaves a gap, or has an epoch that the leader of
            `epoch` cannot have.
    """
    data = partition.records
    if not data:
        return []
    if not isinstance(data, bytes):
        raise UnfitAnswerError("decoded batches in an answer about a topic")
    position, newest = index.end_offset, index.epochs.latest
    is_deleted = position <= max(index.start_offset, partition.log_start_offset)
    batches: list[RawBatch] = []
    try:
        for batch in parse_batches(data, allow_partial=True):
            is_begin = is_deleted and position == index.end_offset
            is_held = is_begin and batch.base_offset <= position <= batch.last_offset
            if batch.base_offset != position and not is_held:
                raise UnfitAnswerError(f"offset {batch.base_offset}, {position} is expected")
            if not newest <= batch.epoch <= epoch:
                raise UnfitAnswerError(
                    f"a batch of epoch {batch.epoch}, after epoch {newest} and up to {epoch}"
                )
            batches.append(batch)
            position, newest = Offset(batch.next_offset), Epoch(batch.epoch)
    except WireError as error:
        raise UnfitAnswerError(str(error)) from error
    return batches
