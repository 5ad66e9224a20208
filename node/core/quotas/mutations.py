"""Limit the partitions that clients create and delete, by a bucket of tokens each (KIP-599).

A bucket holds at most the tokens of all windows. One change may take the bucket below zero; then
further changes wait until the bucket is filled. A request of a newer version is refused. An older
client does not know the error: the change is made, and the client waits for its next request.
"""

from collections.abc import Mapping
from typing import Final

from kraftproof.node.core.base.config import QuotaPolicy
from kraftproof.node.core.base.types import NANOSECONDS_PER_MS, Monotonic
from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.quotas import MUTATION_RATE, Quotas
from kraftproof.node.core.quotas.applied import AppliedQuota, ClientKey, applied_quota
from kraftproof.node.core.quotas.rate import bounded_ms
from kraftproof.node.wire.messages import (
    Message,
    create_partitions_request,
    create_topics_request,
    delete_topics_request,
)

_NS_PER_S: Final = 1000 * NANOSECONDS_PER_MS
_FORGOTTEN_NS: Final = 3600 * _NS_PER_S
"""Time without use after which a debt is forgotten, as the time of Kafka's unused sensors."""
STRICT_FROM: Final[Mapping[type[Message], int]] = {
    create_topics_request.CreateTopicsRequest: 6,
    create_partitions_request.CreatePartitionsRequest: 3,
    delete_topics_request.DeleteTopicsRequest: 5,
}
"""The measured requests, each with the first version that knows THROTTLING_QUOTA_EXCEEDED."""


class _Bucket:
    """The tokens of a budget."""

    __slots__ = ("since", "tokens")

    def __init__(self, tokens: float, since: Monotonic) -> None:
        self.tokens = tokens
        self.since = since


class MutationCharge:
    """The budget of one request."""

    __slots__ = ("_bound", "_bucket", "_is_strict", "throttle_ms")

    def __init__(self, bucket: _Bucket, bound: float, *, is_strict: bool) -> None:
        self._bucket = bucket
        self._bound = bound
        self._is_strict = is_strict
        self.throttle_ms = 0
        """The time that the client must wait after the request."""

    def take(self, partitions: int) -> bool:
        """Charge a change of partitions; return False if the change must be refused."""
        bucket = self._bucket
        is_refused = self._is_strict and bucket.tokens < 0
        if not is_refused:
            bucket.tokens -= partitions
        if is_refused or (bucket.tokens < 0 and not self._is_strict):
            self.throttle_ms = bounded_ms(-bucket.tokens / self._bound * 1000)
        return not is_refused


class MutationQuotas:
    """The budgets of the clients of the active controller."""

    __slots__ = ("_buckets", "_full_after_ns")

    def __init__(self, policy: QuotaPolicy) -> None:
        self._full_after_ns = policy.windows * policy.window_ns
        """The time in which an empty bucket fills."""
        self._buckets: dict[ClientKey, _Bucket] = {}
        """In order of the last use; a missing bucket is full."""

    def charge_for(self, event: Received, quotas: Quotas, now: Monotonic) -> MutationCharge | None:
        """Return the budget of a request; None if no quota applies to the request."""
        strict_from = STRICT_FROM.get(type(event.message))
        if strict_from is None or not quotas.by_entity:
            return None
        applied = applied_quota(quotas, MUTATION_RATE, event.principal.name, event.client_id)
        if applied is None:
            return None
        bucket = self._refilled(applied, now)
        return MutationCharge(bucket, applied.bound, is_strict=event.version >= strict_from)

    def _refilled(self, applied: AppliedQuota, now: Monotonic) -> _Bucket:
        burst = applied.bound * self._full_after_ns / _NS_PER_S
        bucket = self._buckets.pop(applied.shared_by, None) or _Bucket(burst, now)
        gained = applied.bound * (now - bucket.since) / _NS_PER_S
        bucket.tokens = min(burst, bucket.tokens + gained)
        bucket.since = now
        self._buckets[applied.shared_by] = bucket
        self._drop_unused(now)
        return bucket

    def _drop_unused(self, now: Monotonic) -> None:
        """Drop the budgets that nobody used until they were full again, or for an hour."""
        while True:
            key, oldest = next(iter(self._buckets.items()))
            unused_ns = now - oldest.since
            is_full = oldest.tokens >= 0 and unused_ns >= self._full_after_ns
            if not is_full and unused_ns < _FORGOTTEN_NS:
                return
            del self._buckets[key]
