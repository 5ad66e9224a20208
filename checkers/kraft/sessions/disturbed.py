"""Computes the time until which faults excuse a late event: each query in O(log n) of n faults.

The module computes values only: the callers decide which events a fault may have delayed
(`checkers.kraft.sessions.expiry`, `checkers.kraft.describe`). Times are ns of the history.
"""

from bisect import bisect_left
from itertools import accumulate

from kraftproof.checkers.options import LeaseBounds


class Disturbed:
    """The times when faults were in force, and how long a failover takes after each."""

    def __init__(self, bounds: LeaseBounds) -> None:
        """Sort the faults of the given bounds."""
        faults = sorted(bounds.disturbed)
        self._failover_ns = bounds.failover_ns
        self._starts = [start for start, _ in faults]
        self._latest_ends = list(accumulate((end for _, end in faults), max))

    def undisturbed_since(self, since_ns: int, now_ns: int) -> int:
        """Return from when on no fault was in force between two times, nor a failover after it."""
        begun = bisect_left(self._starts, now_ns)
        if not begun or self._latest_ends[begun - 1] <= since_ns:
            return since_ns
        return max(since_ns, min(self._latest_ends[begun - 1], now_ns) + self._failover_ns)
