"""Track the progress of one follower, as its leader sees it."""

from msgspec import Struct

from kraftproof.node.core.base.types import Monotonic, Offset

UNKNOWN_OFFSET = Offset(-1)
UNKNOWN_BROKER_EPOCH = -1


class FollowerProgress(Struct):
    """The log end of a follower, and the time at which it was last caught up."""

    end_offset: Offset = UNKNOWN_OFFSET
    """The offset of the last Fetch, which acknowledges every record below."""
    start_offset: Offset = UNKNOWN_OFFSET
    """The start of the follower's log, for DeleteRecords."""
    broker_epoch: int = UNKNOWN_BROKER_EPOCH
    """The broker epoch in the last Fetch of this leadership (KIP-903)."""
    caught_up_at: Monotonic | None = None
    """The last time at which the follower had every record of the leader; None for never."""
    _fetched_at: Monotonic | None = None
    _leader_end_at_fetch: Offset = Offset(0)

    def record_fetch(
        self,
        offset: Offset,
        start_offset: Offset,
        broker_epoch: int,
        leader_end: Offset,
        now: Monotonic,
    ) -> None:
        """Take the position of a Fetch.

        A follower whose Fetch reaches the leader's end at the previous Fetch was caught up then,
        so that steady writes do not make a follower look late.
        """
        if offset >= leader_end:
            self.caught_up_at = now
        elif self._fetched_at is not None and offset >= self._leader_end_at_fetch:
            self.caught_up_at = max(self.caught_up_at or self._fetched_at, self._fetched_at)
        self.end_offset = offset
        self.start_offset = start_offset
        self.broker_epoch = broker_epoch
        self._fetched_at = now
        self._leader_end_at_fetch = leader_end

    def is_caught_up(self, leader_end: Offset, now: Monotonic, lag_ns: int) -> bool:
        """Return whether the follower has every record, or had them less than `lag_ns` ago."""
        if self.end_offset == leader_end:
            return True
        return self.caught_up_at is not None and now - self.caught_up_at <= lag_ns
