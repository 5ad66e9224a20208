"""When a node writes a snapshot of its committed image (KIP-631 "Snapshots"; 631-31, 631-33).

Controllers and brokers alike, each at offsets of its own. What it writes is a reference to an
immutable image; the shell does it while the node goes on. Not: what happens to the log then
(node/core/raft/snapshot_keeping.py). Simplification: bytes are estimated, as log.py does.
"""

from node.core.config import SnapshotPolicy
from node.core.effects import WriteSnapshot
from node.core.events import SnapshotWritten
from node.core.metadata.committed import CommittedImage
from node.core.outbox import Outbox
from node.core.raft.log import RECORD_ESTIMATE_BYTES
from node.core.raft.raft import Raft
from node.core.types import Instant, Monotonic


class Snapshots:
    """One node's snapshots, one under way at a time."""

    __slots__ = (
        "_begun",
        "_committed",
        "_is_writing",
        "_outbox",
        "_policy",
        "_raft",
        "_records_in_last",
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
        self._begun = now.monotonic
        """The start of the interval: of this process, or the last snapshot."""
        self._records_in_last = 0
        self._is_writing = False

    def advance(self, now: Instant) -> None:
        """Write a snapshot if enough has been committed since the last, or enough time passed."""
        if not (self._has_enough() or self._is_due(now)) or not self._may_write():
            return
        committed = self._committed
        self._is_writing = True
        self._begun = now.monotonic
        self._records_in_last = committed.records_taken
        self._outbox.emit(
            WriteSnapshot(
                snapshot=committed.end,
                image=committed.image,
                timestamp_ms=committed.timestamp_ms,
            )
        )

    def written(self, event: SnapshotWritten) -> None:
        """One is complete."""
        self._is_writing = False
        self._raft.snapshot_written(event.stored)

    def installed(self, now: Instant) -> None:
        """The leader's snapshot is as good as one of our own."""
        self._records_in_last = 0
        self._begun = now.monotonic

    def deadline(self) -> Monotonic | None:
        """When the interval is over, if there is anything to write by then."""
        if self._policy.interval_ns == 0 or not self._may_write():
            return None
        return Monotonic(self._begun + self._policy.interval_ns)

    def _has_enough(self) -> bool:
        taken = self._committed.records_taken - self._records_in_last
        return taken * RECORD_ESTIMATE_BYTES >= self._policy.bytes_between

    def _is_due(self, now: Instant) -> bool:
        interval_ns = self._policy.interval_ns
        return interval_ns > 0 and now.monotonic >= self._begun + interval_ns

    def _may_write(self) -> bool:
        """Whether there is news, and our own log holds it: what is cleaned must be on disk."""
        end = self._committed.offset
        has_news = end > self._raft.snapshot_end
        return has_news and not self._is_writing and end <= self._raft.flushed
