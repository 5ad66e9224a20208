"""The order of effects: one after the other, held back by barriers and by work of the disk."""

from collections import deque
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any, Final, Generic

from kraftproof.node.core.audit import Audited
from kraftproof.node.core.base.log_id import METADATA_LOG
from kraftproof.node.core.effects import (
    Append,
    CheckSnapshot,
    CleanLog,
    Effect,
    EndRequest,
    Exit,
    Flush,
    Forward,
    InstallSnapshot,
    OpenClientListeners,
    PersistQuorumState,
    Publish,
    Reply,
    ReplyWithSlice,
    Send,
    StoreSlice,
    Truncate,
    WriteSnapshot,
)
from kraftproof.node.core.events import Event
from kraftproof.node.core.raft.snapshots.rpc import with_slice
from kraftproof.node.shell.flush_queue import FlushQueue
from kraftproof.node.shell.partition_executor import PartitionExecutor
from kraftproof.node.shell.peer_lanes import PeerLanes
from kraftproof.node.shell.ports import ClientT, ConnectionT, Ports
from kraftproof.node.shell.request_clock import RequestClock
from kraftproof.node.shell.request_table import RequestTable
from kraftproof.node.shell.snapshot_executor import SnapshotExecutor
from kraftproof.node.wire.records.batch import Batch, with_bytes
from kraftproof.node.wire.records.raw_batch import RawBatch

AWAITS_FLUSH: Final = frozenset((Truncate, InstallSnapshot, CleanLog))
"""Effects that change files which a running fsync may be on."""
BARRIERS: Final = frozenset((Truncate, InstallSnapshot, PersistQuorumState))
"""Effects that must be on disk before anything after them happens."""
LARGE_RECORDS: Final = 3_000
"""Minimum number of records of a batch that a worker encodes: about 10 ms of work."""


