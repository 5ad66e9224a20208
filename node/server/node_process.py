"""The process around one Node: events in a queue, one task that steps, effects in order.

Not: what the node decides (node/core). This is the shell of the contract in
node/core/effects.py; each rule of it is kept here or in the part named beside it:
the order (`_carry_out`), barriers (`_execute`), flushes (flusher.py), Send and Forward
(peers.py), replies (request_book.py; to clients that have gone: connection.py), nothing after
Exit (`run`).
"""

import asyncio
import random
import time
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial

from kraftproof.node.core.base.config import NodeConfig
from kraftproof.node.core.base.types import Instant, Monotonic, WallClock
from kraftproof.node.core.effects import (
    Append,
    CheckSnapshot,
    CleanLog,
    Effect,
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
from kraftproof.node.core.events import Answered, Event, Stop, Tick, Unanswered
from kraftproof.node.core.node import Node
from kraftproof.node.core.raft.snapshot_rpc import with_slice
from kraftproof.node.properties.config import ServerConfig
from kraftproof.node.properties.listeners import Binding
from kraftproof.node.server.console import say
from kraftproof.node.server.flusher import Flusher
from kraftproof.node.server.listener import Listener
from kraftproof.node.server.metrics.node_metrics import Meter
from kraftproof.node.server.peers import Peers
from kraftproof.node.server.pending_requests import RequestBook
from kraftproof.node.server.snapshot_worker import SnapshotWorker
from kraftproof.node.server.trace import TraceWriter
from kraftproof.node.storage.stored import Stored
from kraftproof.node.wire.schema import Message

NANOSECONDS_PER_SECOND = 1_000_000_000
EVENTS_PER_TURN = 100
"""Steps before sockets are looked at again."""
GOODBYE_SECONDS = 0.2
"""How long the last answers get to leave the sockets."""


def read_clocks() -> Instant:
    """Read both clocks of the machine."""
    return Instant(Monotonic(time.monotonic_ns()), WallClock(time.time_ns()))


class NodeProcess:
    """One running node."""

    def __init__(
        self,
        config: ServerConfig,
        node_config: NodeConfig,
        stored: Stored,
        *,
        hosts: Mapping[str, str],
        trace: TraceWriter | None,
    ) -> None:
        chance = random.Random(random.SystemRandom().getrandbits(256))
        self._node = Node(
            node_config,
            stored.durable,
            stored.batches,
            chance,
            read_clocks(),
            history=stored.history,
        )
        self._storage = stored.storage
        self._trace = trace
        self._peers = Peers(node_config, hosts)
        self._flusher = Flusher(
            self._storage, on_flushed=self.post, on_failure=self._fail, on_timed=self._flushed
        )
        self._snapshots = SnapshotWorker(self._storage, on_done=self.post, on_failure=self._fail)
        self._meter = self._measure(config)
        self._requests = RequestBook(self.post, self._replied)
        self._listeners = [self._listener(config, binding) for binding in config.bindings]
        self._controller_listeners = [
            listener
            for listener, binding in zip(self._listeners, config.bindings, strict=True)
            if binding.is_controller
        ]
        self._events: deque[Event] = deque()
        self._wake = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None
        self._exit: Exit | None = None
        self._handlers: dict[type[object], Callable[..., None]] = {
            Append: self._storage.append,
            Flush: self._flusher.request,
            Truncate: self._storage.truncate,
            WriteSnapshot: self._snapshots.write,
            StoreSlice: self._storage.store_slice,
            CheckSnapshot: self._snapshots.check,
            InstallSnapshot: self._storage.install_snapshot,
            CleanLog: self._storage.clean,
            PersistQuorumState: self._storage.persist_quorum_state,
            Send: self._send,
            Forward: self._forward,
            Reply: self._requests.reply,
            ReplyWithSlice: self._reply_with_slice,
            Publish: self._publish,
            OpenClientListeners: self._open_client_listeners,
            Exit: self._leave,
        }

    def _measure(self, config: ServerConfig) -> Meter | None:
        if config.metrics_address is None:
            return None
        return Meter(
            config.metrics_address,
            self._node.status(),
            read_clocks,
            lambda: self._peers.unknown_voters,
        )

    async def run(self) -> int:
        """Run until the node exits, and return the status to exit with."""
        for listener in self._controller_listeners:
            await listener.open()
        if self._meter is not None:
            await self._meter.endpoint.open()
        now = read_clocks()
        await self._execute(self._node.start(now), now, "start")
        while self._exit is None:
            if not self._events:
                await self._idle()
            for _ in range(min(len(self._events), EVENTS_PER_TURN)):
                if self._exit is None:
                    await self._step(self._events.popleft())
            await asyncio.sleep(0)
        await self._close()
        if self._exit.status:
            say(self._exit.reason)
        return self._exit.status

    async def _idle(self) -> None:
        """Wait for an event."""
        begun = read_clocks().monotonic
        self._wake.clear()
        await self._wake.wait()
        if self._meter is not None:
            self._meter.idled(begun)

    def post(self, event: Event) -> None:
        """Put an event at the end of the queue."""
        self._events.append(event)
        self._wake.set()

    def stop(self) -> None:
        """SIGTERM has come."""
        self.post(Stop())

    async def _step(self, event: Event) -> None:
        now = read_clocks()
        effects = self._node.step(event, now)
        if self._meter is not None:
            self._meter.stepped(self._node.status(), now.monotonic)
        await self._execute(effects, now, type(event).__name__)

    async def _execute(self, effects: list[Effect], now: Instant, event: str) -> None:
        """Carry out effects in order, then say what has changed and when to wake up again.

        What changes segments waits for the running fsync; all that is a barrier is synchronous.
        """
        for effect in effects:
            if isinstance(effect, Truncate | InstallSnapshot | CleanLog):
                await self._flusher.settled()
            if self._exit is None:
                self._carry_out(effect)
        self._write_trace(now, event)
        self._set_timer()

    def _carry_out(self, effect: Effect) -> None:
        try:
            self._handlers[type(effect)](effect)
        except OSError as error:
            self._fail(error)

    def _write_trace(self, now: Instant, event: str) -> None:
        if self._trace is not None:
            try:
                self._trace.write(self._node.status(), now, event)
            except OSError as error:
                self._fail(error)

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        deadline = self._node.deadline()
        if deadline is not None and self._exit is None:
            loop = asyncio.get_running_loop()
            when = deadline / NANOSECONDS_PER_SECOND
            self._timer = loop.call_at(when, self.post, Tick())

    def _flushed(self, begun: Monotonic) -> None:
        if self._meter is not None:
            self._meter.flushed(begun)

    def _replied(self, request: Message, since: Monotonic) -> None:
        if self._meter is not None:
            self._meter.answered(request, since)

    def _fail(self, error: BaseException) -> None:
        """Disk failures are fatal: what was written is unknown, so nothing more may be said."""
        self._leave(Exit(status=1, reason=f"the disk failed: {error}"))

    def _leave(self, effect: Exit) -> None:
        if self._exit is None:
            self._exit = effect
        self._wake.set()

    def _send(self, effect: Send) -> None:
        self._peers.send(effect, partial(self._answered, effect.correlation))

    def _forward(self, effect: Forward) -> None:
        self._peers.forward(effect, partial(self._answered, effect.correlation))

    def _answered(self, correlation: int, message: Message | None) -> None:
        if message is None:
            self.post(Unanswered(correlation=correlation))
        else:
            self.post(Answered(correlation=correlation, message=message))

    def _reply_with_slice(self, effect: ReplyWithSlice) -> None:
        message = with_slice(effect.message, self._storage.read_slice(effect))
        self._requests.reply(Reply(request=effect.request, message=message))

    def _publish(self, effect: Publish) -> None:
        """The image is the core's; nothing of this process reads it but the trace."""

    def _open_client_listeners(self, _: OpenClientListeners) -> None:
        loop = asyncio.get_running_loop()
        for listener in self._listeners:
            if listener not in self._controller_listeners:
                task = loop.create_task(listener.open())
                task.add_done_callback(self._opened)

    def _opened(self, task: "asyncio.Task[None]") -> None:
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self._leave(Exit(status=1, reason=f"listeners: {error}"))

    def _listener(self, config: ServerConfig, binding: Binding) -> Listener:
        return Listener(
            binding,
            limit=config.connections,
            frame_bytes=config.frame_bytes,
            on_request=self._requests.receive,
        )

    def _note_offsets(self) -> None:
        """Nothing depends on it: a disk that fails only now makes the next start read more."""
        try:
            self._storage.stopped(self._node.status().high_watermark)
        except OSError as error:
            say(f"the disk failed after the stop: {error}")

    async def _close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._meter is not None:
            self._meter.endpoint.close()
        for listener in self._listeners:
            listener.close()
        await asyncio.sleep(GOODBYE_SECONDS)
        self._peers.close()
        self._flusher.close()
        self._snapshots.close()
        if self._exit is not None and self._exit.status == 0:
            self._note_offsets()
        self._storage.close()
        if self._trace is not None:
            self._trace.close()
