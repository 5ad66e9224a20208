"""Compare a connection with its rules: order of answers, bounds, throttle times, idle times.

A request is taken in order, unless the connection is muted, waits for a large request, has too many
requests in flight, or has a client that does not read. The payload of a request tells the owner how
to handle it.
"""

import struct
from collections import deque
from collections.abc import Callable
from random import Random
from typing import Final

from msgspec import Struct
from typing_extensions import override

from kraftproof.cluster.simulated.differential.difference import same
from kraftproof.cluster.simulated.differential.server.virtual_loop import (
    NS_PER_S,
    START_NS,
    VirtualLoop,
    VirtualSocket,
    virtual_loop,
)
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.server.connection import Connection, ConnectionOwner, Slot

STEPS: Final = 80
MOST_IN_FLIGHT: Final = 100
FRAME_BYTES: Final = 40
LATER, AT_ONCE, MUTED, HELD, UNANSWERED = b"later", b"now", b"mute", b"hold", b"quiet"
KINDS: Final = (LATER, LATER, LATER, AT_ONCE, MUTED, HELD, UNANSWERED)
SLOW_KINDS: Final = (*(LATER,) * 40, AT_ONCE)
"""Kinds of a client whose requests fill the connection."""
MUTES_MS: Final = (1, 50, 400)


class _Owner(ConnectionOwner):
    """A listener that handles each request as the payload says."""

    frame_bytes = FRAME_BYTES

    def __init__(self, loop: VirtualLoop) -> None:
        self._loop = loop
        self.taken: list[bytes] = []
        self.open: dict[bytes, Slot] = {}
        """The slots of the requests without an answer, in order."""
        self.held: list[bytes] = []
        self.refusals = 0
        self.is_closed = False

    @override
    def opened(self, connection: Connection) -> bool:
        return True

    @override
    def closed(self, connection: Connection) -> None:
        self.is_closed = True

    @override
    def refused(self, reason: str) -> None:
        self.refusals += 1

    @override
    def call_soon(self, action: Callable[[], None]) -> None:
        self._loop.call_soon(action)

    @override
    def call_later(self, delay_ns: int, action: Callable[[], None]) -> None:
        self._loop.call_later(delay_ns / NS_PER_S, action)

    @override
    def handle(self, connection: Connection, payload: bytes, slot: Slot) -> None:
        self.taken.append(payload)
        kind, _, number = payload.split(b":")
        if kind == MUTED:
            slot.mute(milliseconds(int(number)))
        if kind == HELD:
            connection.hold()
            self.held.append(payload)
        if kind in {AT_ONCE, MUTED}:
            slot.respond(payload)
        elif kind == UNANSWERED:
            slot.respond(b"")
        else:
            self.open[payload] = slot


class _Request(Struct):
    """A request in flight, with the answer once there is one."""

    payload: bytes
    answer: bytes | None = None


class _Model:
    """The connection as lists."""

    def __init__(self) -> None:
        self.queue: deque[bytes] = deque()
        self.taken: list[bytes] = []
        self.flying: deque[_Request] = deque()
        self.written = b""
        self.mutes: list[int] = []
        """The ends of the throttle times."""
        self.holds = False
        self.is_stuck = False
        """Whether the client does not read."""
        self.active_ns = START_NS
        self.is_over = False

    @property
    def is_full(self) -> bool:
        """Return whether no further request is taken."""
        is_waiting = self.is_stuck or bool(self.mutes) or self.holds
        return is_waiting or len(self.flying) >= MOST_IN_FLIGHT

    def settle(self, now_ns: int) -> None:
        """Send the answers and take the requests that nothing holds up."""
        while not self.is_over:
            if self.flying and self.flying[0].answer is not None:
                self.written += self.flying.popleft().answer or b""
                self.active_ns = now_ns
            elif self.queue and not self.is_full:
                self._take(self.queue.popleft(), now_ns)
            else:
                return

    def _take(self, payload: bytes, now_ns: int) -> None:
        self.taken.append(payload)
        kind, _, number = payload.split(b":")
        request = _Request(payload)
        self.flying.append(request)
        if kind == MUTED:
            self.mutes.append(now_ns + milliseconds(int(number)))
        self.holds = self.holds or kind == HELD
        if kind in {AT_ONCE, MUTED, UNANSWERED}:
            request.answer = b"" if kind == UNANSWERED else payload

    def is_idle(self, since_ns: int) -> bool:
        """Return whether nobody waits, and no byte has come or gone since a time."""
        waits = bool(self.flying or self.queue) and not self.is_stuck
        return not waits and not self.mutes and self.active_ns <= since_ns


