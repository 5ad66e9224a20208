"""Track the progress of a follower, as seen by the leader."""

from msgspec import Struct

from kraftproof.node.core.base.types import Monotonic, Offset

UNKNOWN_OFFSET = Offset(-1)
UNKNOWN_BROKER_EPOCH = -1


class FollowerProgress(Struct):
    """The log end of a follower, and the time of the last catch-up."""

    end_offset: Offset = UNKNOWN_OFFSET
    """The offset of the last Fetch, an acknowledgement of every record below."""
    start_offset: Offset = UNKNOWN_OFFSET
    """The start of the follower's log, for DeleteRecords."""
    broker_epoch: int = UNKNOWN_BROKER_EPOCH
    """The broker epoch in the last Fetch of this leadership (KIP-903)."""
    caught_up_at: Monotonic | None = None
    """The last time with every record of the leader; None for never."""
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

        A follower whose Fetch reaches the leader's end at the previous Fetch was caught up at
        the previous Fetch: steady writes must not make a follower look late.
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
        """Return whether the follower has, or had at most `lag_ns` ago, every record."""
        if self.end_offset == leader_end:
            return True
        return self.caught_up_at is not None and now - self.caught_up_at <= lag_ns
