"""One client's connection: frames in, answers out in the order of the requests.

Not: what is asked (node/server/requests.py). Bounded on every side: bytes of a frame, requests
in flight (then reading stops, and TCP holds the client back), and answers that are not read.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable
from typing import Protocol

from typing_extensions import override

from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.frames import FrameSplitter
from kraftproof.node.wire.principal import ANONYMOUS

MAX_IN_FLIGHT = 100


class Slot:
    """The place of one answer in the order of a connection's answers."""

    __slots__ = ("_connection", "answer")

    def __init__(self, connection: "Connection") -> None:
        self._connection = connection
        self.answer: bytes | None = None

    def respond(self, answer: bytes) -> None:
        """Send the answer as soon as all before it are sent; a client that has gone misses it."""
        self.answer = answer
        self._connection.send_ready()

    def mute(self, duration_ns: int) -> None:
        """Take no further request of the connection for a time."""
        self._connection.mute(duration_ns)

    def abandon(self) -> None:
        """There is no answer that the client could read: end its connection."""
        self._connection.abort()


class Login(Protocol):
    """The login of a connection, which takes the frames before its end."""

    def takes(self, payload: bytes) -> bool:
        """Return whether a frame belongs to the login."""

    def receive(self, payload: bytes, slot: Slot) -> None:
        """Take a frame of the login. A WireError ends the connection."""


class ConnectionOwner(Protocol):
    """The listener as its connections see it."""

    frame_bytes: int

    def opened(self, connection: "Connection") -> bool:
        """Take a connection in; False: there are too many."""

    def handle(self, connection: "Connection", payload: bytes, slot: Slot) -> None:
        """Take one request; its answer goes into the slot. A WireError ends the connection."""

    def closed(self, connection: "Connection") -> None:
        """The connection has ended."""

    def refused(self, reason: str) -> None:
        """A connection is ended because of what it sent."""

    def call_soon(self, action: Callable[[], None]) -> None:
        """Call `action` after what is being done now."""

    def call_later(self, delay_ns: int, action: Callable[[], None]) -> None:
        """Call `action` after a time."""


class Connection(asyncio.Protocol):
    """A client, as long as it stays connected."""

    __slots__ = (
        "_active_ns",
        "_is_held",
        "_mutes",
        "_owner",
        "_paused",
        "_payloads",
        "_slots",
        "_splitter",
        "_transport",
        "_unread_bytes",
        "host",
        "login",
        "principal",
    )

    def __init__(self, owner: ConnectionOwner) -> None:
        self._owner = owner
        self._splitter = FrameSplitter(owner.frame_bytes)
        self._payloads: deque[bytes] = deque()
        self._slots: deque[Slot] = deque()
        self._transport: asyncio.Transport | None = None
        self._paused = False
        self._is_held = False
        """Whether the requests behind a large one wait until a thread has decoded it."""
        self._active_ns = time.monotonic_ns()
        """The time of the last bytes in either direction."""
        self._unread_bytes = 0
        """The answers that the client had not read at the last look of `note_reading`."""
        self._mutes = 0
        """Number of answers whose throttle time has not passed."""
        self.host = ""
        self.principal = ANONYMOUS
        """The client, as the certificate or the login has proven."""
        self.login: Login | None = None
        """The login of the connection, on a listener with SASL."""

    @override
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        peer = transport.get_extra_info("peername")
        self.host = str(peer[0]) if peer else ""
        # Without an address the client has gone already.
        if not self._owner.opened(self) or not peer:
            self.abort()

    @override
    def connection_lost(self, exc: Exception | None) -> None:
        self._transport = None
        self._payloads.clear()
        self._slots.clear()
        self._owner.closed(self)

    @override
    def data_received(self, data: bytes) -> None:
        if data:
            self._active_ns = time.monotonic_ns()
        self._unless_refused(lambda: self._payloads.extend(self._splitter.feed(data)))

    def limit_frames(self, size: int) -> None:
        """Refuse larger frames from now on."""
        self._splitter.limit_to(size)

    def hold(self) -> None:
        """Take no further request until `release`."""
        self._is_held = True

    def release(self, take: Callable[[], None]) -> None:
        """Take the request that the others waited for, which may be a WireError, and go on."""
        self._is_held = False
        if self._transport is not None:
            self._unless_refused(take)

    def note_reading(self) -> None:
        """Note the time if the client has read of its answers since the last call."""
        left = 0 if self._transport is None else self._transport.get_write_buffer_size()
        if left < self._unread_bytes:
            self._active_ns = time.monotonic_ns()
        self._unread_bytes = left

    def is_idle_since(self, time_ns: int) -> bool:
        """Return whether no byte came or went since a time, and nobody waits for an answer.

        A client that reads no answers waits for none, however many requests are open.
        """
        is_waiting = bool(self._slots or self._payloads) and not self._paused
        return not is_waiting and self._mutes == 0 and self._active_ns <= time_ns

    def end_idle(self) -> None:
        """End an idle connection; a second call drops the unread answers."""
        if self._transport is not None and self._transport.is_closing():
            self.abort()
        else:
            self.close()

    def end_after(self, duration_ns: int) -> None:
        """Read nothing, and end the connection after a time."""
        self.hold()
        self._regulate()
        self._owner.call_later(duration_ns, self.abort)

    def mute(self, duration_ns: int) -> None:
        """Take no further request for a time."""
        self._mutes += 1
        self._regulate()
        self._owner.call_later(duration_ns, self._unmute)

    def _unmute(self) -> None:
        self._mutes -= 1
        if self._transport is not None:
            self._go_on()

    def _unless_refused(self, act: Callable[[], None]) -> None:
        """Act and take requests; a WireError ends the connection."""
        try:
            act()
            self._take_requests()
        except WireError as error:
            self._owner.refused(f"{self.host}: {error}")
            self.abort()

    @override
    def pause_writing(self) -> None:
        self._paused = True
        self._regulate()

    @override
    def resume_writing(self) -> None:
        self._paused = False
        self._go_on()

    def send_ready(self) -> None:
        """Send the answers that are ready, up to the first that is not."""
        transport = self._transport
        if transport is None:
            return
        ready: list[bytes] = []
        while self._slots and self._slots[0].answer is not None:
            ready.append(self._slots.popleft().answer or b"")
        if ready:
            self._active_ns = time.monotonic_ns()
            transport.writelines(ready)
            if self._payloads:
                self._owner.call_soon(self._go_on)
            else:
                self._regulate()

    def abort(self) -> None:
        """End the connection at once."""
        if self._transport is not None:
            self._transport.abort()

    def close(self) -> None:
        """End the connection once what was answered is sent."""
        if self._transport is not None:
            self._transport.close()

    def _go_on(self) -> None:
        self.data_received(b"")

    def _take_requests(self) -> None:
        while self._payloads and not self._is_full() and self._transport is not None:
            slot = Slot(self)
            self._slots.append(slot)
            self._owner.handle(self, self._payloads.popleft(), slot)
        self._regulate()

    def _is_full(self) -> bool:
        is_muted = self._mutes > 0 or self._is_held
        return self._paused or is_muted or len(self._slots) >= MAX_IN_FLIGHT

    def _regulate(self) -> None:
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        if self._is_full():
            transport.pause_reading()
        elif not self._payloads:
            transport.resume_reading()
