"""Copying the leader's snapshot, slice by slice (KIP-630 "FetchSnapshot"; 631-34).

A Fetch that the leader can't answer from its log begins it. Slices come one after the other, each
at the position where the last one ended; a lost one is asked for again. When all are there, the
shell checks that they are a whole snapshot, and only then the log makes way for it. Another
epoch or leader, or any answer that does not fit, and the copy is abandoned; a Fetch tells what
to do then. Not: Fetch (fetching.py), nor bytes and files (node/storage/snapshots.py).
"""

from collections.abc import Callable
from functools import partial
from typing import Final

from msgspec import Struct

from kraftproof.node.core.base.snapshot_ids import SnapshotId
from kraftproof.node.core.base.types import Epoch, Instant, Monotonic, NodeId
from kraftproof.node.core.effects import CheckSnapshot, Exit, StoreSlice
from kraftproof.node.core.events import SnapshotChecked
from kraftproof.node.core.raft import snapshot_rpc
from kraftproof.node.core.raft.peer_retries import retry_backoff_ns
from kraftproof.node.core.raft.snapshot_keeping import install
from kraftproof.node.core.raft.snapshot_rpc import FETCH_SNAPSHOT_VERSION, SliceResult
from kraftproof.node.core.raft.state import RaftState
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import Message, fetch_snapshot_response

MAX_LOST_SLICES: Final = 3
"""So many slices lost in a row, and another voter is asked who leads."""


class SnapshotDownload(Struct, kw_only=True):
    """A snapshot on its way; changed in place by each slice."""

    number: int
    """Tells copies apart, of the same snapshot too."""
    snapshot: SnapshotId
    leader: NodeId
    epoch: Epoch
    not_before: Monotonic
    position: int = 0
    size: int | None = None
    """As the first slice says; it may not change."""
    lost_slices: int = 0
    is_in_flight: bool = False
    is_being_checked: bool = False


class SnapshotFetcher:
    """At most one copy at a time; while slices are on their way, no Fetch is sent."""

    __slots__ = ("_downloads_begun", "_download", "_on_abandoned", "_state")

    def __init__(self, state: RaftState, on_abandoned: Callable[[Instant], None]) -> None:
        self._state = state
        self._download: SnapshotDownload | None = None
        self._downloads_begun = 0
        self._on_abandoned = on_abandoned
        """Called when the copy has come to nothing though the leader is still the same."""

    @property
    def is_downloading(self) -> bool:
        """Whether slices of a snapshot are on their way."""
        return self._download is not None and not self._download.is_being_checked

    @property
    def is_being_checked(self) -> bool:
        """Whether all slices are there, and nobody knows yet if they are a snapshot."""
        return self._download is not None and self._download.is_being_checked

    def begin(self, snapshot: SnapshotId, now: Instant) -> None:
        """SnapshotDownload what the leader has named, unless we have more than that already."""
        state = self._state
        if snapshot.end_offset < state.high_watermark:
            reason = (
                f"the leader, node {state.leader}, names a snapshot that ends at"
                f" {snapshot.end_offset}, below the high watermark {state.high_watermark}"
                " of this log"
            )
            state.outbox.emit(Exit(status=1, reason=reason))
            return
        self._downloads_begun += 1
        self._download = SnapshotDownload(
            number=self._downloads_begun,
            snapshot=snapshot,
            leader=state.leader,
            epoch=state.epoch,
            not_before=now.monotonic,
        )

    def settle(self, now: Instant) -> None:
        """Give up a copy from what is the leader no more; ask for the next slice if it is due."""
        state, copy = self._state, self._download
        if copy is None:
            return
        if not self._is_from_leader(copy):
            self._download = None
            return
        due = self.deadline()
        if due is None or now.monotonic < due:
            return
        copy.is_in_flight = True
        state.outbox.send(
            copy.leader,
            snapshot_rpc.request(state, copy.snapshot, copy.position),
            FETCH_SNAPSHOT_VERSION,
            min(state.timeouts.request_ns, state.timeouts.fetch_ns),
            partial(self._answered, copy),
        )

    def deadline(self) -> Monotonic | None:
        """When the next slice is due, if nothing but time holds it up."""
        copy = self._download
        if copy is None or copy.is_in_flight or copy.is_being_checked or self._state.is_stopping:
            return None
        return copy.not_before

    def _is_from_leader(self, copy: SnapshotDownload) -> bool:
        return copy.epoch == self._state.epoch and self._state.is_following(copy.leader)

    def _is_overtaken(self, copy: SnapshotDownload) -> bool:
        """Return whether the leader, which named a snapshot, has sent records past it since."""
        return copy.snapshot.end_offset < self._state.high_watermark

    def _abandon(self, now: Instant) -> None:
        self._download = None
        self._on_abandoned(now)

    # The answer

    def _answered(self, copy: SnapshotDownload, message: Message | None, now: Instant) -> None:
        copy.is_in_flight = False
        fetched = None
        if message is not None:
            assert isinstance(message, fetch_snapshot_response.FetchSnapshotResponse)
            fetched = snapshot_rpc.read_answer(message)
            self._state.on_epoch_info(fetched.epoch, fetched.leader, now)
        if copy is not self._download or not self._is_from_leader(copy):
            return
        if fetched is None:
            self._lost(copy, now)
        elif _fits(copy, fetched):
            self._take(copy, fetched, now)
        else:
            self._abandon(now)

    def _lost(self, copy: SnapshotDownload, now: Instant) -> None:
        copy.lost_slices += 1
        if copy.lost_slices > MAX_LOST_SLICES:
            self._abandon(now)
            return
        wait_ns = retry_backoff_ns(self._state.timeouts, copy.lost_slices)
        copy.not_before = Monotonic(now.monotonic + wait_ns)

    def _take(self, copy: SnapshotDownload, fetched: SliceResult, now: Instant) -> None:
        state = self._state
        state.renew_fetch_timeout(now)
        state.outbox.emit(
            StoreSlice(
                copy=copy.number,
                snapshot=copy.snapshot,
                position=copy.position,
                data=fetched.data,
            )
        )
        copy.lost_slices = 0
        copy.not_before = now.monotonic
        copy.size = fetched.size
        copy.position += len(fetched.data)
        if copy.position == copy.size:
            copy.is_being_checked = True
            state.outbox.emit(CheckSnapshot(copy=copy.number, snapshot=copy.snapshot))

    def checked(self, event: SnapshotChecked, now: Instant) -> bool:
        """Make way for the snapshot if it is whole and its copy has not been abandoned."""
        copy = self._download
        if copy is None or copy.number != event.copy:
            return False
        if not self._is_from_leader(copy) or self._is_overtaken(copy):
            self._download = None
            return False
        if event.unsupported is not None:
            # Any other copy would hold the same record: no node of this version can follow.
            self._state.outbox.emit(Exit(status=1, reason=event.unsupported))
            return False
        if event.loaded is None:
            self._abandon(now)
            return False
        self._download = None
        self._state.renew_fetch_timeout(now)
        install(self._state, copy.number, event.loaded.stored)
        return True


def _fits(copy: SnapshotDownload, fetched: SliceResult) -> bool:
    """Whether this is the slice asked for, and within the size that the first one told."""
    return (
        fetched.error == ErrorCode.NONE
        and fetched.snapshot == copy.snapshot
        and fetched.position == copy.position
        and copy.size in {None, fetched.size}
        and 0 < len(fetched.data) <= fetched.size - fetched.position
    )
