"""The process around one Node: events in a queue, one task that steps, effects in order.

Not: what the node decides (node/core). This is the shell of the contract in
node/core/effects.py; each rule of it is kept here or in the part named beside it:
the order (`_carry_out`), barriers (`_execute`), flushes (flusher.py), Send and Forward
(peers.py), replies to clients that have gone (connection.py), nothing after Exit (`run`).
"""

import asyncio
import random
import time
from collections import deque
from collections.abc import Callable, Mapping
from functools import partial

from msgspec import Struct

from node.core.config import NodeConfig
from node.core.effects import (
    Append,
    Effect,
    Exit,
    Flush,
    Forward,
    OpenClientListeners,
    PersistQuorumState,
    Publish,
    Reply,
    Send,
    Truncate,
)
from node.core.events import Answered, Event, Received, Stop, Tick, Unanswered
from node.core.node import Node
from node.core.types import Instant, Monotonic, WallClock
from node.server.config import ServerConfig
from node.server.config_listeners import Binding
from node.server.connection import Slot
from node.server.console import say
from node.server.envelope import Opened, Refusal, open_request, received_from
from node.server.flusher import Flusher
from node.server.listener import Listener
from node.server.peers import Peers
from node.server.requests import Request, answer_frame
from node.server.trace import TraceWriter
from node.storage.stored import Stored
from node.wire.errors import WireError
from node.wire.messages.generated.envelope_request import EnvelopeRequest
from node.wire.messages.generated.envelope_response import EnvelopeResponse
from node.wire.principal import ANONYMOUS
from node.wire.schema import Message

NANOSECONDS_PER_SECOND = 1_000_000_000
EVENTS_PER_TURN = 100
"""Steps before sockets are looked at again."""
GOODBYE_SECONDS = 0.2
"""How long the last answers get to leave the sockets."""


class _Waiting(Struct, frozen=True, kw_only=True):
    """A request that the node has not answered yet."""

    slot: Slot
    request: Request
    opened: Opened | None


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
        self._node = Node(node_config, stored.durable, stored.batches, chance, read_clocks())
        self._storage = stored.storage
        self._trace = trace
        self._peers = Peers(node_config, hosts)
        self._flusher = Flusher(self._storage, on_flushed=self.post, on_failure=self._fail)
        self._listeners = [self._listener(config, binding) for binding in config.bindings]
        self._controller_listeners = [
            listener
            for listener, binding in zip(self._listeners, config.bindings, strict=True)
            if binding.is_controller
        ]
        self._waiting: dict[int, _Waiting] = {}
        self._requests = 0
        self._events: deque[Event] = deque()
        self._wake = asyncio.Event()
        self._timer: asyncio.TimerHandle | None = None
        self._exit: Exit | None = None
        self._handlers: dict[type[object], Callable[..., None]] = {
            Append: self._storage.append,
            Flush: self._flusher.request,
            Truncate: self._storage.truncate,
            PersistQuorumState: self._storage.persist_quorum_state,
            Send: self._send,
            Forward: self._forward,
            Reply: self._reply,
            Publish: self._publish,
            OpenClientListeners: self._open_client_listeners,
            Exit: self._leave,
        }

    async def run(self) -> int:
        """Run until the node exits, and return the status to exit with."""
        for listener in self._controller_listeners:
            await listener.open()
        now = read_clocks()
        await self._execute(self._node.start(now), now, "start")
        while self._exit is None:
            if not self._events:
                self._wake.clear()
                await self._wake.wait()
            for _ in range(min(len(self._events), EVENTS_PER_TURN)):
                if self._exit is None:
                    await self._step(self._events.popleft())
            await asyncio.sleep(0)
        await self._close()
        if self._exit.status:
            say(self._exit.reason)
        return self._exit.status

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
        await self._execute(effects, now, type(event).__name__)

    async def _execute(self, effects: list[Effect], now: Instant, event: str) -> None:
        """Carry out effects in order, then say what has changed and when to wake up again.

        Truncate waits for the running fsync; all else that is a barrier is synchronous.
        """
        for effect in effects:
            if isinstance(effect, Truncate):
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

    def _reply(self, effect: Reply) -> None:
        waiting = self._waiting.pop(effect.request)
        try:
            waiting.slot.fill(answer_frame(waiting.request, effect.message, waiting.opened))
        except WireError as error:
            say(f"an answer could not be written: {error}")
            waiting.slot.abandon()

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
            on_request=self._receive,
        )

    def _receive(self, binding: Binding, client_host: str, request: Request, slot: Slot) -> None:
        """A request has arrived: make it an event; an envelope is opened first."""
        self._requests += 1
        event = Received(
            request=self._requests,
            message=request.message,
            version=request.header.version,
            on_controller_listener=binding.is_controller,
            principal=ANONYMOUS,
            client_host=client_host,
        )
        opened: Opened | None = None
        if isinstance(request.message, EnvelopeRequest):
            content = open_request(request.message)
            if isinstance(content, Refusal):
                refusal = EnvelopeResponse(error_code=content.error_code)
                slot.fill(answer_frame(request, refusal, None))
                return
            opened = content
            event = received_from(opened, event)
        self._waiting[self._requests] = _Waiting(slot=slot, request=request, opened=opened)
        self.post(event)

    async def _close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        for listener in self._listeners:
            listener.close()
        await asyncio.sleep(GOODBYE_SECONDS)
        self._peers.close()
        self._flusher.close()
        self._storage.close()
        if self._trace is not None:
            self._trace.close()
