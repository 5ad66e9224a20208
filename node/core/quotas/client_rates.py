"""Measure a quantity of clients, and find the wait of a client (KIP-13, KIP-124).

Bytes are those of the records, without the rest of the request or answer. The time of requests is
in percent of one thread.
"""

from typing import Protocol

from kraftproof.node.core.base.config import QuotaPolicy
from kraftproof.node.core.base.types import NANOSECONDS_PER_MS, Monotonic
from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.core.quotas.applied import AppliedQuota, ClientKey, applied_quota
from kraftproof.node.core.quotas.rate import RateTable


class HasImage(Protocol):
    """The owner of the newest image."""

    @property
    def image(self) -> MetadataImage:
        """Return the newest image."""
        ...


class ClientRates:
    """The rates of the clients that have a quota of one key."""

    __slots__ = ("_committed", "_key", "_policy", "_rates")

    def __init__(self, key: str, policy: QuotaPolicy, committed: HasImage) -> None:
        self._key = key
        self._policy = policy
        self._committed = committed
        self._rates: RateTable[ClientKey] = RateTable(policy)

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

    def applies_to(self, event: Received) -> bool:
        """Return whether the client of a request has a quota."""
        return self._applied(event) is not None

    def record(self, event: Received, value: float, now: Monotonic) -> int:
        """Count the value of a request, and return the milliseconds that the client must wait."""
        applied = self._applied(event)
        if applied is None:
            return 0
        rate = self._rates.of(applied.shared_by, now)
        rate.record(value, now)
        return rate.wait_ms(applied.bound, now)

    def take_back(self, event: Received, size: int, now: Monotonic) -> None:
        """Discount bytes that are not sent because the client must wait."""
        applied = self._applied(event)
        if applied is not None:
            self._rates.of(applied.shared_by, now).record(-size, now)

    def _applied(self, event: Received) -> AppliedQuota | None:
        if not self.is_used:
            return None
        quotas = self._committed.image.quotas
        return applied_quota(quotas, self._key, event.principal.name, event.client_id)
