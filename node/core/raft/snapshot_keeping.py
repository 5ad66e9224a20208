"""Which snapshots and how much log a node keeps (KIP-630 "Snapshots"; 631-31, 631-34).

Not: when one is written (node/core/snapshots.py), nor how one is copied (snapshot_fetching.py).
"""

from kraftproof.node.core.base.snapshot_ids import SNAPSHOTS_KEPT, StoredSnapshot
from kraftproof.node.core.effects import CleanLog, InstallSnapshot
from kraftproof.node.core.raft.roles import Leader
from kraftproof.node.core.raft.state import RaftState


def keep(state: RaftState, stored: StoredSnapshot) -> None:
    """A snapshot of our own is complete: the log needs to reach back less far.

    One that the leader's has overtaken meanwhile is of no use, and goes.
    """
    if stored.snapshot.end_offset > state.snapshot_end:
        state.set_snapshots((*state.snapshots, stored)[-SNAPSHOTS_KEPT:])
    if len(state.snapshots) == SNAPSHOTS_KEPT:
        state.log.clean(state.snapshots[0].snapshot)
    state.outbox.emit(CleanLog(state.log.start))


def install(state: RaftState, copy: int, stored: StoredSnapshot) -> None:
    """A snapshot of the leader's takes the place of our whole log."""
    assert not isinstance(state.role, Leader), "a leader has all that is committed"
    assert stored.snapshot.end_offset >= state.high_watermark, "what is committed stays"
    state.set_snapshots([stored])
    state.log.reset(stored.snapshot)
    state.high_watermark = state.flushed = state.flush_requested = stored.snapshot.end_offset
    state.outbox.emit(InstallSnapshot(copy=copy, snapshot=stored.snapshot))
