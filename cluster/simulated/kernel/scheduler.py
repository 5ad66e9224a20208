"""Virtual time: one heap of timers, ordered by (nanoseconds, sequence number).

Unlike asyncio, timers due at the same nanosecond run in FIFO order, and the order never depends
on object addresses or on the clock of the machine.
"""

from collections.abc import Callable, Sequence
from heapq import heapify, heappop, heappush
from typing import Protocol

from msgspec import Struct

Action = Callable[[], None]
FEWEST_SIFTED = 1_000
"""Number of timers below which a search for cancelled timers is not worth its cost."""


def _nothing() -> None:
    """Replace the action of a cancelled timer."""


class Timer(Struct, eq=False):
    """A scheduled action that can be cancelled."""

    time_ns: int
    action: Action

    def cancel(self) -> None:
        """Cancel the action; has no effect after the action ran."""
        self.action = _nothing


class SimulationLimitError(RuntimeError):
    """A run exceeded its limit of time or events, or has no timers left."""


class Ending(Protocol):
    """The end of what a run is for, such as the promise of a finished task."""

    is_set: bool


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
        """Schedule `action` at `time_ns` (clamped to now); equal times run in FIFO order."""
        if time_ns < self.now_ns:  # noqa: PLR1730 quicker than max()
            time_ns = self.now_ns
        timer = Timer(time_ns, action)
        self._sequence += 1
        heappush(self._heap, (time_ns, self._sequence, timer))
        if len(self._heap) > self._most:
            self._sift()
        return timer

    def _sift(self) -> None:
        """Remove cancelled timers, which may be due hours later; keep the order."""
        self._heap[:] = [entry for entry in self._heap if entry[2].action is not _nothing]
        heapify(self._heap)
        self._most = max(FEWEST_SIFTED, 2 * len(self._heap))

    def after(self, delay_ns: int, action: Action) -> Timer:
        """Schedule `action` after a delay."""
        return self.at(self.now_ns + delay_ns, action)

    def soon(self, action: Action) -> Timer:
        """Schedule `action` at the present time, after the actions that are due now."""
        return self.at(self.now_ns, action)

    def pending(self) -> list[Action]:
        """Return the scheduled actions, in no particular order."""
        return [timer.action for _, _, timer in self._heap]

    def run_until(
        self,
        ending: Ending,
        mistakes: Sequence[object] = (),
        *,
        until_ns: int,
        maximum_events: int,
    ) -> None:
        """Run timers in order until the ending is set, or there is a mistake.

        Raises:
            SimulationLimitError: the limit of time or events is reached, or no timer is left.
        """
        heap = self._heap
        while not (ending.is_set or mistakes):
            if not heap:
                raise SimulationLimitError(f"no timer is left at {self.now_ns} ns")
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
