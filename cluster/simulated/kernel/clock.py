"""The monotonic clock and the wall clock of one simulated machine.

The monotonic clock keeps true time unless a fault changes its rate for a while; the clock never
goes back. A correct node relies on no wall clock, so each machine's wall clock has a random
offset, and in half of the runs also a random rate error.
Simplification: the time-outs of requests, counted by the shell, follow true time.
"""

from random import Random

from kraftproof.cluster.simulated.kernel.scheduler import Scheduler
from kraftproof.node.core.base.types import Instant, Monotonic, WallClock

START_OF_TIME_NS = 1_767_225_600_000_000_000
"""The true wall clock at virtual time 0: 2026-01-01."""


LONGEST_UPTIME_NS = 3_600_000_000_000
"""Upper bound of a machine's uptime at the start of a run, which its monotonic clock shows."""
PER_MILLION = 1_000_000
LARGEST_DRIFT_PPM = 400_000
DRIFTS = (0, LARGEST_DRIFT_PPM)
"""Largest rate error of wall clocks in parts per million; each run draws one of the values."""
DIFFERENCES_NS = (0, 1_000_000_000, 300_000_000_000)
"""Largest offset of wall clocks at the start, in nanoseconds; each run draws one of the values."""


class SimulatedClock:
    """Both clocks of a machine; the monotonic clock counts from the boot of the machine."""

    __slots__ = (
        "_ahead_ns",
        "_drift_ppm",
        "_rate_ppm",
        "_scheduler",
        "_since_ns",
        "_strobe",
        "_wall_rate",
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
        """Lead of the monotonic clock over virtual time at `_since_ns`, in nanoseconds."""
        self._since_ns = 0
        self._rate_ppm = 0
        self._drift_ppm = random.randint(-largest_drift_ppm, largest_drift_ppm)
        self._wall_start_ns = START_OF_TIME_NS + wall_difference_ns
        self._strobe: tuple[int, int] | None = None
        self._wall_rate: tuple[int, int] | None = None
        self.wall_offset_ns = 0
        """Shift of the wall clock by a fault, in nanoseconds."""

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
        if self._wall_rate is not None:
            off_ns += self._wall_rate_ns(self._wall_rate)
        return Instant(Monotonic(monotonic_ns), WallClock(self._wall_start_ns + true_ns + off_ns))

    def to_virtual(self, monotonic: Monotonic) -> int:
        """Return the virtual time of a monotonic reading, at the present rate of the clock."""
        if not self._rate_ppm:
            return monotonic - self._ahead_ns
        shown_ns = monotonic - self._ahead_ns - self._since_ns
        return self._since_ns - (-shown_ns * PER_MILLION // (PER_MILLION + self._rate_ppm))

    @property
    def rate_ppm(self) -> int:
        """Rate error of the monotonic clock in parts per million; positive means fast."""
        return self._rate_ppm

    def set_rate(self, rate_ppm: int) -> None:
        """Set the rate error of the monotonic clock from now on, without a jump of the clock."""
        self._ahead_ns = self.now().monotonic - self._scheduler.now_ns
        self._since_ns = self._scheduler.now_ns
        self._rate_ppm = rate_ppm

    @property
    def injected_ns(self) -> int:
        """Present error of the wall clock caused by faults, in nanoseconds."""
        strobe_ns = 0 if self._strobe is None else self._strobe_ns(self._strobe)
        rate_ns = 0 if self._wall_rate is None else self._wall_rate_ns(self._wall_rate)
        return self.wall_offset_ns + strobe_ns + rate_ns

    def strobe(self, offset_ns: int, period_ns: int) -> None:
        """Alternate the wall clock between offset and no offset each period; offset 0 stops."""
        self._strobe = (offset_ns, period_ns) if offset_ns else None

    def drift_wall(self, rate_ppm: int) -> None:
        """Let the wall clock drift from now on; rate 0 returns to the time without this fault."""
        self._wall_rate = (rate_ppm, self._scheduler.now_ns) if rate_ppm else None

    def repair(self) -> None:
        """Undo every fault; time gained or lost by the monotonic clock is kept."""
        self.wall_offset_ns = 0
        self._strobe = self._wall_rate = None
        self.set_rate(0)

    def _strobe_ns(self, strobe: tuple[int, int]) -> int:
        offset_ns, period_ns = strobe
        return offset_ns if self._scheduler.now_ns // period_ns % 2 else 0

    def _wall_rate_ns(self, rate: tuple[int, int]) -> int:
        rate_ppm, since_ns = rate
        return (self._scheduler.now_ns - since_ns) * rate_ppm // PER_MILLION
