"""One request to each of several peers, repeated with backoff until each is settled.

Used for Vote and BeginQuorumEpoch (595-33, 595-57). Not: what the request says.
"""

from collections.abc import Iterable

from kraftproof.node.core.base.config import Timeouts
from kraftproof.node.core.base.types import Monotonic, NodeId, earliest

LARGEST_DOUBLING = 30


def retry_backoff_ns(timeouts: Timeouts, attempt: int) -> int:
    """How long to wait after the given failed attempt (1 for the first), growing to the bound."""
    doubled = timeouts.retry_backoff_ns << min(attempt - 1, LARGEST_DOUBLING)
    return min(doubled, timeouts.retry_backoff_max_ns)


class PeerRetries:
    """Which peers are still to be asked, and when; a peer in flight is not asked again."""

    __slots__ = ("_attempts", "_due")

    def __init__(self, peers: Iterable[NodeId], now: Monotonic) -> None:
        self._due: dict[NodeId, Monotonic | None] = dict.fromkeys(sorted(peers), now)
        self._attempts: dict[NodeId, int] = dict.fromkeys(self._due, 0)

    def take_due(self, now: Monotonic) -> list[NodeId]:
        """The peers to ask now, ascending; they are in flight from here on."""
        due = [peer for peer, at in self._due.items() if at is not None and at <= now]
        for peer in due:
            self._due[peer] = None
            self._attempts[peer] += 1
        return due

    def lost(self, peer: NodeId, timeouts: Timeouts, now: Monotonic) -> None:
        """The request to this peer went unanswered: ask again after the backoff."""
        if peer in self._due:
            self._due[peer] = Monotonic(now + retry_backoff_ns(timeouts, self._attempts[peer]))

    def settle(self, peer: NodeId) -> None:
        """This peer need not be asked any more."""
        self._due.pop(peer, None)

    def deadline(self) -> Monotonic | None:
        """When the next peer is due, if any waits."""
        return earliest(*self._due.values()) if self._due else None
