"""Virtual time: one heap of (nanoseconds, sequence) and what happens then.

Not asyncio: timers that are due at the same nanosecond run first-in first-out, and nothing
depends on object addresses or on the machine's clock.
"""

from collections.abc import Callable
from heapq import heapify, heappop, heappush

from msgspec import Struct

Action = Callable[[], None]
FEWEST_SIFTED = 1_000
"""Below that many timers the cancelled ones cost less than looking for them."""


def _nothing() -> None:
    """What is left of a cancelled timer."""


class Timer(Struct, eq=False):
    """One thing that will happen; `cancel` makes it nothing."""

    time_ns: int
    action: Action

    def cancel(self) -> None:
        """Let it pass without effect; harmless after it ran."""
        self.action = _nothing


class SimulationLimitError(RuntimeError):
    """A run went on for longer than it was allowed to."""


class Scheduler:
    """The only source of time in a simulated run."""

    __slots__ = ("_heap", "_most", "_sequence", "events", "now_ns")

    def __init__(self) -> None:
        self._heap: list[tuple[int, int, Timer]] = []
        self._most = FEWEST_SIFTED
        self._sequence = 0
        self.now_ns = 0
        self.events = 0

    def at(self, time_ns: int, action: Action) -> Timer:
        """Do it at that time, after all that is due then already; the past means now."""
        time_ns = max(time_ns, self.now_ns)
        timer = Timer(time_ns, action)
        self._sequence += 1
        heappush(self._heap, (time_ns, self._sequence, timer))
        if len(self._heap) > self._most:
            self._sift()
        return timer

    def _sift(self) -> None:
        """Drop the cancelled, which may have been set for hours later. The order stays."""
        self._heap[:] = [entry for entry in self._heap if entry[2].action is not _nothing]
        heapify(self._heap)
        self._most = max(FEWEST_SIFTED, 2 * len(self._heap))

    def after(self, delay_ns: int, action: Action) -> Timer:
        """Do it that much later."""
        return self.at(self.now_ns + delay_ns, action)

    def soon(self, action: Action) -> Timer:
        """Do it now, after all that is due now already."""
        return self.at(self.now_ns, action)

    def pending(self) -> list[Action]:
        """Return what is still to happen, in no order."""
        return [timer.action for _, _, timer in self._heap]

    def run_until(
        self, finished: Callable[[], object], *, until_ns: int, maximum_events: int
    ) -> None:
        """Let time pass until `finished` says something true.

        Raises:
            SimulationLimitError: time or events ran out first, or nothing is left to happen.
        """
        heap = self._heap
        while not finished():
            if not heap:
                raise SimulationLimitError(f"nothing is left to happen at {self.now_ns} ns")
            time_ns, _, timer = heappop(heap)
            if time_ns > until_ns:
                raise SimulationLimitError(f"not finished within {until_ns} simulated ns")
            if timer.action is _nothing:
                continue
            self.now_ns = time_ns
            self.events += 1
            if self.events > maximum_events:
                raise SimulationLimitError(f"not finished within {maximum_events} events")
            timer.action()
