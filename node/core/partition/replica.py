"""Hold one replica of a partition: index, producers, and the role that the image gives.

Every change of the log is an effect and a change of the index, in this file alone. See leader.py
and follower.py for the roles, and replicas.py for the replicas of a broker.
"""

from kraftproof.node.core.base.config import ReplicationPolicy
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import (
    NANOSECONDS_PER_MS,
    NO_NODE,
    Epoch,
    Instant,
    NodeId,
    Offset,
)
from kraftproof.node.core.effects import Append, Flush, Truncate
from kraftproof.node.core.events import Flushed
from kraftproof.node.core.log_effects import ConfigureLog, NoteEpoch, RaiseLogStart, RestartLog
from kraftproof.node.core.metadata.image import MetadataImage, Partition
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.core.partition.follower import Follower
from kraftproof.node.core.partition.leader import Leader
from kraftproof.node.core.partition.log_index import LogIndex
from kraftproof.node.core.partition.producers import ProducerStates
from kraftproof.node.core.partition.settings import TopicSettings
from kraftproof.node.wire.records.raw_batch import NO_TIMESTAMP, RawBatch
from kraftproof.node.wire.types import Uuid


class Replica:
    """One replica; at most one of `leader` and `follower` is set."""

    __slots__ = (
        "_flush_asked",
        "_outbox",
        "_policy",
        "_segment_bytes",
        "checkpointed",
        "directory",
        "follower",
        "index",
        "leader",
        "node_id",
        "partition",
        "producers",
        "settings",
        "topic",
    )

    def __init__(
        self,
        node_id: NodeId,
        topic: str,
        index: LogIndex,
        producers: ProducerStates,
        settings: TopicSettings,
        policy: ReplicationPolicy,
        outbox: Outbox,
        directory: Uuid,
    ) -> None:
        self.node_id = node_id
        self._policy = policy
        self._outbox = outbox
        self._segment_bytes: int | None = None
        """The size that the storage was told."""
        self._flush_asked: Offset = index.flushed_offset
        """The end of the last Flush, of this generation."""
        self.checkpointed: Offset | None = None
        """The high watermark of the last checkpoint since the start of the node."""
        self.topic = topic
        self.directory = directory
        self.index = index
        self.producers = producers
        self.settings = settings
        self.partition: Partition | None = None
        self.leader: Leader | None = None
        self.follower: Follower | None = None

    @property
    def log(self) -> LogId:
        """Return the identity of the replica's log."""
        return self.index.log

    @property
    def own_end(self) -> Offset:
        """Return the end of the records that this replica acknowledges.

        With a flush for each append, an unflushed record does not count.
        """
        index = self.index
        return index.flushed_offset if self.settings.flushes_each_append else index.end_offset

    def follow_image(
        self, partition: Partition, image: MetadataImage, settings: TopicSettings, now: Instant
    ) -> None:
        """Take the role that a newer image gives."""
        self.partition = partition
        self._configure(settings)
        self._flush_if_due()
        if partition.leader == self.node_id:
            self._lead(partition, image, now)
        else:
            self._follow(partition, now)
        if self.leader is not None:
            self.leader.min_isr = settings.min_isr

    def append_produced(self, batch: RawBatch, now: Instant) -> RawBatch:
        """Append a validated batch as the leader; return the batch at its offset."""
        leader = self.leader
        assert leader is not None, "only the leader appends produced batches"
        placed = batch.moved(self.index.end_offset, leader.epoch)
        if self.settings.uses_append_time:
            placed = placed.stamped(now.wall // NANOSECONDS_PER_MS)
        self._append(placed, now)
        return placed

    def append_fetched(self, batch: RawBatch, now: Instant) -> None:
        """Append a batch of the leader, byte for byte."""
        assert self.follower is not None, "only a follower appends fetched batches"
        self._append(batch, now)

    def truncate(self, end_offset: Offset) -> None:
        """Remove the records at or above an offset, in index, producers and file.

        A truncation at the end still removes an epoch without records, which another leader has
        not: this replica may have led without an append.
        """
        before = (self.index.end_offset, self.index.epochs.latest)
        self.index.truncate(end_offset)
        self.index.epochs.truncate(self.index.end_offset)
        if before == (self.index.end_offset, self.index.epochs.latest):
            return
        self.producers.truncate(self.index.end_offset)
        self._flush_asked = self.index.flushed_offset
        self._outbox.emit(Truncate(self.log, self.index.end_offset))
        self._flush_if_due()  # a flush of the former generation proves nothing

    def restart(self, offset: Offset) -> None:
        """Remove every record and continue at an offset, the start of the leader's log."""
        self.index.restart(offset)
        self.producers.clear()
        self._flush_asked = offset
        self._outbox.emit(RestartLog(log=self.log, start_offset=offset))

    def raise_start(self, offset: Offset) -> None:
        """Remove the records below an offset; a lower offset has no effect."""
        if offset > self.index.start_offset:
            self.index.raise_start(min(offset, self.index.end_offset))
            self._outbox.emit(RaiseLogStart(log=self.log, start_offset=self.index.start_offset))

    def follow_leaders_offsets(self, high_watermark: Offset, log_start: Offset) -> bool:
        """Take the leader's high watermark and log start, as far as this log has the records.

        Return whether one of them has moved.
        """
        index = self.index
        known = (index.high_watermark, index.start_offset)
        index.high_watermark = max(index.high_watermark, min(high_watermark, index.end_offset))
        if log_start <= index.high_watermark:
            self.raise_start(log_start)
        return known != (index.high_watermark, index.start_offset)

    def flushed(self, event: Flushed) -> None:
        """Take the end of an fsync of this log."""
        if event.generation == self.index.generation:
            self.index.flushed_offset = max(self.index.flushed_offset, event.end_offset)

    def advance_high_watermark(self, now: Instant) -> bool:
        """Raise the high watermark as the leader; return whether it rose."""
        return self.leader is not None and self.leader.advance_high_watermark(now.monotonic)

    def _lead(self, partition: Partition, image: MetadataImage, now: Instant) -> None:
        self.follower = None
        if self.leader is not None and self.leader.epoch == partition.leader_epoch:
            self.leader.follow(partition, image.brokers)
            return
        self.leader = Leader(
            self.node_id,
            self.index,
            partition,
            image.brokers,
            min_isr=self.settings.min_isr,
            lag_ns=self._policy.lag_ns,
            own_end=lambda: self.own_end,
            now=now.monotonic,
        )
        self._note_epoch(partition.leader_epoch)

    def _follow(self, partition: Partition, now: Instant) -> None:
        self.leader = None
        if partition.leader == NO_NODE:
            self.follower = None
        elif self.follower is None or self.follower.epoch != partition.leader_epoch:
            self.follower = Follower(
                leader=partition.leader,
                epoch=partition.leader_epoch,
                not_before=now.monotonic,
            )

    def _configure(self, settings: TopicSettings) -> None:
        """Take the settings of the topic; the storage needs the size of segments."""
        if settings.segment_bytes != self._segment_bytes:
            self._segment_bytes = settings.segment_bytes
            self._outbox.emit(ConfigureLog(log=self.log, segment_bytes=settings.segment_bytes))
        self.settings = settings

    def _note_epoch(self, epoch: Epoch) -> None:
        """Enter the epoch of a new leadership, so that replicas can diverge against this epoch."""
        start = self.index.end_offset
        if self.index.epochs.assign(epoch, start):
            self._outbox.emit(NoteEpoch(log=self.log, epoch=epoch, start_offset=start))

    def _append(self, batch: RawBatch, now: Instant) -> None:
        known = self.producers.end_of(batch.producer_id)
        assert known <= batch.base_offset, "the state of the producers is that of the log"
        self._outbox.emit(Append(self.log, batch))
        now_ms = now.wall // NANOSECONDS_PER_MS
        self.index.append(
            Offset(batch.base_offset),
            Offset(batch.next_offset),
            Epoch(batch.epoch),
            batch.size,
            now_ms if batch.max_timestamp_ms == NO_TIMESTAMP else batch.max_timestamp_ms,
        )
        self.producers.record(batch, self.index.high_watermark, now_ms)
        self._flush_if_due()

    def _flush_if_due(self) -> None:
        """Ask for a flush after flush.messages records; never, by Kafka's default."""
        end = self.index.end_offset
        if end - self._flush_asked >= self.settings.flush_messages:
            self._flush_asked = end
            self._outbox.emit(Flush(log=self.log, generation=self.index.generation, end_offset=end))
