"""Remove delegation tokens whose time is over, at intervals (KIP-48)."""

from kraftproof.node.core.base.config import TokenPolicy
from kraftproof.node.core.base.types import Instant, Monotonic
from kraftproof.node.core.controller.security.tokens import expired_tokens
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.core.metadata.slices import RECORDS_A_STEP
from kraftproof.node.wire.records.batch import Record


class TokenSweep:
    """The next sweep of the active controller; the expiry itself is a time of the wall clock."""

    __slots__ = ("_interval_ns", "due")

    def __init__(self, policy: TokenPolicy, now: Instant) -> None:
        self._interval_ns = policy.sweep_interval_ns
        self.due: Monotonic | None = None
        """The time of the next sweep; None for a cluster without tokens."""
        if policy.secret is not None:
            self.due = Monotonic(now.monotonic + self._interval_ns)

    def take(self, image: MetadataImage, now: Instant) -> tuple[Record, ...]:
        """Return the removals once an interval is over, as many as a step may write."""
        if self.due is None or now.monotonic < self.due:
            return ()
        self.due = Monotonic(now.monotonic + self._interval_ns)
        return expired_tokens(image, now.wall)[:RECORDS_A_STEP]
