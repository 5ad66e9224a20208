"""Remove old records, and write the checkpoints of the logs (KIP-405 names the local rules).

The leader decides by age and size, and raises its log start up to the high watermark; followers
take over the start with their next Fetch. Old sequence numbers expire at the same time.
"""

from kraftproof.node.core.base.config import ReplicationPolicy
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import NANOSECONDS_PER_MS, Instant, Monotonic, Offset
from kraftproof.node.core.log_effects import WriteCheckpoints
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.core.partition.replica import Replica
from kraftproof.node.core.partition.replicas import Replicas


class Housekeeping:
    """The periodic work on the logs of a broker."""

    __slots__ = (
        "_next_checkpoint",
        "_next_retention",
        "_outbox",
        "_policy",
        "_replicas",
    )

    def __init__(
        self, replicas: Replicas, policy: ReplicationPolicy, outbox: Outbox, now: Instant
    ) -> None:
        self._replicas = replicas
        self._policy = policy
        self._outbox = outbox
        self._next_retention = Monotonic(now.monotonic + policy.retention_interval_ns)
        self._next_checkpoint = Monotonic(now.monotonic + policy.checkpoint_interval_ns)

    def deadline(self) -> Monotonic | None:
        """Return the time of the next work; None without replicas."""
        if not self._replicas.by_log:
            return None
        return min(self._next_retention, self._next_checkpoint)

    def tick(self, now: Instant) -> None:
        """Do the work that is due."""
        if now.monotonic >= self._next_checkpoint:
            self._next_checkpoint = Monotonic(now.monotonic + self._policy.checkpoint_interval_ns)
            self.write_checkpoints()
        if now.monotonic >= self._next_retention:
            self._next_retention = Monotonic(now.monotonic + self._policy.retention_interval_ns)
            self._retain(now.wall // NANOSECONDS_PER_MS)

    def write_checkpoints(self) -> None:
        """Write the high watermarks that have changed since the last time."""
        changed: list[tuple[LogId, Offset]] = []
        for log, replica in sorted(self._replicas.by_log.items()):
            if replica.checkpointed != replica.index.high_watermark:
                replica.checkpointed = replica.index.high_watermark
                changed.append((log, replica.index.high_watermark))
        if changed:
            self._outbox.emit(WriteCheckpoints(high_watermarks=tuple(changed)))

    def _retain(self, now_ms: int) -> None:
        expired_ms = now_ms - self._replicas.producer_expiration_ms
        for log, replica in sorted(self._replicas.by_log.items()):
            replica.producers.expire(expired_ms)
            if replica.leader is not None and replica.settings.is_deleted:
                offset = retained_start(replica, now_ms)
                if offset > replica.index.start_offset:
                    replica.raise_start(offset)
                    self._replicas.note_change(log)


def retained_start(replica: Replica, now_ms: int) -> Offset:
    """Return the offset of the oldest record that retention.ms and retention.bytes keep."""
    index, settings = replica.index, replica.settings
    spans = index.spans()
    start = index.start_offset
    for place, span in enumerate(spans):
        is_last = place + 1 == len(spans)
        after = index.end_offset if is_last else spans[place + 1].offset
        after_position = index.size if is_last else spans[place + 1].position
        is_old = 0 <= settings.retention_ms < now_ms - span.newest_ms
        is_surplus = 0 <= settings.retention_bytes <= index.size - after_position
        if after > index.high_watermark or not (is_old or is_surplus):
            return start
        start = after
    return start
