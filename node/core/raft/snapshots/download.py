"""Download the leader's snapshot, slice by slice (KIP-630 "FetchSnapshot"; 631-34).

A download begins when the leader cannot answer a Fetch from its log. Each slice starts at the end
of the previous slice, and a lost slice is requested again. After the last slice, the shell checks
the file, and a valid snapshot replaces the log.

A new epoch, another leader or an unexpected answer ends the download; the next Fetch decides how to
go on. See node/storage/snapshots.py for bytes and files.
"""

from collections.abc import Callable
from functools import partial
from typing import Final

from msgspec import Struct

from kraftproof.node.core.base.snapshot_ids import SnapshotId
from kraftproof.node.core.base.types import Epoch, Instant, Monotonic, NodeId
from kraftproof.node.core.effects import CheckSnapshot, Exit, StoreSlice
from kraftproof.node.core.events import SnapshotChecked
from kraftproof.node.core.raft.peer_retries import retry_backoff_ns
from kraftproof.node.core.raft.snapshots import rpc as snapshot_rpc
from kraftproof.node.core.raft.snapshots.keeping import install
from kraftproof.node.core.raft.snapshots.rpc import FETCH_SNAPSHOT_VERSION, SliceResult
from kraftproof.node.core.raft.state import RaftState
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import Message, fetch_snapshot_response

MAX_LOST_SLICES: Final = 3
"""The number of consecutive lost slices that are retried; after one further loss the node asks for
the leader."""


class SnapshotDownload(Struct, kw_only=True):
    """A download in progress, updated in place by each slice."""

    number: int
    """Distinguishes downloads, even of the same snapshot."""
    snapshot: SnapshotId
    leader: NodeId
    epoch: Epoch
    not_before: Monotonic
    position: int = 0
    size: int | None = None
    """The size of the file according to the first slice; later slices must agree."""
    lost_slices: int = 0
    is_in_flight: bool = False
    is_being_checked: bool = False


class SnapshotFetcher:
    """At most one download; while slices arrive, no Fetch is sent."""

    __slots__ = ("_download", "_downloads_begun", "_on_abandoned", "_state")

    def __init__(self, state: RaftState, on_abandoned: Callable[[Instant], None]) -> None:
        self._state = state
        self._download: SnapshotDownload | None = None
        self._downloads_begun = 0
        self._on_abandoned = on_abandoned
        """Called when a download has failed and the leader is still the same."""

    @property
    def is_downloading(self) -> bool:
        """Return whether a snapshot is being downloaded."""
        return self._download is not None and not self._download.is_being_checked

    @property
    def is_being_checked(self) -> bool:
        """Return whether a complete download is being checked."""
        return self._download is not None and self._download.is_being_checked

    def begin(self, snapshot: SnapshotId, now: Instant) -> None:
        """Begin the download of the named snapshot; exit if it ends below the high watermark."""
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

    def settle(self, now: Instant) -> bool:
        """Abandon a download from a former leader; otherwise request the next slice when due.

        Return whether a snapshot is being downloaded.
        """
        state, download = self._state, self._download
        if download is None:
            return False
        if not self._is_from_leader(download):
            self._download = None
            return False
        due = self.deadline()
        if due is None or now.monotonic < due:
            return not download.is_being_checked
        download.is_in_flight = True
        state.outbox.send(
            download.leader,
            snapshot_rpc.request(state, download.snapshot, download.position),
            FETCH_SNAPSHOT_VERSION,
            min(state.timeouts.request_ns, state.timeouts.fetch_ns),
            partial(self._answered, download),
        )
        return True

    def deadline(self) -> Monotonic | None:
        """Return the time of the next slice; None if the node waits for an event."""
        download = self._download
        if (
            download is None
            or download.is_in_flight
            or download.is_being_checked
            or self._state.is_stopping
        ):
            return None
        return download.not_before

    def _is_from_leader(self, download: SnapshotDownload) -> bool:
        return download.epoch == self._state.epoch and self._state.is_following(download.leader)

    def _is_overtaken(self, download: SnapshotDownload) -> bool:
        """Return whether records from the leader have passed the end of the snapshot."""
        return download.snapshot.end_offset < self._state.high_watermark

    def _abandon(self, now: Instant) -> None:
        self._download = None
        self._on_abandoned(now)

    # The answer

    def _answered(self, download: SnapshotDownload, message: Message | None, now: Instant) -> None:
        download.is_in_flight = False
        fetched = None
        if message is not None:
            assert isinstance(message, fetch_snapshot_response.FetchSnapshotResponse)
            fetched = snapshot_rpc.read_answer(message)
            self._state.on_epoch_info(fetched.epoch, fetched.leader, now)
        if download is not self._download or not self._is_from_leader(download):
            return
        if fetched is None:
            self._lost(download, now)
        elif _fits(download, fetched):
            self._take(download, fetched, now)
        else:
            self._abandon(now)

    def _lost(self, download: SnapshotDownload, now: Instant) -> None:
        download.lost_slices += 1
        if download.lost_slices > MAX_LOST_SLICES:
            self._abandon(now)
            return
        wait_ns = retry_backoff_ns(self._state.timeouts, download.lost_slices)
        download.not_before = Monotonic(now.monotonic + wait_ns)

    def _take(self, download: SnapshotDownload, fetched: SliceResult, now: Instant) -> None:
        state = self._state
        state.renew_fetch_timeout(now)
        state.outbox.emit(
            StoreSlice(
                copy=download.number,
                snapshot=download.snapshot,
                position=download.position,
                data=fetched.data,
            )
        )
        download.lost_slices = 0
        download.not_before = now.monotonic
        download.size = fetched.size
        download.position += len(fetched.data)
        if download.position == download.size:
            download.is_being_checked = True
            state.outbox.emit(CheckSnapshot(copy=download.number, snapshot=download.snapshot))

    def checked(self, event: SnapshotChecked, now: Instant) -> bool:
        """Replace the log by a checked snapshot if still needed; return whether it was."""
        download = self._download
        if download is None or download.number != event.copy:
            return False
        if not self._is_from_leader(download) or self._is_overtaken(download):
            self._download = None
            return False
        if event.unsupported is not None:
            # Another download would contain the same record, so a node of this version cannot
            # continue.
            self._state.outbox.emit(Exit(status=1, reason=event.unsupported))
            return False
        if event.loaded is None:
            self._abandon(now)
            return False
        self._download = None
        self._state.renew_fetch_timeout(now)
        install(self._state, download.number, event.loaded.stored)
        return True


def _fits(download: SnapshotDownload, fetched: SliceResult) -> bool:
    """Return whether the slice is the requested slice and agrees with the size of the file."""
    return (
        fetched.error == ErrorCode.NONE
        and fetched.snapshot == download.snapshot
        and fetched.position == download.position
        and download.size in {None, fetched.size}
        and 0 < len(fetched.data) <= fetched.size - fetched.position
    )