class _Compared:
    """Both ends of a connection, and the model of the connection."""

    def __init__(self, random: Random, loop: VirtualLoop) -> None:
        self._random, self._loop = random, loop
        self._owner, self._socket, self._model = _Owner(loop), VirtualSocket(loop), _Model()
        self._connection = Connection(self._owner)
        self._socket.connect(self._connection)
        self._noted_unread = 0
        self._number = 0
        self._kinds = random.choice((KINDS, SLOW_KINDS))

    def step(self) -> None:
        """Let client, owner or clock act, and compare."""
        random = self._random
        kind = random.random()
        if kind < 0.35:
            self._send()
        elif kind < 0.6:
            self._answer(random.choice((1, 1, 20)))
        elif kind < 0.7:
            self._release()
        elif kind < 0.78:
            self._stop_or_read()
        elif kind < 0.82:
            self._connection.mute(milliseconds(30))
            self._model.mutes.append(self._loop.now_ns + milliseconds(30))
        elif kind < 0.83:
            self._send_garbage()
        else:
            self._pass_time(milliseconds(random.choice((1, 10, 100))))
        self._pass_time(0)
        self._compare()

    @property
    def is_over(self) -> bool:
        """Return whether the connection has ended."""
        return self._model.is_over

    def _send(self) -> None:
        """Send frames in pieces, as far as the node reads."""
        random, payloads = self._random, []
        for _ in range(random.choice((1, 1, 3, 60))):
            self._number += 1
            kind, time_ms = random.choice(self._kinds), random.choice(MUTES_MS)
            payloads.append(b"%s:%d:%d" % (kind, self._number, time_ms))
        if not self._socket.is_reading():
            return
        data = b"".join(struct.pack(">i", len(each)) + each for each in payloads)
        self._model.queue.extend(payloads)
        self._model.active_ns = self._loop.now_ns
        cut = random.randrange(len(data))
        # The node may stop to read in between; the bytes on their way arrive nevertheless.
        self._socket.receive(data[:cut])
        self._socket.receive(data[cut:])
        self._model.settle(self._loop.now_ns)

    def _send_garbage(self) -> None:
        if self._socket.is_reading():
            size = self._random.choice((-1, FRAME_BYTES + 1, 1 << 30))
            self._socket.receive(struct.pack(">i", size))
            self._model.is_over = True

    def _answer(self, most: int) -> None:
        """Answer requests, in any order."""
        for _ in range(min(most, len(self._owner.open))):
            payload = self._random.choice(list(self._owner.open))
            self._owner.open.pop(payload).respond(payload)
            for request in self._model.flying:
                if request.payload == payload:
                    request.answer = payload
            self._pass_time(0)

    def _release(self) -> None:
        if self._owner.held:
            self._owner.held.pop()
            self._model.holds = False
            self._connection.release(lambda: None)

    def _stop_or_read(self) -> None:
        """Let the client stop to read, or read again."""
        if self._model.is_stuck:
            self._socket.read_all()
            self._model.is_stuck = False
            self._connection.resume_writing()
        else:
            self._model.is_stuck = True
            self._connection.pause_writing()

    def _pass_time(self, for_ns: int) -> None:
        """Let time pass; each throttle time ends at its own time."""
        model, end_ns = self._model, self._loop.now_ns + for_ns
        while True:
            model.settle(self._loop.now_ns)
            due_ns = min(model.mutes, default=end_ns + 1)
            if due_ns > end_ns:
                break
            self._loop.run(due_ns - self._loop.now_ns)
            model.mutes.remove(due_ns)
        self._loop.run(end_ns - self._loop.now_ns)
        model.settle(self._loop.now_ns)

    def _compare(self) -> None:
        model, owner, socket = self._model, self._owner, self._socket
        same("whether the connection has ended", not socket.is_open, model.is_over)
        same("the end of the connection is told", owner.is_closed, model.is_over)
        same("the number of refusals", owner.refusals, int(model.is_over))
        if model.is_over:
            return
        same("the taken requests", owner.taken[-3:], model.taken[-3:])
        same("the number of taken requests", len(owner.taken), len(model.taken))
        same("the written answers", socket.written[-60:], model.written[-60:])
        same("the bytes of answers", len(socket.written), len(model.written))
        same("whether the node reads", socket.is_reading(), not model.is_full)
        self._connection.note_reading()
        if socket.unread < self._noted_unread:
            model.active_ns = self._loop.now_ns
        self._noted_unread = socket.unread
        for ago_ms in (0, 5, 50):
            since_ns = self._loop.now_ns - milliseconds(ago_ms)
            found = self._connection.is_idle_since(since_ns)
            same(f"whether the connection is idle for {ago_ms} ms", found, model.is_idle(since_ns))


def compare_connections(random: Random) -> None:
    """Let the client and the owner of a connection act, and compare with the model.

    Raises:
        DifferenceError: the node has another result than the model.
    """
    with virtual_loop() as loop:
        compared = _Compared(random, loop)
        for _ in range(STEPS):
            compared.step()
            if compared.is_over:
                return
