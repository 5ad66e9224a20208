"""When a node writes a snapshot of its committed image (KIP-631 "Snapshots"; 631-31, 631-33).

Controllers and brokers alike, each at offsets of its own. What it writes is a reference to an
immutable image; the shell does it while the node goes on. Not: what happens to the log then
(node/core/raft/snapshot_keeping.py). Simplification: bytes are estimated, as log.py does.
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
    """One node's snapshots, one under way at a time."""

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
        """Counted from this process's start or the last snapshot; None: time alone is no reason."""
        self._records_due: int
        """So many records taken in are enough for the next."""
        self._count_from(now, records_taken=0)
        self._is_writing = False
        self._chosen: WriteSnapshot | None = None
        """What is to be written, until our log holds it on disk."""

    def advance(self, now: Instant) -> None:
        """Write a snapshot if enough has been committed since the last, or enough time passed."""
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
        """Write what is chosen once our own log holds it: what is cleaned must be on disk."""
        chosen = self._chosen
        if chosen is not None and chosen.snapshot.end_offset <= self._raft.flushed:
            self._chosen = None
            self._is_writing = True
            self._outbox.emit(chosen)

    def written(self, event: SnapshotWritten) -> None:
        """One is complete."""
        self._is_writing = False
        self._raft.snapshot_written(event.stored)

    def installed(self, now: Instant) -> None:
        """The leader's snapshot is as good as one of our own."""
        self._count_from(now, records_taken=0)
        self._chosen = None

    def deadline(self) -> Monotonic | None:
        """When the interval is over, if there is anything to write by then."""
        return self._interval_end if self._has_news() else None

    def _is_due(self, now: Instant) -> bool:
        """Whether enough has been committed, or enough time has passed."""
        if self._committed.records_taken >= self._records_due:
            return True
        return self._interval_end is not None and now.monotonic >= self._interval_end

    def _count_from(self, now: Instant, records_taken: int) -> None:
        """A snapshot has begun here: work out when the next is due."""
        policy = self._policy
        ends = Monotonic(now.monotonic + policy.interval_ns)
        self._interval_end = ends if policy.interval_ns else None
        self._records_due = records_taken - (-policy.bytes_between // RECORD_ESTIMATE_BYTES)

    def _has_news(self) -> bool:
        if self._is_writing or self._chosen is not None or self._committed.has_open_transaction:
            return False  # a snapshot ends only where no metadata transaction is open
        return self._committed.offset > self._raft.snapshot_end
