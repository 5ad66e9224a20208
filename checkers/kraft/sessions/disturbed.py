"""Computes the time until which faults excuse a late event: each query in O(log n) of n faults.

The module computes values only: the callers decide which events a fault may have delayed
(`checkers.kraft.sessions.expiry`, `checkers.kraft.describe`). Times are ns of the history.
"""

from bisect import bisect_left, bisect_right
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
        self._next_gaps: dict[int, list[int]] = {}

    def undisturbed_since(self, since_ns: int, now_ns: int) -> int:
        """Return from when on no fault was in force between two times, nor a failover after it."""
        begun = bisect_left(self._starts, now_ns)
        if not begun or self._latest_ends[begun - 1] <= since_ns:
            return since_ns
        return max(since_ns, min(self._latest_ends[begun - 1], now_ns) + self._failover_ns)

    def renewed_until(self, since_ns: int, now_ns: int, patience_ns: int) -> int:
        """Return the latest renewal of a state that lasts for `patience_ns`, given the faults.

        A fault during the state's lifetime renews the state a failover after the fault; the next
        fault in the renewed lifetime does the same, and so on.
        """
        first = bisect_right(self._latest_ends, since_ns)
        begun = bisect_right(self._starts, now_ns)
        if first >= begun or self._starts[first] > since_ns + patience_ns:
            return since_ns
        last = min(begun, self._gaps(patience_ns)[first]) - 1
        return max(since_ns, min(self._latest_ends[last], now_ns) + self._failover_ns)

    def _gaps(self, patience_ns: int) -> list[int]:
        """Return, for each fault, the first later fault that begins too late to continue the chain.

        What is too late is told by the latest end of all faults before: int[n], n for none.
        """
        found = self._next_gaps.get(patience_ns)
        if found is None:
            lasting_ns = self._failover_ns + patience_ns
            found = [len(self._starts)] * len(self._starts)
            for fault in range(len(found) - 2, -1, -1):
                is_gap = self._starts[fault + 1] > self._latest_ends[fault] + lasting_ns
                found[fault] = fault + 1 if is_gap else found[fault + 1]
            self._next_gaps[patience_ns] = found
        return found
