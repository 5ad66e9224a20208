"""The two clocks of one simulated machine. Not: time itself (scheduler.py)."""

from cluster.simulated.scheduler import Scheduler
from node.core.types import Instant, Monotonic, WallClock

START_OF_TIME_NS = 1_767_225_600_000_000_000
"""The true wall clock at virtual time 0: 2026-01-01."""


class SimulatedClock:
    """Monotonic since this machine's own boot; the wall clock may be shifted, and only it."""

    __slots__ = ("_boot_ns", "_scheduler", "wall_offset_ns")

    def __init__(self, scheduler: Scheduler, boot_ns: int) -> None:
        self._scheduler = scheduler
        self._boot_ns = boot_ns
        self.wall_offset_ns = 0

    def now(self) -> Instant:
        """Read both clocks."""
        true_ns = self._scheduler.now_ns
        return Instant(
            Monotonic(true_ns + self._boot_ns),
            WallClock(START_OF_TIME_NS + true_ns + self.wall_offset_ns),
        )

    def to_virtual(self, monotonic: Monotonic) -> int:
        """Return the virtual time at which the monotonic clock shows this."""
        return monotonic - self._boot_ns
