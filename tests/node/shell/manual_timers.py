"""A clock that the test moves, and the calls that it delays."""

from collections.abc import Callable

from kraftproof.node.core.base.types import Instant, Monotonic, WallClock
from kraftproof.node.shell.ports import NodeClock, Timer, Timers


class Alarm(Timer):
    """A call at a time of the test."""

    def __init__(self, time_ns: int, action: Callable[[], None]) -> None:
        self.time_ns = time_ns
        self.action = action
        self.is_cancelled = False

    def cancel(self) -> None:
        self.is_cancelled = True


class ManualTimers(Timers, NodeClock):
    """A clock that the test moves."""

    def __init__(self) -> None:
        self.time_ns = 0
        self.alarms: list[Alarm] = []
        self.deadline: Monotonic | None = None

    def now_ns(self) -> int:
        return self.time_ns

    def after(self, delay_ns: int, action: Callable[[], None]) -> Alarm:
        self.alarms.append(Alarm(self.time_ns + delay_ns, action))
        return self.alarms[-1]

    def now(self) -> Instant:
        return Instant(Monotonic(self.time_ns), WallClock(self.time_ns))

    def set_deadline(self, deadline: Monotonic | None) -> None:
        self.deadline = deadline

    def wait_until(self, time_ns: int) -> None:
        while due := [one for one in self.alarms if one.time_ns <= time_ns]:
            alarm = min(due, key=lambda one: one.time_ns)
            self.alarms.remove(alarm)
            self.time_ns = max(self.time_ns, alarm.time_ns)
            if not alarm.is_cancelled:
                alarm.action()
        self.time_ns = time_ns
