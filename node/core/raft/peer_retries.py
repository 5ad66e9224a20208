"""Repeat a request to several peers, with backoff, until each peer is done.

Used for Vote and BeginQuorumEpoch (595-33, 595-57).
"""

from collections.abc import Iterable

from msgspec import Struct

from kraftproof.node.core.base.config import Timeouts
from kraftproof.node.core.base.types import Monotonic, NodeId, earliest

LARGEST_DOUBLING = 30


def retry_backoff_ns(timeouts: Timeouts, attempt: int) -> int:
    """Return the wait after a failed attempt (1 for the first), doubled up to a maximum."""
    doubled = timeouts.retry_backoff_ns << min(attempt - 1, LARGEST_DOUBLING)
    return min(doubled, timeouts.retry_backoff_max_ns)


class PeerBackoff(Struct, frozen=True):
    """The voter gets no request before `until`, after `times` failures in a row."""

    until: Monotonic
    times: int


class PeerRetries:
    """The peers that still need the request, with the time of the next attempt or in flight."""

    __slots__ = ("_attempts", "_due")

    def __init__(self, peers: Iterable[NodeId], now: Monotonic) -> None:
        self._due: dict[NodeId, Monotonic | None] = dict.fromkeys(sorted(peers), now)
        self._attempts: dict[NodeId, int] = dict.fromkeys(self._due, 0)

    def take_due(self, now: Monotonic) -> list[NodeId]:
        """Return the peers whose time has come, in ascending order, and mark them as in flight."""
        due = [peer for peer, at in self._due.items() if at is not None and at <= now]
        for peer in due:
            self._due[peer] = None
            self._attempts[peer] += 1
        return due

    def retry_later(self, peer: NodeId, timeouts: Timeouts, now: Monotonic) -> None:
        """Schedule another attempt at a peer that did not answer, after the backoff."""
        if peer in self._due:
            self._due[peer] = Monotonic(now + retry_backoff_ns(timeouts, self._attempts[peer]))

    def done(self, peer: NodeId) -> None:
        """Send no further request to the peer."""
        self._due.pop(peer, None)

    def deadline(self) -> Monotonic | None:
        """Return the time of the next attempt; None if no peer waits for an attempt."""
        return earliest(*self._due.values()) if self._due else None
