"""End the connections of a listener that were idle for too long (connections.max.idle.ms).

A silent client would otherwise keep a place among the connections for ever, and so would a client
that asks and reads no answer. A connection with an open request or a throttle time is not idle, nor
is a connection whose client reads slowly.
"""

import asyncio
from collections.abc import Callable, Collection
from typing import Final

from kraftproof.node.server.clocks import read_clocks
from kraftproof.node.server.connection import Connection

NS_PER_S: Final = 1_000_000_000
LOOKS: Final = 4
"""Number of looks at the connections within the longest idle time."""


class IdleConnections:
    """A periodic look at the connections of a listener."""

    __slots__ = ("_connections", "_longest_ns", "_timer")

    def __init__(
        self, longest_ns: int | None, connections: Callable[[], Collection[Connection]]
    ) -> None:
        self._longest_ns = longest_ns
        """The longest idle time; None for no limit."""
        self._connections = connections
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """Begin to look at the connections."""
        if self._longest_ns is not None:
            seconds = self._longest_ns / NS_PER_S / LOOKS
            self._timer = asyncio.get_running_loop().call_later(seconds, self._look)

    def stop(self) -> None:
        """Stop to look at the connections."""
        if self._timer is not None:
            self._timer.cancel()

    def _look(self) -> None:
        assert self._longest_ns is not None, "a listener without a limit never looks"
        oldest = read_clocks().monotonic - self._longest_ns
        for connection in tuple(self._connections()):
            connection.note_reading()
            if connection.is_idle_since(oldest):
                connection.end_idle()
        self.start()
