"""Answer FetchSnapshot, the leader's side of a snapshot download (KIP-630; 631-34).

The core checks the request, and the shell reads the slice into the answer. See serving.py for the
referral of a replica to a snapshot.
"""

from kraftproof.node.core.base.snapshot_ids import SnapshotId
from kraftproof.node.core.base.types import NO_NODE, Instant, Monotonic
from kraftproof.node.core.effects import ReplyWithSlice
from kraftproof.node.core.events import Received
from kraftproof.node.core.raft import rpc
from kraftproof.node.core.raft.roles import Leader
from kraftproof.node.core.raft.served_download import ServedDownload, followed
from kraftproof.node.core.raft.snapshots import rpc as snapshot_rpc
from kraftproof.node.core.raft.snapshots.rpc import SliceParams
from kraftproof.node.core.raft.state import RaftState
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import fetch_snapshot_request


class SnapshotServer:
    """The leader answers with slices; other roles refuse."""

    __slots__ = ("_state",)

    def __init__(self, state: RaftState) -> None:
        self._state = state

    def receive(
        self,
        event: Received,
        request: fetch_snapshot_request.FetchSnapshotRequest,
        now: Instant,
    ) -> None:
        """Refuse the request, or answer with a slice."""
        state = self._state
        params = snapshot_rpc.read_request(request)
        whole_error = ErrorCode.NONE
        if rpc.is_inconsistent_cluster(state.config, request.cluster_id):
            whole_error = ErrorCode.INCONSISTENT_CLUSTER_ID
        elif params is None or params.max_bytes < 1:
            whole_error = ErrorCode.INVALID_REQUEST
        if params is None or whole_error is not ErrorCode.NONE:
            refusal = snapshot_rpc.answer(state, whole_error, top_level_error=whole_error)
            state.outbox.reply(event, refusal)
            return
        error = self._fencing(params)
        if error is ErrorCode.NONE:
            self._record_contact(params, now)
            self._serve(event, params, now)
        else:
            state.outbox.reply(event, snapshot_rpc.answer(state, error, slice_of=params))

    def _fencing(self, params: SliceParams) -> ErrorCode:
        """Check the epoch in the same way as the epoch of a Fetch (595-47)."""
        if params.epoch < self._state.epoch:
            return ErrorCode.FENCED_LEADER_EPOCH
        if params.epoch > self._state.epoch:
            return ErrorCode.UNKNOWN_LEADER_EPOCH
        if not isinstance(self._state.role, Leader):
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        return ErrorCode.NONE

    def _record_contact(self, params: SliceParams, now: Instant) -> None:
        """Count a download as contact with the replica (595-43), but not as a Fetch (595-64)."""
        role = self._state.role
        if isinstance(role, Leader) and params.replica_id > NO_NODE:
            role.replicas.replica(params.replica_id, now.monotonic).contact = now.monotonic
            role.announcement.done(params.replica_id)

    def _serve(self, event: Received, params: SliceParams, now: Instant) -> None:
        state = self._state
        size = self._size(params.snapshot)
        error = ErrorCode.NONE
        if size is None:
            error = ErrorCode.SNAPSHOT_NOT_FOUND
        elif not 0 <= params.position < size:
            error = ErrorCode.POSITION_OUT_OF_RANGE
        message = snapshot_rpc.answer(state, error, slice_of=params, size=size or 0)
        if error is not ErrorCode.NONE:
            state.outbox.reply(event, message)
            return
        until = Monotonic(now.monotonic + state.timeouts.fetch_ns)
        asked = ServedDownload(params.snapshot, params.position, until)
        state.served_download = followed(state.served_download, asked, now.monotonic)
        state.outbox.emit(
            ReplyWithSlice(
                request=event.request,
                message=message,
                snapshot=params.snapshot,
                position=params.position,
                max_bytes=min(params.max_bytes, state.config.snapshots.slice_bytes),
            )
        )

    def _size(self, snapshot: SnapshotId) -> int | None:
        sizes = (s.size for s in self._state.snapshots if s.snapshot == snapshot)
        return next(sizes, None)
