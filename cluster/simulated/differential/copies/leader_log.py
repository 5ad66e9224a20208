"""The log of the present leader as a plain list, with its answers to a follower."""

from typing import Final

from msgspec import Struct

from kraftproof.cluster.simulated.differential.one_partition import NAME, TOPIC
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    fetch_request,
    fetch_response,
    list_offsets_request,
    list_offsets_response,
)

LATEST: Final = -1
_NONE: Final = -1


class LogBatch(Struct, frozen=True):
    """A batch of the log, with the bytes at its offset."""

    base: int
    end: int
    epoch: int
    data: bytes


class LeaderLog(Struct):
    """The log of a leader in one epoch; another leadership begins with a part of it."""

    leader: int
    epoch: int
    batches: list[LogBatch]
    epochs: list[tuple[int, int]]
    """Each epoch of the log with its begin, the last one maybe without records."""
    start: int = 0
    end: int = 0
    high_watermark: int = 0

    def answer(self, message: Message, node: int) -> Message:
        """Return the answer of a broker that knows this leadership."""
        match message:
            case fetch_request.FetchRequest():
                part = self._fetched(message.topics[0].partitions[0], node)
                topic = fetch_response.FetchableTopicResponse(topic_id=TOPIC, partitions=(part,))
                return fetch_response.FetchResponse(responses=(topic,))
            case list_offsets_request.ListOffsetsRequest():
                found = self._ends(message.topics[0].partitions[0], node)
                ends = list_offsets_response.ListOffsetsTopicResponse(
                    name=NAME, partitions=(found,)
                )
                return list_offsets_response.ListOffsetsResponse(topics=(ends,))
            case _:
                raise AssertionError(f"a follower sends no {type(message).__name__}")

    def lead(self, leader: int, epoch: int, end: int) -> "LeaderLog":
        """Return the log of a later leader, which has the records below an offset."""
        epochs = [each for each in self.epochs if each[1] < end]
        return LeaderLog(
            leader,
            epoch,
            [batch for batch in self.batches if batch.end <= end],
            [*epochs, (epoch, end)],
            min(self.start, end),
            end,
            min(self.high_watermark, end),
        )

    def append(self, batch: LogBatch) -> None:
        """Add a batch."""
        self.batches.append(batch)
        self.end = batch.end

    def raise_start(self, start: int) -> None:
        """Remove the records below an offset; a batch stays until its last record goes."""
        self.start = start
        self.batches = [batch for batch in self.batches if batch.end > start]
        upto = [each for each in self.epochs if each[1] <= start]
        later = [each for each in self.epochs if each[1] > start]
        self.epochs = [(upto[-1][0], start), *later] if upto else later

    def _error(self, known_epoch: int, node: int) -> ErrorCode:
        if known_epoch < self.epoch:
            return ErrorCode.FENCED_LEADER_EPOCH
        if known_epoch > self.epoch:
            return ErrorCode.UNKNOWN_LEADER_EPOCH
        return ErrorCode.NONE if node == self.leader else ErrorCode.NOT_LEADER_OR_FOLLOWER

    def _fetched(
        self, asked: fetch_request.FetchPartition, node: int
    ) -> fetch_response.PartitionData:
        error = self._error(asked.current_leader_epoch, node)
        diverging = fetch_response.EpochEndOffset()
        offset, last = asked.fetch_offset, asked.last_fetched_epoch
        if not error and last >= 0:
            upto = [each for each, _ in self.epochs if each <= last]
            later = [begin for each, begin in self.epochs if each > last]
            epoch, end = upto[-1] if upto else last, later[0] if later else self.end
            if epoch < last or end < offset:
                diverging = fetch_response.EpochEndOffset(epoch=epoch, end_offset=end)
        is_common = diverging.epoch < 0
        if not error and is_common and not self.start <= offset <= self.end:
            error = ErrorCode.OFFSET_OUT_OF_RANGE
        rest = [batch.data for batch in self.batches if batch.end > offset]
        return fetch_response.PartitionData(
            partition_index=0,
            error_code=error,
            high_watermark=_NONE if error else self.high_watermark,
            log_start_offset=_NONE if error else self.start,
            diverging_epoch=diverging,
            records=b"" if error or not is_common else b"".join(rest[:MOST_BATCHES]),
        )

    def _ends(
        self, asked: list_offsets_request.ListOffsetsPartition, node: int
    ) -> list_offsets_response.ListOffsetsPartitionResponse:
        error = self._error(asked.current_leader_epoch, node)
        end = self.end if asked.timestamp == LATEST else self.start
        return list_offsets_response.ListOffsetsPartitionResponse(
            partition_index=0, error_code=error, offset=_NONE if error else end
        )


MOST_BATCHES: Final = 3
"""Maximum number of batches in an answer."""
