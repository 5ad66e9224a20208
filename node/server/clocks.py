"""The shell's clocks and timers over the machine's clocks and asyncio's event loop."""

import asyncio
import time
from collections.abc import Callable

from typing_extensions import override

from kraftproof.node.core.base.types import Instant, Monotonic, WallClock
from kraftproof.node.shell.ports import NodeClock, Timers

NANOSECONDS_PER_SECOND = 1_000_000_000


def read_clocks() -> Instant:
    """Read both clocks of the machine."""
    return Instant(Monotonic(time.monotonic_ns()), WallClock(time.time_ns()))


class LoopTimers(Timers):
    """Delayed calls of the event loop."""

    __slots__ = ()

    @override
    def now_ns(self) -> int:
        return time.monotonic_ns()

    @override
    def after(self, delay_ns: int, action: Callable[[], None]) -> asyncio.TimerHandle:
        return asyncio.get_running_loop().call_later(delay_ns / NANOSECONDS_PER_SECOND, action)


class LoopClock(NodeClock):
    """The machine's clocks, and a timer of the event loop for the node's deadline.

    A deadline moves with most steps, mostly further away: the timer then stays, and looks at the
    deadline when it rings.
    """

    __slots__ = ("_deadline", "_tick", "_timer")

    def __init__(self, tick: Callable[[], None]) -> None:
        self._tick = tick
        self._timer: asyncio.TimerHandle | None = None
        self._deadline: Monotonic | None = None

    @override
    def now(self) -> Instant:
        return read_clocks()

    @override
    def set_deadline(self, deadline: Monotonic | None) -> None:
        self._deadline = deadline
        if self._timer is not None:
            if deadline is not None and self._timer.when() <= deadline / NANOSECONDS_PER_SECOND:
                return
            self._timer.cancel()
            self._timer = None
        if deadline is not None:
            self._arm(deadline)

    def _arm(self, deadline: Monotonic) -> None:
        loop = asyncio.get_running_loop()
        self._timer = loop.call_at(deadline / NANOSECONDS_PER_SECOND, self._ring)

    def _ring(self) -> None:
        rung, self._timer = self._timer, None
        if rung is None or self._deadline is None:
            return
        if rung.when() < self._deadline / NANOSECONDS_PER_SECOND:
            self._arm(self._deadline)
        else:
            self._tick()
