"""Measure a rate over the last windows of time, and the wait that brings the rate under a bound.

The measured time is at least all windows but one: a client that has just begun may use up the
budget of those windows at once, as in Kafka.
"""

from collections import deque
from collections.abc import Hashable
from typing import Final, Generic, TypeVar

from kraftproof.node.core.base.config import QuotaPolicy
from kraftproof.node.core.base.types import NANOSECONDS_PER_MS, Monotonic

KeyT = TypeVar("KeyT", bound=Hashable)

LONGEST_MS: Final = 0x7FFFFFFF
"""The longest throttle time of an answer: an int32 of the protocol."""
_NS_PER_S: Final = 1000 * NANOSECONDS_PER_MS


def bounded_ms(wait_ms: float) -> int:
    """Return a wait as a throttle time of the protocol, 1 ms at least."""
    return max(1, round(min(wait_ms, LONGEST_MS)))


class WindowedRate:
    """The values of the last windows, each window from its first value on."""

    __slots__ = ("_policy", "_windows")

    def __init__(self, policy: QuotaPolicy) -> None:
        self._policy = policy
        self._windows: deque[tuple[Monotonic, float]] = deque()
        """The begin and the sum of each window, in order."""

    def record(self, value: float, now: Monotonic) -> None:
        """Add a value; a negative value takes an earlier value back."""
        self._forget(now)
        if self._windows and now - self._windows[-1][0] < self._policy.window_ns:
            begin, total = self._windows[-1]
            self._windows[-1] = (begin, total + value)
        else:
            self._windows.append((now, value))

    def wait_ms(self, bound: float, now: Monotonic) -> int:
        """Return the milliseconds after which the rate is down at `bound` units a second."""
        self._forget(now)
        total = sum(value for _, value in self._windows)
        elapsed_ns = self._elapsed_ns(now)
        if total * _NS_PER_S <= bound * elapsed_ns:
            return 0
        return bounded_ms(total / bound * 1000 - elapsed_ns / NANOSECONDS_PER_MS)

    def is_idle(self, now: Monotonic) -> bool:
        """Return whether no value counts any longer."""
        self._forget(now)
        return not self._windows

    def _elapsed_ns(self, now: Monotonic) -> int:
        """Return the time since the oldest window, counted as all windows but one at least."""
        policy = self._policy
        elapsed_ns = now - self._windows[0][0] if self._windows else 0
        missing = policy.windows - 1 - elapsed_ns // policy.window_ns
        if missing > 0:
            elapsed_ns += missing * policy.window_ns
        return elapsed_ns or policy.window_ns

    def _forget(self, now: Monotonic) -> None:
        oldest = now - self._policy.windows * self._policy.window_ns
        while self._windows and self._windows[0][0] <= oldest:
            self._windows.popleft()


class RateTable(Generic[KeyT]):
    """The rates of many clients, without idle rates."""

    __slots__ = ("_policy", "_rates")

    def __init__(self, policy: QuotaPolicy) -> None:
        self._policy = policy
        self._rates: dict[KeyT, WindowedRate] = {}
        """In order of the last use, so that idle rates are found at the begin."""

    def __len__(self) -> int:
        """Return the number of rates."""
        return len(self._rates)

    def of(self, key: KeyT, now: Monotonic) -> WindowedRate:
        """Return the rate of a client, and drop idle rates."""
        rate = self._rates.pop(key, None) or WindowedRate(self._policy)
        self._rates[key] = rate
        while True:
            oldest, idle = next(iter(self._rates.items()))
            if idle is rate or not idle.is_idle(now):
                return rate
            del self._rates[oldest]
