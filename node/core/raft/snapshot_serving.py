"""Answering FetchSnapshot: the leader's side of copying a snapshot (KIP-630; 631-34).

The core has no bytes: it checks the request, and the shell puts the slice into the answer. Not:
who is sent to a snapshot (serving.py), nor fetching one (snapshot_fetching.py).
"""

from kraftproof.node.core.base.snapshot_ids import SnapshotId
from kraftproof.node.core.base.types import NO_NODE, Instant
from kraftproof.node.core.effects import ReplyWithSlice
from kraftproof.node.core.events import Received
from kraftproof.node.core.raft import rpc, snapshot_rpc
from kraftproof.node.core.raft.roles import Leader
from kraftproof.node.core.raft.snapshot_rpc import WantedSlice
from kraftproof.node.core.raft.state import RaftState
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import fetch_snapshot_request


class SnapshotServer:
    """The leader hands out slices; elsewhere, the refusals."""

    __slots__ = ("_state",)

    def __init__(self, state: RaftState) -> None:
        self._state = state

    def receive(
        self,
        event: Received,
        request: fetch_snapshot_request.FetchSnapshotRequest,
        now: Instant,
    ) -> None:
        """Refuse, or answer with a slice."""
        state = self._state
        wanted = snapshot_rpc.wanted(request)
        whole_error = ErrorCode.NONE
        if rpc.is_inconsistent_cluster(state.config, request.cluster_id):
            whole_error = ErrorCode.INCONSISTENT_CLUSTER_ID
        elif wanted is None or wanted.max_bytes < 1:
            whole_error = ErrorCode.INVALID_REQUEST
        if wanted is None or whole_error is not ErrorCode.NONE:
            refusal = snapshot_rpc.answer(state, whole_error, top_level_error=whole_error)
            state.outbox.reply(event, refusal)
            return
        error = self._fencing(wanted)
        if error is ErrorCode.NONE:
            self._note_contact(wanted, now)
            self._serve(event, wanted)
        else:
            state.outbox.reply(event, snapshot_rpc.answer(state, error, slice_of=wanted))

    def _fencing(self, wanted: WantedSlice) -> ErrorCode:
        """The epoch is checked as a Fetch's is (595-47)."""
        if wanted.epoch < self._state.epoch:
            return ErrorCode.FENCED_LEADER_EPOCH
        if wanted.epoch > self._state.epoch:
            return ErrorCode.UNKNOWN_LEADER_EPOCH
        if not isinstance(self._state.role, Leader):
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        return ErrorCode.NONE

    def _note_contact(self, wanted: WantedSlice, now: Instant) -> None:
        """A replica that copies a snapshot is there, as one that fetches is (595-43)."""
        role = self._state.role
        if isinstance(role, Leader) and wanted.replica_id > NO_NODE:
            role.replicas.of(wanted.replica_id, now.monotonic).heard(now)
            role.announcement.settle(wanted.replica_id)

    def _serve(self, event: Received, wanted: WantedSlice) -> None:
        state = self._state
        size = self._size(wanted.snapshot)
        error = ErrorCode.NONE
        if size is None:
            error = ErrorCode.SNAPSHOT_NOT_FOUND
        elif not 0 <= wanted.position < size:
            error = ErrorCode.POSITION_OUT_OF_RANGE
        message = snapshot_rpc.answer(state, error, slice_of=wanted, size=size or 0)
        if error is not ErrorCode.NONE:
            state.outbox.reply(event, message)
            return
        state.outbox.emit(
            ReplyWithSlice(
                request=event.request,
                message=message,
                snapshot=wanted.snapshot,
                position=wanted.position,
                max_bytes=min(wanted.max_bytes, state.config.snapshots.slice_bytes),
            )
        )

    def _size(self, snapshot: SnapshotId) -> int | None:
        sizes = (s.size for s in self._state.snapshots if s.snapshot == snapshot)
        return next(sizes, None)
