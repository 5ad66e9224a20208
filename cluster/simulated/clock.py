"""The two clocks of one simulated machine. Not: time itself (scheduler.py).

The monotonic clock runs true. Nothing may rest on the wall clock, so in half of the runs it
also runs too quickly or too slowly, each machine's at a rate of its own.
"""

from random import Random

from cluster.simulated.scheduler import Scheduler
from node.core.types import Instant, Monotonic, WallClock

START_OF_TIME_NS = 1_767_225_600_000_000_000
"""The true wall clock at virtual time 0: 2026-01-01."""


LONGEST_UPTIME_NS = 3_600_000_000_000
PER_MILLION = 1_000_000
LARGEST_DRIFT_PPM = 400_000
DRIFTS = (0, LARGEST_DRIFT_PPM)
"""How wrong the rates of a run's wall clocks can be, one of these for each run."""


class SimulatedClock:
    """Monotonic since this machine's own boot; the wall clock may be shifted, and only it."""

    __slots__ = ("_boot_ns", "_drift_ppm", "_scheduler", "wall_offset_ns")

    def __init__(self, scheduler: Scheduler, random: Random, largest_drift_ppm: int) -> None:
        self._scheduler = scheduler
        self._boot_ns = random.randrange(LONGEST_UPTIME_NS)
        self._drift_ppm = random.randint(-largest_drift_ppm, largest_drift_ppm)
        self.wall_offset_ns = 0

    def now(self) -> Instant:
        """Read both clocks."""
        true_ns = self._scheduler.now_ns
        off_ns = self.wall_offset_ns
        if self._drift_ppm:
            off_ns += true_ns * self._drift_ppm // PER_MILLION
        return Instant(
            Monotonic(true_ns + self._boot_ns), WallClock(START_OF_TIME_NS + true_ns + off_ns)
        )

    def to_virtual(self, monotonic: Monotonic) -> int:
        """Return the virtual time at which the monotonic clock shows this."""
        return monotonic - self._boot_ns
