"""Decide which snapshots and records a node keeps (KIP-630 "Snapshots"; 631-31, 631-34).

See node/core/snapshots.py for the time of a snapshot, and download.py for downloads.
"""

from collections.abc import Sequence

from kraftproof.node.core.base.snapshot_ids import (
    SNAPSHOTS_KEPT,
    SNAPSHOTS_KEPT_FOR_DOWNLOAD,
    StoredSnapshot,
)
from kraftproof.node.core.base.types import Instant
from kraftproof.node.core.effects import CleanLog, InstallSnapshot
from kraftproof.node.core.raft.roles import Leader
from kraftproof.node.core.raft.state import RaftState


def keep(state: RaftState, stored: StoredSnapshot, now: Instant) -> None:
    """Record a snapshot written by this node, and clean the log up to the oldest kept snapshot.

    A snapshot that is older than a snapshot downloaded meanwhile is dropped.
    """
    if stored.snapshot.end_offset > state.snapshot_end:
        present = (*state.snapshots, stored)
        state.set_snapshots(present[-_kept_of(state, present, now) :])
    if len(state.snapshots) >= SNAPSHOTS_KEPT:
        state.log.clean(state.snapshots[0].snapshot)
    state.outbox.emit(CleanLog(state.log.start))


def _kept_of(state: RaftState, present: Sequence[StoredSnapshot], now: Instant) -> int:
    """Return how many of the newest snapshots stay: two, or all since a served download's."""
    download = state.served_download
    if download is None or now.monotonic >= download.until:
        return SNAPSHOTS_KEPT
    since = sum(each.snapshot >= download.snapshot for each in present)
    return max(SNAPSHOTS_KEPT, min(since, SNAPSHOTS_KEPT_FOR_DOWNLOAD))


def install(state: RaftState, copy: int, stored: StoredSnapshot) -> None:
    """Replace the whole log by the leader's snapshot."""
    assert not isinstance(state.role, Leader), "a leader has all that is committed"
    assert stored.snapshot.end_offset >= state.high_watermark, "what is committed stays"
    state.set_snapshots([stored])
    state.log.reset(stored.snapshot)
    state.high_watermark = state.flushed = state.flush_requested = stored.snapshot.end_offset
    state.outbox.emit(InstallSnapshot(copy=copy, snapshot=stored.snapshot))
