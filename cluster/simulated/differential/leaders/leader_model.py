"""A leader of a partition as a plain list of batches, without index, caches and purgatory."""

from typing import Final

from msgspec import Struct

from kraftproof.node.wire.errors import ErrorCode

COMPARED: Final = 5
"""Number of last batches of a producer for comparison with a retry."""
Producer = tuple[int, int, int]
"""Id, epoch and first sequence number."""
NO_PRODUCER: Final = -1
UNKNOWN: Final = -1


class ModelBatch(Struct, frozen=True, kw_only=True):
    """A batch of the log, with the bytes at its offset."""

    base: int
    count: int
    epoch: int
    data: bytes
    producer: Producer
    time_ms: int

    @property
    def end(self) -> int:
        """Return the offset after the last record."""
        return self.base + self.count

    @property
    def last_sequence(self) -> int:
        """Return the sequence number of the last record."""
        return self.producer[2] + self.count - 1


class ModelFollower(Struct):
    """The last Fetch of a follower in the present leader epoch."""

    end: int = UNKNOWN
    start: int = UNKNOWN


class ModelLeader:
    """The log of the leader, and the last Fetches of the followers."""

    def __init__(
        self, followers: tuple[int, ...], epoch: int, *, largest: int, flushes: bool
    ) -> None:
        self.batches: list[ModelBatch] = []
        self.start = 0
        self.high_watermark = 0
        self.epoch = epoch
        self.epoch_start = 0
        self.flushed = 0
        self.flushes = flushes
        """Whether the leader acknowledges flushed records only."""
        self.largest = largest
        """The size of the largest batch that the leader takes, in bytes."""
        self._leaderships = [(epoch, 0)]
        """Each leader epoch with the end of the log at its begin."""
        self.followers = {each: ModelFollower() for each in followers}
        self.fenced: set[int] = set()
        self.diskless: set[int] = set()
        """The brokers whose directory of the replica has failed."""

    @property
    def end(self) -> int:
        """Return the offset after the last record."""
        return self.batches[-1].end if self.batches else 0

    @property
    def own_end(self) -> int:
        """Return the end of the records that the leader itself acknowledges."""
        return self.flushed if self.flushes else self.end

    def lead_again(self) -> None:
        """Begin the next epoch: the positions of the followers are unknown again."""
        self.epoch += 1
        self.epoch_start = self.end
        self._leaderships.append((self.epoch, self.end))
        for follower in self.followers.values():
            follower.end = follower.start = UNKNOWN

    def reassign(self, followers: tuple[int, ...]) -> None:
        """Change the followers within the leader epoch: a removed one counts no more."""
        known = self.followers
        self.followers = {each: known.get(each) or ModelFollower() for each in followers}

    def settle(self) -> None:
        """Raise the high watermark to what every member of the ISR has."""
        ends = [follower.end for follower in self.followers.values()]
        self.high_watermark = max(self.high_watermark, min([self.own_end, *ends]))

    def judge(self, producer: Producer, count: int) -> ModelBatch | ErrorCode | None:
        """Return the first attempt of a retry, the error of a batch, or None for a new batch."""
        producer_id, epoch, sequence = producer
        known = [batch for batch in self.batches if batch.producer[0] == producer_id]
        if producer_id == NO_PRODUCER or not known:
            return None
        last = known[-1]
        if epoch < last.producer[1]:
            return ErrorCode.INVALID_PRODUCER_EPOCH
        if epoch > last.producer[1]:
            return None if sequence == 0 else ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
        for batch in known[-COMPARED:]:
            if batch.producer == producer and batch.count == count:
                return batch
        if sequence != last.last_sequence + 1:
            return ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER
        return None

    def last_batches(self) -> list[ModelBatch]:
        """Return the last batch of each producer, by id."""
        last = {batch.producer[0]: batch for batch in self.batches}
        return [last[each] for each in sorted(last) if each != NO_PRODUCER]

    def epochs(self) -> list[tuple[int, int]]:
        """Return the epochs that the log knows, with their starts.

        An epoch without records gives way to the next epoch, and so does an epoch whose records
        are all deleted.
        """
        found = [
            (epoch, begin)
            for place, (epoch, begin) in enumerate(self._leaderships)
            if place + 1 == len(self._leaderships)
            or max(begin, self.start) < self._leaderships[place + 1][1]
        ]
        return [(epoch, max(begin, self.start)) for epoch, begin in found]

    def epoch_at(self, offset: int) -> int:
        """Return the epoch of the record at an offset, or of the last record at the end."""
        return max((epoch for epoch, begin in self.epochs() if begin <= offset), default=UNKNOWN)

    def end_of(self, epoch: int) -> tuple[int, int]:
        """Return the largest epoch up to an epoch, and its end."""
        known = self.epochs()
        if epoch < 0 or epoch > self.epoch:
            return (UNKNOWN, UNKNOWN)
        upto = [each for each, _ in known if each <= epoch]
        later = [begin for each, begin in known if each > epoch]
        return (upto[-1] if upto else epoch, later[0] if later else self.end)

    def read(self, offset: int, end: int, most: int) -> bytes:
        """Return whole batches of at most so many bytes, and at least one batch."""
        data = b""
        for batch in self.batches:
            if batch.end <= offset or batch.end > end:
                continue
            if data and len(data) + len(batch.data) > most:
                break
            data += batch.data
        return data

    def first_at(self, time_ms: int, end: int) -> tuple[int, int, int]:
        """Return offset, time and epoch of the first batch of a time or later, below an end."""
        for batch in self.batches:
            is_shown = self.start <= batch.base < end
            if is_shown and batch.time_ms >= time_ms:
                return (batch.base, batch.time_ms, batch.epoch)
        return (UNKNOWN, UNKNOWN, UNKNOWN)

    def low_watermark(self) -> int:
        """Return the smallest start over the live replicas."""
        live = self.followers.keys() - self.fenced - self.diskless
        return min([self.start, *(self.followers[each].start for each in live)])
