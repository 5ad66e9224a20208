"""What a leader knows of those that fetch from it (KIP-595 "Fetch", "DescribeQuorum").

It lives and dies with the leadership. Not: the high watermark itself (progress.py).
"""

from collections.abc import Iterable

from msgspec import Struct

from kraftproof.node.core.base.types import NANOSECONDS_PER_MS, Instant, Monotonic, NodeId, Offset

UNKNOWN_OFFSET = Offset(-1)
OBSERVERS_KEPT = 1000
"""A bound on what strangers can make a leader remember."""


class Replica(Struct):
    """One replica's progress; changed in place by each of its Fetches."""

    contact: Monotonic
    """Its last Fetch in this epoch, or the start of the leadership."""
    acknowledged: Offset = UNKNOWN_OFFSET
    """What it has flushed: it fetches only after its flush (595-09)."""
    fetched_ms: int = -1
    caught_up_ms: int = -1
    snapshot_end: Offset = UNKNOWN_OFFSET
    """Where its log starts, at a snapshot of its own; 0 for none yet (631-37)."""

    def heard(self, now: Instant) -> None:
        """It has sent a Fetch in this epoch."""
        self.contact = now.monotonic
        self.fetched_ms = now.wall // NANOSECONDS_PER_MS

    def reached(self, offset: Offset, log_end: Offset, now: Instant) -> None:
        """Its valid Fetch says that it holds everything below `offset`."""
        self.acknowledged = offset
        if offset >= log_end:
            self.caught_up_ms = now.wall // NANOSECONDS_PER_MS


class Replicas:
    """The other voters, and the observers heard of."""

    __slots__ = ("majority_until", "observers", "voters")

    def __init__(self, peers: Iterable[NodeId], now: Monotonic, majority_until: Monotonic) -> None:
        self.voters = {peer: Replica(contact=now) for peer in sorted(peers)}
        self.observers: dict[NodeId, Replica] = {}
        self.majority_until = majority_until
        """No need to look before: a majority has been in contact, and contacts put it off only."""

    def of(self, replica_id: NodeId, now: Monotonic) -> Replica:
        """The replica of this id; an unknown one is an observer from now on."""
        known = self.voters.get(replica_id) or self.observers.get(replica_id)
        if known is not None:
            return known
        if len(self.observers) >= OBSERVERS_KEPT:
            del self.observers[next(iter(self.observers))]
        self.observers[replica_id] = Replica(contact=now)
        return self.observers[replica_id]

    def by_progress(self) -> tuple[NodeId, ...]:
        """The other voters, furthest first: the preferred successors (595-38)."""
        return tuple(sorted(self.voters, key=lambda peer: (-self.voters[peer].acknowledged, peer)))
