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
        "_chosen",
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
        self._begun = now.monotonic
        self._records_in_last = committed.records_taken
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
        self._records_in_last = 0
        self._begun = now.monotonic
        self._chosen = None

    def deadline(self) -> Monotonic | None:
        """When the interval is over, if there is anything to write by then."""
        if self._policy.interval_ns == 0 or not self._has_news():
            return None
        return Monotonic(self._begun + self._policy.interval_ns)

    def _is_due(self, now: Instant) -> bool:
        """Whether enough has been committed, or enough time has passed."""
        taken = self._committed.records_taken - self._records_in_last
        if taken * RECORD_ESTIMATE_BYTES >= self._policy.bytes_between:
            return True
        interval_ns = self._policy.interval_ns
        return interval_ns > 0 and now.monotonic >= self._begun + interval_ns

    def _has_news(self) -> bool:
        if self._is_writing or self._chosen is not None:
            return False
        return self._committed.offset > self._raft.snapshot_end
