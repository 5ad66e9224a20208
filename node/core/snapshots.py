"""Decide when a node writes a snapshot of its image (KIP-631 "Snapshots"; 631-31, 631-33).

Controllers and brokers write snapshots, each at its own offsets. The effect refers to the immutable
image, and the shell writes the file while the node continues. See
node/core/raft/snapshots/keeping.py for the effect on the log. Simplification: bytes are estimated,
as in log.py.
"""

from kraftproof.node.core.base.config import SnapshotPolicy
from kraftproof.node.core.base.types import Instant, Monotonic
from kraftproof.node.core.effects import WriteSnapshot
from kraftproof.node.core.events import SnapshotWritten
from kraftproof.node.core.log.log import RECORD_ESTIMATE_BYTES
from kraftproof.node.core.metadata.committed import CommittedImage
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.core.raft.raft import Raft


class Snapshots:
    """The snapshots of a node; at most one write is under way."""

    __slots__ = (
        "_chosen",
        "_committed",
        "_interval_end",
        "_is_writing",
        "_outbox",
        "_policy",
        "_raft",
        "_records_due",
    )

    def __init__(
        self,
        policy: SnapshotPolicy,
        raft: Raft,
        committed: CommittedImage,
        outbox: Outbox,
        now: Instant,
    ) -> None:
        self._policy = policy
        self._raft = raft
        self._committed = committed
        self._outbox = outbox
        self._interval_end: Monotonic | None
        """The end of the interval since the start or the last snapshot; None for no interval."""
        self._records_due: int
        """The number of applied records at which the next snapshot is due."""
        self._count_from(now, records_taken=0)
        self._is_writing = False
        self._chosen: WriteSnapshot | None = None
        """The snapshot to write as soon as the log up to its end is flushed."""

    def advance(self, now: Instant) -> None:
        """Write a snapshot if enough records or enough time has passed since the last snapshot."""
        if self._chosen is None:
            if not self._is_due(now) or not self._has_news():
                return
            self._choose(now)
        self._write_durable()

    def _choose(self, now: Instant) -> None:
        committed = self._committed
        self._count_from(now, committed.records_taken)
        self._raft.make_durable(committed.offset)
        self._chosen = WriteSnapshot(
            snapshot=committed.end,
            image=committed.image,
            timestamp_ms=committed.timestamp_ms,
        )

    def _write_durable(self) -> None:
        """Write the chosen snapshot once the log below is flushed, since it is then cleaned."""
        chosen = self._chosen
        if chosen is not None and chosen.snapshot.end_offset <= self._raft.flushed:
            self._chosen = None
            self._is_writing = True
            self._outbox.emit(chosen)

    def written(self, event: SnapshotWritten, now: Instant) -> None:
        """Record a complete snapshot."""
        self._is_writing = False
        self._raft.snapshot_written(event.stored, now)

    def installed(self, now: Instant) -> None:
        """Count the leader's snapshot as the last snapshot."""
        self._count_from(now, records_taken=0)
        self._chosen = None

    def deadline(self) -> Monotonic | None:
        """Return the end of the interval, if a snapshot could be written."""
        if self._interval_end is None or not self._has_news():
            return None
        return self._interval_end

    def _is_due(self, now: Instant) -> bool:
        """Return whether enough records or enough time has passed."""
        if self._committed.records_taken >= self._records_due:
            return True
        return self._interval_end is not None and now.monotonic >= self._interval_end

    def _count_from(self, now: Instant, records_taken: int) -> None:
        """Compute the due time and the due records of the next snapshot."""
        policy = self._policy
        ends = Monotonic(now.monotonic + policy.interval_ns)
        self._interval_end = ends if policy.interval_ns else None
        self._records_due = records_taken - (-policy.bytes_between // RECORD_ESTIMATE_BYTES)

    def _has_news(self) -> bool:
        if self._is_writing or self._chosen is not None or self._committed.has_open_transaction:
            return False  # a snapshot ends only outside metadata transactions
        return self._committed.offset > self._raft.snapshot_end
