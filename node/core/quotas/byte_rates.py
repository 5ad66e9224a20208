"""Measure the bytes of clients in one direction, and tell how long a client must wait (KIP-13).

The bytes are those of the records, without the rest of the request or answer.
"""

from kraftproof.node.core.base.config import QuotaPolicy
from kraftproof.node.core.base.types import NANOSECONDS_PER_MS, Monotonic
from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.committed import CommittedImage
from kraftproof.node.core.quotas.applied import AppliedQuota, ClientKey, applied_quota
from kraftproof.node.core.quotas.rate import WindowedRate


class ByteRates:
    """The byte rates of the clients that have a quota of one key."""

    __slots__ = ("_committed", "_key", "_policy", "_rates")

    def __init__(self, key: str, policy: QuotaPolicy, committed: CommittedImage) -> None:
        self._key = key
        self._policy = policy
        self._committed = committed
        self._rates: dict[ClientKey, WindowedRate] = {}
        """In order of the last use, so that idle rates are found at the begin."""

    @property
    def is_used(self) -> bool:
        """Return whether the image has any quota."""
        return bool(self._committed.image.quotas.by_entity)

    def most_at_once(self, event: Received) -> float | None:
        """Return the bytes that a client may move at once without a certain wait."""
        applied = self._applied(event)
        if applied is None:
            return None
        windows = max(self._policy.windows - 1, 1)
        return applied.bound * windows * self._policy.window_ns / (1000 * NANOSECONDS_PER_MS)

    def record(self, event: Received, size: int, now: Monotonic) -> int:
        """Count the bytes of a request, and return the milliseconds that the client must wait."""
        applied = self._applied(event)
        if applied is None:
            return 0
        rate = self._rate(applied.shared_by, now)
        rate.record(size, now)
        return rate.wait_ms(applied.bound, now)

    def take_back(self, event: Received, size: int, now: Monotonic) -> None:
        """Discount bytes that are not sent because the client must wait."""
        applied = self._applied(event)
        if applied is not None:
            self._rate(applied.shared_by, now).record(-size, now)

    def _applied(self, event: Received) -> AppliedQuota | None:
        if not self.is_used:
            return None
        quotas = self._committed.image.quotas
        return applied_quota(quotas, self._key, event.principal.name, event.client_id)

    def _rate(self, key: ClientKey, now: Monotonic) -> WindowedRate:
        """Return the rate of a budget, and drop the rates that no longer count."""
        rate = self._rates.pop(key, None) or WindowedRate(self._policy)
        self._rates[key] = rate
        while True:
            oldest, idle = next(iter(self._rates.items()))
            if idle is rate or not idle.is_idle(now):
                return rate
            del self._rates[oldest]