class EffectExecutor(Generic[ClientT, ConnectionT]):
    """Carries out the effects of one step at a time."""

    def __init__(
        self,
        ports: Ports[ClientT, ConnectionT],
        *,
        post: Callable[[Event], None],
        post_first: Callable[[Event], None],
        request_clock: RequestClock | None = None,
    ) -> None:
        self.is_held = False
        """Whether a barrier, or the work that an effect waits for, is under way."""
        self.is_over = False
        """Whether the node has exited, failed or was closed."""
        self.requests = RequestTable(ports.replies, request_clock)
        self.lanes = PeerLanes(ports.transport, ports.timers, ports.observer, post=post)
        self._disk = ports.disk
        self._workers = ports.workers
        self._process = ports.process
        self._observer = ports.observer
        self._effects: deque[Effect] = deque()
        self._awaits_flush = False
        self._flushes = FlushQueue(
            ports.disk,
            ports.workers,
            post=post,
            on_idle=self._flushes_done,
            on_failure=self._fail,
        )
        self._snapshots = SnapshotExecutor(
            ports.disk, ports.workers, post=post, on_failure=self._fail
        )
        self._partitions = PartitionExecutor(
            ports.disk.partitions,
            ports.workers,
            reply=self.requests.reply,
            post=post,
            post_first=post_first,
            on_failure=self._fail,
        )
        self._handlers = {**self._make_handlers(), **self._partitions.handlers()}

    def _make_handlers(self) -> Mapping[type, Callable[[Any], None]]:
        disk, snapshots = self._disk, self._snapshots
        return {
            Append: self._append,
            Flush: self._flush,
            Truncate: self._truncate,
            PersistQuorumState: disk.persist_quorum_state,
            WriteSnapshot: snapshots.request,
            StoreSlice: disk.store_slice,
            CheckSnapshot: snapshots.request,
            InstallSnapshot: disk.install_snapshot,
            CleanLog: disk.clean,
            Send: self.lanes.send,
            Forward: self.lanes.forward,
            Reply: self.requests.reply,
            EndRequest: self.requests.end,
            ReplyWithSlice: self._reply_with_slice,
            Publish: self._process.publish,
            OpenClientListeners: self._open_client_listeners,
            Audited: _leave_to_observer,
            Exit: self._exit,
        }

    def add(self, effects: Iterable[Effect]) -> None:
        """Put effects behind those that are still to be carried out."""
        self._effects.extend(effects)

    def execute(self) -> bool:
        """Carry out effects in order; return False if the rest must wait for the disk."""
        effects, handlers, observer = self._effects, self._handlers, self._observer
        while effects and not self.is_over:
            kind = type(effects[0])
            if self._flushes.is_busy and kind in AWAITS_FLUSH and _is_of_quorum(effects[0]):
                self._awaits_flush = True
                self._hold()
                return False
            effect = effects.popleft()
            if kind is Append and self._encodes_apart(effect):
                return False
            if self._partitions.failed is not None:
                effect = self._partitions.failed.correct(effect)
            try:
                handlers[kind](effect)
            except OSError as error:
                self._fail(error)
                return False
            observer.on_effect(effect)
            if kind in BARRIERS and _is_of_quorum(effect):
                self._hold()
                self._workers.barrier(self._pass_barrier)
                if self.is_held:
                    return False
        self._partitions.failed = None
        return not self.is_over

    def close(self) -> None:
        """Carry out nothing more, and let connections go."""
        self._end()
        self.lanes.close()

    def _flushes_done(self) -> None:
        """End the wait for a running fsync; a Flushed, which wakes the process, follows."""
        if self._awaits_flush:
            self._awaits_flush = False
            self._release()

    def _pass_barrier(self) -> None:
        self._release()
        self._process.wake()

    def _encodes_apart(self, effect: Effect) -> bool:
        """Let a worker encode a large batch; return False for a batch that is written at once."""
        assert isinstance(effect, Append), "only appends have a batch"
        batch = effect.batch
        if isinstance(batch, RawBatch) or not _has_to_be_encoded(batch):
            return False
        self._hold()
        self._workers.encode(batch, partial(self._append_encoded, batch), self._fail)
        return True

    def _append_encoded(self, batch: Batch, data: bytes) -> None:
        if not self.is_over:
            self._effects.appendleft(Append(METADATA_LOG, with_bytes(batch, data)))
            self._pass_barrier()

    def _hold(self) -> None:
        self.is_held = True
        self._observer.on_held()

    def _release(self) -> None:
        self.is_held = False
        self._observer.on_released()

    def _fail(self, error: OSError) -> None:
        """End: after a failed write or fsync the disk's content is unknown."""
        if not self.is_over:
            self._end()
            self._process.disk_failed(error)

    def _exit(self, effect: Exit) -> None:
        self._end()
        self._process.exit(effect)

    def _end(self) -> None:
        self.is_over = True
        self._flushes.close()
        self._snapshots.close()
        self._partitions.close()

    def _append(self, effect: Append) -> None:
        logs = self._disk if effect.log is METADATA_LOG else self._partitions
        logs.append(effect)

    def _flush(self, effect: Flush) -> None:
        if effect.log is METADATA_LOG:
            self._flushes.request(effect)
        else:
            self._partitions.flush(effect)

    def _truncate(self, effect: Truncate) -> None:
        logs = self._disk if effect.log is METADATA_LOG else self._partitions
        logs.truncate(effect)

    def _reply_with_slice(self, effect: ReplyWithSlice) -> None:
        message = with_slice(effect.message, self._disk.read_slice(effect))
        self.requests.reply(Reply(request=effect.request, message=message))

    def _open_client_listeners(self, effect: OpenClientListeners) -> None:
        del effect
        self._process.open_client_listeners()


def _leave_to_observer(effect: Audited) -> None:
    """Do nothing: the observer hears of each effect, and the audit log is an observer's."""


def _is_of_quorum(effect: Effect) -> bool:
    """Return whether a Truncate is that of the metadata log; other kinds are the quorum's alone."""
    return type(effect) is not Truncate or effect.log is METADATA_LOG


def _has_to_be_encoded(batch: Batch) -> bool:
    """Return whether a worker encodes the batch, as an event loop would stop for too long."""
    return len(batch.records) >= LARGE_RECORDS and batch.received is None
