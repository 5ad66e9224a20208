"""The two clocks of one simulated machine. Not: time itself (scheduler.py).

The monotonic clock runs true but for faults, which change its rate for a while; it never goes
back. Nothing may rest on the wall clock, so each machine's is wrong by an offset of its own, and
in half of the runs it also runs too quickly or too slowly, each at a rate of its own.
Simplification: time-outs of requests, which the shell counts, run true.
"""

from random import Random

from kraftproof.cluster.simulated.kernel.scheduler import Scheduler
from kraftproof.node.core.base.types import Instant, Monotonic, WallClock

START_OF_TIME_NS = 1_767_225_600_000_000_000
"""The true wall clock at virtual time 0: 2026-01-01."""


LONGEST_UPTIME_NS = 3_600_000_000_000
PER_MILLION = 1_000_000
LARGEST_DRIFT_PPM = 400_000
DRIFTS = (0, LARGEST_DRIFT_PPM)
"""How wrong the rates of a run's wall clocks can be, one of these for each run."""
DIFFERENCES_NS = (0, 1_000_000_000, 300_000_000_000)
"""How far a run's wall clocks can be from the true time at its start, one of these for each run."""


class SimulatedClock:
    """Monotonic since this machine's own boot; a shift moves the wall clock, and only it."""

    __slots__ = (
        "_ahead_ns",
        "_drift_ppm",
        "_rate_ppm",
        "_scheduler",
        "_since_ns",
        "_strobe",
        "_wall_start_ns",
        "wall_offset_ns",
    )

    def __init__(
        self,
        scheduler: Scheduler,
        random: Random,
        largest_drift_ppm: int,
        wall_difference_ns: int = 0,
    ) -> None:
        self._scheduler = scheduler
        self._ahead_ns = random.randrange(LONGEST_UPTIME_NS)
        """By how much the monotonic clock was ahead of virtual time at `_since_ns`."""
        self._since_ns = 0
        self._rate_ppm = 0
        self._drift_ppm = random.randint(-largest_drift_ppm, largest_drift_ppm)
        self._wall_start_ns = START_OF_TIME_NS + wall_difference_ns
        self._strobe: tuple[int, int] | None = None
        self.wall_offset_ns = 0
        """By which a fault has shifted it."""

    def now(self) -> Instant:
        """Read both clocks."""
        true_ns = self._scheduler.now_ns
        monotonic_ns = true_ns + self._ahead_ns
        if self._rate_ppm:
            monotonic_ns += (true_ns - self._since_ns) * self._rate_ppm // PER_MILLION
        off_ns = self.wall_offset_ns
        if self._drift_ppm:
            off_ns += true_ns * self._drift_ppm // PER_MILLION
        if self._strobe is not None:
            off_ns += self._strobe_ns(self._strobe)
        return Instant(Monotonic(monotonic_ns), WallClock(self._wall_start_ns + true_ns + off_ns))

    def to_virtual(self, monotonic: Monotonic) -> int:
        """Return the virtual time at which the monotonic clock shows this, at its present rate."""
        if not self._rate_ppm:
            return monotonic - self._ahead_ns
        shown_ns = monotonic - self._ahead_ns - self._since_ns
        return self._since_ns - (-shown_ns * PER_MILLION // (PER_MILLION + self._rate_ppm))

    @property
    def rate_ppm(self) -> int:
        """How much quicker the monotonic clock runs than time does."""
        return self._rate_ppm

    def set_rate(self, rate_ppm: int) -> None:
        """Let the monotonic clock run that much quicker from now on; it does not jump."""
        self._ahead_ns = self.now().monotonic - self._scheduler.now_ns
        self._since_ns = self._scheduler.now_ns
        self._rate_ppm = rate_ppm

    @property
    def injected_ns(self) -> int:
        """By how much faults have the wall clock wrong at this moment."""
        strobe_ns = 0 if self._strobe is None else self._strobe_ns(self._strobe)
        return self.wall_offset_ns + strobe_ns

    def strobe(self, offset_ns: int, period_ns: int) -> None:
        """Let the wall clock jump to and fro by an offset, each for a period; 0 ends it."""
        self._strobe = (offset_ns, period_ns) if offset_ns else None

    def repair(self) -> None:
        """Undo every fault; what the monotonic clock has gained or lost it keeps."""
        self.wall_offset_ns = 0
        self._strobe = None
        self.set_rate(0)

    def _strobe_ns(self, strobe: tuple[int, int]) -> int:
        offset_ns, period_ns = strobe
        return offset_ns if self._scheduler.now_ns // period_ns % 2 else 0
