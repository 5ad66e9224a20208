"""An event loop in virtual time, with sockets that a comparison plays the other end of."""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from heapq import heappop, heappush
from typing import Any, Final, cast

from typing_extensions import override

from kraftproof.node.server import clocks, connection

NS_PER_S: Final = 1_000_000_000
START_NS: Final = 3_600 * NS_PER_S
"""The clock of a machine that has run for an hour."""
PEER: Final = ("10.0.0.7", 5000)
Action = Callable[[], Any]


class VirtualTimer:
    """A delayed call, as the event loop returns one."""

    def __init__(self, action: Action) -> None:
        self.action: Action | None = action
        """None for a cancelled call."""

    def cancel(self) -> None:
        """Do not call."""
        self.action = None


class VirtualLoop:
    """The part of an event loop and of the clocks that a listener needs."""

    def __init__(self) -> None:
        self.now_ns = START_NS
        self.factory: Callable[[], asyncio.Protocol] | None = None
        """Makes the protocol of a new socket, on the listening address."""
        self._order = 0
        self._timers: list[tuple[int, int, VirtualTimer]] = []

    def monotonic_ns(self) -> int:
        """Return the time, in the place of the module `time`."""
        return self.now_ns

    time_ns = monotonic_ns

    def call_later(self, delay_s: float, action: Action, *arguments: object) -> VirtualTimer:
        """Call later."""
        assert not arguments, "no call of a listener has arguments"
        timer = VirtualTimer(action)
        self._order += 1
        heappush(self._timers, (self.now_ns + round(delay_s * NS_PER_S), self._order, timer))
        return timer

    def call_soon(self, action: Action) -> VirtualTimer:
        """Call in the next turn."""
        return self.call_later(0, action)

    async def create_server(
        self, factory: Callable[[], asyncio.Protocol], host: str | None, port: int
    ) -> None:
        """Take the address of a listener."""
        del host, port
        self.factory = factory

    def run(self, for_ns: int = 0) -> None:
        """Let time pass, with the calls that are due."""
        end_ns = self.now_ns + for_ns
        while self._timers and self._timers[0][0] <= end_ns:
            self.now_ns, _, timer = heappop(self._timers)
            if timer.action is not None:
                timer.action()
        self.now_ns = end_ns


class VirtualSocket(asyncio.Transport):
    """A socket; the client reads the written bytes whenever the comparison says so."""

    def __init__(self, loop: VirtualLoop) -> None:
        super().__init__()
        self._loop = loop
        self._protocol: asyncio.Protocol | None = None
        self._is_closing = False
        self.written = b""
        self.unread = 0
        """The written bytes that the client has not read."""
        self._is_reading = True
        self.is_open = True

    def connect(self, protocol: asyncio.Protocol) -> None:
        """Begin the connection."""
        self._protocol = protocol
        protocol.connection_made(self)

    def receive(self, data: bytes) -> None:
        """Take bytes of the client."""
        if self.is_open and self._protocol is not None:
            self._protocol.data_received(data)

    def read_all(self) -> None:
        """Let the client read; a connection that waited for this ends."""
        self.unread = 0
        if self._is_closing:
            self._end()

    @override
    def get_extra_info(self, name: str, default: object = None) -> object:
        return PEER if name == "peername" else default

    @override
    def is_closing(self) -> bool:
        return self._is_closing

    @override
    def writelines(self, list_of_data: Iterable[bytes | bytearray | memoryview]) -> None:
        data = b"".join(list_of_data)
        if self.is_open and not self._is_closing:
            self.written += data
            self.unread += len(data)

    @override
    def get_write_buffer_size(self) -> int:
        return self.unread

    @override
    def is_reading(self) -> bool:
        return self._is_reading

    @override
    def pause_reading(self) -> None:
        self._is_reading = False

    @override
    def resume_reading(self) -> None:
        self._is_reading = True

    @override
    def close(self) -> None:
        self._is_closing = True
        if not self.unread:
            self._end()

    @override
    def abort(self) -> None:
        self._is_closing = True
        self._end()

    def _end(self) -> None:
        if self.is_open:
            self.is_open = False
            assert self._protocol is not None, "an open socket is connected"
            protocol = self._protocol
            self._loop.call_soon(lambda: protocol.connection_lost(None))


@contextmanager
def virtual_loop() -> Iterator[VirtualLoop]:
    """Run the server's code in a virtual loop; both clocks of the machine are the loop's."""
    loop, before = VirtualLoop(), asyncio._get_running_loop()  # noqa: SLF001 - see the docs
    modules = cast("tuple[Any, ...]", (clocks, connection))
    kept = [module.time for module in modules]
    asyncio._set_running_loop(cast("Any", loop))  # noqa: SLF001 - for makers of loops
    for module in modules:
        module.time = loop
    try:
        yield loop
    finally:
        asyncio._set_running_loop(before)  # noqa: SLF001
        for module, was in zip(modules, kept, strict=True):
            module.time = was
