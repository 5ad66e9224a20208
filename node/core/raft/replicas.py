"""Track the replicas that fetch from the leader (KIP-595 "Fetch", "DescribeQuorum").

The state begins and ends with a leadership. See progress.py for the high watermark.
"""

from collections.abc import Iterable

from msgspec import Struct

from kraftproof.node.core.base.types import NANOSECONDS_PER_MS, Instant, Monotonic, NodeId, Offset

UNKNOWN_OFFSET = Offset(-1)
OBSERVERS_KEPT = 1000
"""The maximum number of observers that a leader remembers; bounds the memory that foreign Fetches
can use."""


class Replica(Struct):
    """The progress of one replica, updated in place by each Fetch."""

    contact: Monotonic
    """The time of the last Fetch in the epoch; at first the start of the leadership."""
    acknowledged: Offset = UNKNOWN_OFFSET
    """The flushed end offset, since a replica fetches only after its flush (595-09)."""
    fetched_ms: int = -1
    caught_up_ms: int = -1
    snapshot_end: Offset = UNKNOWN_OFFSET
    """The start of the replica's log, where its oldest snapshot ends; 0 without a snapshot
    (631-37)."""

    def on_fetch(self, now: Instant) -> None:
        """Record the time of a Fetch in the current epoch."""
        self.contact = now.monotonic
        self.fetched_ms = now.wall // NANOSECONDS_PER_MS

    def on_valid_fetch(self, offset: Offset, log_end: Offset, now: Instant) -> None:
        """Record that the replica holds every record below `offset`, by a valid Fetch."""
        self.acknowledged = offset
        if offset >= log_end:
            self.caught_up_ms = now.wall // NANOSECONDS_PER_MS


class Replicas:
    """The other voters and the known observers."""

    __slots__ = ("majority_until", "observers", "voters")

    def __init__(self, peers: Iterable[NodeId], now: Monotonic, majority_until: Monotonic) -> None:
        self.voters = {peer: Replica(contact=now) for peer in sorted(peers)}
        self.observers: dict[NodeId, Replica] = {}
        self.majority_until = majority_until
        """Until this time a majority is certainly in contact; further contacts only extend the
        time."""

    def replica(self, replica_id: NodeId, now: Monotonic) -> Replica:
        """Return the replica with this id; add an observer for an unknown id."""
        known = self.voters.get(replica_id) or self.observers.get(replica_id)
        if known is not None:
            return known
        if len(self.observers) >= OBSERVERS_KEPT:
            del self.observers[next(iter(self.observers))]
        self.observers[replica_id] = Replica(contact=now)
        return self.observers[replica_id]

    def by_progress(self) -> tuple[NodeId, ...]:
        """Return the other voters, longest log first, as the preferred successors (595-38)."""
        return tuple(sorted(self.voters, key=lambda peer: (-self.voters[peer].acknowledged, peer)))
