"""A process's hands: they carry out its effects, one at a time, on disk and network.

The contract is node/core/effects.py; the order and the barriers are the process's (process.py).
The jury hears of each effect just before or after it, as its hook says.
"""

from collections.abc import Callable, Mapping
from typing import Any

from kraftproof.cluster.protocol import Link
from kraftproof.cluster.simulated.invariants.invariant import Observed
from kraftproof.cluster.simulated.network.endpoints import Party
from kraftproof.cluster.simulated.network.network import Call, Connection, OnUnsent
from kraftproof.cluster.simulated.network.transport import Outgoing
from kraftproof.cluster.simulated.node.environment import Surroundings
from kraftproof.cluster.simulated.node.snapshot_executor import SnapshotHands
from kraftproof.node.core.effects import (
    Append,
    Effect,
    Exit,
    Flush,
    Forward,
    OpenClientListeners,
    PersistQuorumState,
    Publish,
    Reply,
    ReplyWithSlice,
    Send,
    Truncate,
)
from kraftproof.node.core.events import Answered, Event, Flushed, Received, Unanswered
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.core.raft.snapshot_rpc import with_slice
from kraftproof.node.storage.stored import Storage
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import Message
from kraftproof.node.wire.messages.generated.envelope_response import EnvelopeResponse
from kraftproof.node.wire.messages.generated.fetch_request import FetchRequest
from kraftproof.node.wire.messages.generated.fetch_snapshot_request import FetchSnapshotRequest

_FETCHES = frozenset((FetchRequest, FetchSnapshotRequest))


