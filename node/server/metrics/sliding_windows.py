"""Figures over the last minute or less: averages, largest values, rates.

Two buckets of half a minute, as Kafka's metrics keep by default; whatever is older is forgotten,
so that memory does not grow. Not: what is measured (raft_metrics.py).
"""

import math
from typing import Final

from msgspec import Struct

BUCKET_NS: Final = 30_000_000_000
NANOSECONDS_PER_SECOND: Final = 1_000_000_000


class _Bucket(Struct):
    """Values recorded in half a window."""

    begun: int
    total: float = 0.0
    count: int = 0
    largest: float = -math.inf


class Window:
    """Values recorded at times that never fall, in nanoseconds."""

    __slots__ = ("_buckets",)

    def __init__(self, now: int) -> None:
        self._buckets = [_Bucket(begun=now)]

    def record(self, value: float, now: int) -> None:
        """Take one value in."""
        self._forget(now)
        bucket = self._buckets[-1]
        bucket.total += value
        bucket.count += 1
        bucket.largest = max(bucket.largest, value)

    def average(self, now: int) -> float:
        """The mean of the values kept; not a number if there is none."""
        self._forget(now)
        count = sum(bucket.count for bucket in self._buckets)
        return sum(bucket.total for bucket in self._buckets) / count if count else math.nan

    def largest(self, now: int) -> float:
        """The largest of the values kept; not a number if there is none."""
        self._forget(now)
        largest = max(bucket.largest for bucket in self._buckets)
        return largest if math.isfinite(largest) else math.nan

    def rate(self, now: int) -> float:
        """The sum of the values kept a second, over the time that they were kept for."""
        self._forget(now)
        elapsed_ns = max(now - self._buckets[0].begun, NANOSECONDS_PER_SECOND)
        total = sum(bucket.total for bucket in self._buckets)
        return total * NANOSECONDS_PER_SECOND / elapsed_ns

    def _forget(self, now: int) -> None:
        """Open a new bucket where the last one is over, and drop what is too old."""
        if now - self._buckets[-1].begun < BUCKET_NS:
            return
        begun = now - (now - self._buckets[-1].begun) % BUCKET_NS
        is_adjacent = begun - self._buckets[-1].begun == BUCKET_NS
        last = self._buckets[-1] if is_adjacent else _Bucket(begun=begun - BUCKET_NS)
        self._buckets = [last, _Bucket(begun=begun)]
