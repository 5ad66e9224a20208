"""Partitions that a broker leads, as plain values: copies of followers, ISRs, open proposals.

The rules are those of KIP-497 and KIP-903. A proposal is open until its answer, or until the image
has a newer partition epoch. See proposals.py for the requests with the proposals.
"""

from dataclasses import dataclass, field
from typing import Final

from kraftproof.node.wire.errors import ErrorCode

OWN: Final = 1
FOLLOWERS: Final = (0, 3)
ANY_EPOCH: Final = -1
"""The broker epoch of a follower that does not name any."""
LAG_NS: Final = 1_000_000_000
_APPLIED_PERHAPS: Final = frozenset(
    {
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
        ErrorCode.UNKNOWN_TOPIC_ID,
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.INVALID_UPDATE_VERSION,
        ErrorCode.INVALID_REQUEST,
        ErrorCode.NEW_LEADER_ELECTED,
    }
)
"""Errors after which only the image tells what became of a proposal."""
_NOT_APPLIED: Final = frozenset({ErrorCode.INELIGIBLE_REPLICA, ErrorCode.OPERATION_NOT_ATTEMPTED})
ERRORS: Final = (
    *sorted(_APPLIED_PERHAPS),
    *sorted(_NOT_APPLIED),
    ErrorCode.NOT_CONTROLLER,
    ErrorCode.UNKNOWN_SERVER_ERROR,
)


@dataclass(slots=True)
class Copy:
    """The Fetches of a follower."""

    times: list[tuple[int, int, int]] = field(default_factory=list)
    """Time, offset, and the end of the leader's log, in order."""
    broker_epoch: int = ANY_EPOCH
    member_since: int | None = None
    """The start of the leadership, for a follower that was a member then."""

    @property
    def end(self) -> int:
        """Return the end of the follower's log; -1 before the first Fetch."""
        return self.times[-1][1] if self.times else -1

    def lags(self, leader_end: int, now_ns: int) -> bool:
        """Return whether the follower was without some record of the leader for too long.

        A Fetch up to the end of the log shows that the follower had all records then. A Fetch up
        to the end at the Fetch before shows that it had all records at the Fetch before.
        """
        if self.end == leader_end:
            return False
        whole = [] if self.member_since is None else [self.member_since]
        for place, (at, offset, end) in enumerate(self.times):
            if offset >= end:
                whole.append(at)
            elif place and offset >= self.times[place - 1][2]:
                whole.append(self.times[place - 1][0])
        return not whole or now_ns - max(whole) > LAG_NS


NO_COPY: Final = Copy()
"""The Fetches of a broker without a replica."""


def copies_at_start(
    isr: tuple[int, ...], now_ns: int, followers: tuple[int, ...] = FOLLOWERS
) -> dict[int, Copy]:
    """Return the followers at the start of a leadership."""
    return {one: Copy(member_since=now_ns if one in isr else None) for one in followers}


@dataclass(slots=True)
class Led:
    """A partition that the broker leads in one leader epoch."""

    isr: tuple[int, ...]
    partition_epoch: int
    leader_epoch: int
    min_isr: int
    copies: dict[int, Copy]
    end: int = 0
    epoch_start: int = 0
    """The end of the log at the start of the leadership."""
    high_watermark: int = 0
    proposed: tuple[int, ...] | None = None
    is_unsent: bool = False

    @property
    def state(self) -> tuple[object, ...]:
        """Return what a late answer must find unchanged."""
        return (self.isr, self.partition_epoch, self.proposed)

    def fetch(self, follower: int, at_ns: int, offset: int, broker_epoch: int) -> None:
        """Take a Fetch of a follower."""
        copy = self.copies[follower]
        copy.times.append((at_ns, offset, self.end))
        copy.broker_epoch = broker_epoch

    def join(self, follower: int, *, is_eligible: bool) -> None:
        """Propose a follower that has fetched, if it may join (497-09)."""
        is_open = self.proposed is None and follower not in self.isr and is_eligible
        if is_open and self.copies[follower].end >= max(self.high_watermark, self.epoch_start):
            self.proposed = (*self.isr, follower)
            self.is_unsent = True

    def shrink(self, now_ns: int) -> None:
        """Propose to remove the members that lag."""
        if self.proposed is not None:
            return
        late = [one for one in self.isr if one != OWN and self.copies[one].lags(self.end, now_ns)]
        if late:
            self.proposed = tuple(one for one in self.isr if one not in late)
            self.is_unsent = True

    def commit(self, now_ns: int, eligible: set[int]) -> None:
        """Raise the high watermark to what every possible member has, and each that may join.

        An ISR below min.insync.replicas commits nothing (KIP-966).
        """
        if len(self.isr) < min(self.min_isr, 1 + len(self.copies)):
            return
        ends = [self.end]
        for follower, copy in self.copies.items():
            is_member = follower in self.isr or follower in (self.proposed or ())
            may_join = follower in eligible and not copy.lags(self.end, now_ns)
            if is_member or may_join:
                ends.append(copy.end)
        self.high_watermark = max(self.high_watermark, min(ends))

    def move(self, followers: tuple[int, ...]) -> None:
        """Change the followers within the leader epoch: a removed one counts no more."""
        self.copies = {one: self.copies.get(one) or Copy() for one in followers}

    def next_leadership(self, isr: tuple[int, ...], partition_epoch: int, now_ns: int) -> "Led":
        """Return the next leadership, in which no follower has fetched yet."""
        return Led(
            isr,
            partition_epoch,
            self.leader_epoch + 1,
            self.min_isr,
            copies_at_start(isr, now_ns, tuple(self.copies)),
            end=self.end,
            epoch_start=self.end,
            high_watermark=self.high_watermark,
        )

    def follow(self, isr: tuple[int, ...], partition_epoch: int) -> None:
        """Take the state of the image, if it is newer."""
        if partition_epoch > self.partition_epoch:
            self.isr, self.partition_epoch = isr, partition_epoch
            self.proposed, self.is_unsent = None, False

    def answered(
        self, error: int, leader_epoch: int, partition_epoch: int, isr: tuple[int, ...]
    ) -> None:
        """Take the answer to the open proposal."""
        if error == ErrorCode.NONE:
            is_own = leader_epoch == self.leader_epoch and partition_epoch >= self.partition_epoch
            if is_own:
                self.isr, self.partition_epoch, self.proposed = isr, partition_epoch, None
        elif error in _NOT_APPLIED:
            self.proposed = None
        elif error not in _APPLIED_PERHAPS:
            self.is_unsent = True