class Hands:
    """What one process holds open, and what it does with it."""

    def __init__(
        self,
        process: Observed,
        party: Party,
        around: Surroundings,
        storage: Storage,
        *,
        listens: bool,
        take: Callable[[Event], None],
        when_running: Callable[[Callable[[], None]], None],
        guard: Callable[[Callable[[], None]], None],
    ) -> None:
        self.image = EMPTY_IMAGE
        self.listens = listens
        self.is_flushing = False
        self.calls: dict[int, tuple[Call, Received]] = {}
        self.replied: list[tuple[Received, Message]] = []
        """Answers of the step that is being carried out."""
        self._process = process
        self._party = party
        self._around = around
        self._jury = around.jury
        self._storage = storage
        self._take = take
        self._when_running = when_running
        self._guard = guard
        self._is_closed = False
        self._flushes: list[Flush] = []
        self._connections: dict[tuple[int, str], Connection] = {}
        self._snapshots = SnapshotHands(
            process, around, storage, take=take, when_running=when_running
        )
        self._does: Mapping[type, Callable[[Any], None]] = {
            **self._snapshots.does,
            Append: self._append,
            Flush: self._flush,
            Truncate: self._truncate,
            PersistQuorumState: self._persist,
            Send: self._send,
            Forward: self._forward,
            Reply: self._reply,
            ReplyWithSlice: self._reply_with_slice,
            Publish: self._publish,
            OpenClientListeners: self._open_listeners,
            Exit: self._exit,
        }

    def carry_out(self, effect: Effect) -> None:
        """Do what one effect says."""
        self._does[type(effect)](effect)

    def close(self) -> None:
        """Let go of everything: the process has ended."""
        self._is_closed = True
        self._snapshots.close()
        self._storage.close()
        for connection in self._connections.values():
            connection.close()

    # Disk

    def _append(self, effect: Append) -> None:
        around = self._around
        self._storage.append(effect)
        around.log.append(effect.batch)
        around.on_next_write()
        for appended in self._jury.on_appended:
            appended(self._process, effect.batch)

    def _truncate(self, effect: Truncate) -> None:
        for truncated in self._jury.on_truncated:
            truncated(self._process, effect.end_offset)
        self._around.log.truncate(effect.end_offset)  # it may fail half-way: no word is given
        self._storage.truncate(effect)

    def _persist(self, effect: PersistQuorumState) -> None:
        self._around.attempted = effect.state
        self._storage.persist_quorum_state(effect)
        self._around.attempted = None
        self._around.on_next_write()
        for persisted in self._jury.on_persisted:
            persisted(self._process, effect.state)

    def _flush(self, effect: Flush) -> None:
        self._flushes.append(effect)
        if not self.is_flushing:
            self._start_fsync()

    def _start_fsync(self) -> None:
        """One fsync at a time; it covers what was written before it, and answers all Flushes."""
        self.is_flushing = True
        flushes, self._flushes = self._flushes, []
        fsync = self._storage.start_flush(flushes[-1])
        log, end_offset = self._around.log, self._around.log.end_offset

        def finish() -> None:
            if not self._is_closed:
                try:
                    fsync()
                except OSError as failed:
                    error = failed
                    self._when_running(lambda: self._around.on_disk_error(self._process, error))
                    return
                log.durable_end = max(log.durable_end, end_offset)
                self._when_running(lambda: self._fsynced(flushes))

        self._around.scheduler.after(self._around.fsync_ns(), lambda: self._guard(finish))

    def _fsynced(self, flushes: list[Flush]) -> None:
        self.is_flushing = False
        if self._flushes:
            self._start_fsync()
        for flush in flushes:
            self._take(Flushed(generation=flush.generation, end_offset=flush.end_offset))

    # Network

    def _send(self, effect: Send) -> None:
        for sent in self._jury.on_sent[type(effect.message)]:
            sent(self._process, effect)
        lane = "fetch" if type(effect.message) in _FETCHES else "other"
        self._ask(effect, lane, Outgoing(message=effect.message, version=effect.version))

    def _forward(self, effect: Forward) -> None:
        """Where nothing took a connection there is no controller: node/server/peers.py says so."""
        outgoing = Outgoing(message=effect.message, version=effect.version, forward=effect)
        refusal = EnvelopeResponse(error_code=ErrorCode.NOT_CONTROLLER)
        self._ask(effect, "forward", outgoing, lambda: self._answered(effect, refusal))

    def _ask(
        self,
        effect: Send | Forward,
        lane: str,
        outgoing: Outgoing,
        on_unsent: OnUnsent | None = None,
    ) -> None:
        key = (effect.destination, lane)
        connection = self._connections.get(key)
        if connection is None or not connection.is_open:
            link = Link(self._around.node_id, effect.destination)
            connection = self._around.network.connect(link, self._party)
            self._connections[key] = connection
        connection.send(
            outgoing,
            effect.timeout_ns,
            lambda answer: self._answered(effect, answer),
            on_unsent,
            effect.connect_ns if isinstance(effect, Forward) else None,
        )

    def _answered(self, request: Send | Forward, answer: Message | None) -> None:
        if self._is_closed:
            return
        if answer is None:
            self._take(Unanswered(correlation=request.correlation))
            return
        for heard in self._jury.on_heard[type(request.message)]:
            heard(self._process, request, answer)
        self._take(Answered(correlation=request.correlation, message=answer))

    def _reply(self, effect: Reply) -> None:
        call, event = self.calls.pop(effect.request)
        for replying in self._jury.on_replying[type(event.message)]:
            replying(self._process, event, effect.message)
        self.replied.append((event, effect.message))
        call.answer(effect.message)

    def _reply_with_slice(self, effect: ReplyWithSlice) -> None:
        message = with_slice(effect.message, self._storage.read_slice(effect))
        self._reply(Reply(request=effect.request, message=message))

    # The process itself

    def _publish(self, effect: Publish) -> None:
        self.image = effect.image
        for published in self._jury.on_published:
            published(self._process, effect.offset, effect.image)

    def _open_listeners(self, effect: OpenClientListeners) -> None:
        del effect
        self.listens = True
        for opened in self._jury.on_opened:
            opened(self._process)

    def _exit(self, effect: Exit) -> None:
        self._around.on_exit(self._process, effect)
