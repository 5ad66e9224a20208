"""The ISR of a leader by the rules of KIP-497, and the high watermark over its members."""

from typing import Final

from msgspec import Struct

from kraftproof.cluster.simulated.differential.leaders.leader_rig import LEADER

LAG_MS: Final = 1000
"""The value of replica.lag.time.max.ms in the comparison."""
Members = tuple[int, ...]


class ModelMember(Struct):
    """What the Fetches of a follower tell in one leadership."""

    end: int = -1
    caught_up_at: int | None = None
    fetched_at: int | None = None
    leaders_end: int = 0
    """The end of the leader's log at the last Fetch."""
    is_fenced: bool = False


class ModelProposal(Struct):
    """The open proposal of an ISR."""

    members: Members
    waits_for_image: bool = False


class ModelIsr:
    """The ISR as the rules of KIP-497 have it, and the high watermark."""

    def __init__(self, replicas: Members, epoch: int, min_isr: int) -> None:
        self.replicas, self.epoch, self.partition_epoch = replicas, epoch, 0
        self.committed: Members = replicas
        self.stored: Members = replicas
        """The ISR of the leader's image."""
        self.stored_epoch = 0
        self.proposal: ModelProposal | None = None
        self.end = self.epoch_start = self.high_watermark = 0
        self.min_isr = min(min_isr, len(replicas))
        self.followers = {each: ModelMember(caught_up_at=0) for each in replicas[1:]}

    def fetched(self, replica: int, offset: int, now_ms: int) -> None:
        """Take a Fetch; a follower with the shown records may join."""
        one = self.followers[replica]
        if offset >= self.end:
            one.caught_up_at = now_ms
        elif one.fetched_at is not None and offset >= one.leaders_end:
            one.caught_up_at = max(one.caught_up_at or one.fetched_at, one.fetched_at)
        one.end, one.fetched_at, one.leaders_end = offset, now_ms, self.end
        may_join = offset >= max(self.high_watermark, self.epoch_start) and not one.is_fenced
        if self.proposal is None and replica not in self.committed and may_join:
            self.proposal = ModelProposal((*self.committed, replica))

    def is_caught_up(self, replica: int, now_ms: int) -> bool:
        """Return whether a follower has, or had a short time ago, the whole log."""
        one = self.followers[replica]
        if one.end == self.end:
            return True
        return one.caught_up_at is not None and now_ms - one.caught_up_at <= LAG_MS

    def remove_lagging(self, now_ms: int) -> None:
        """Propose the ISR without the members that lag."""
        kept = tuple(
            each for each in self.committed if each == LEADER or self.is_caught_up(each, now_ms)
        )
        if self.proposal is None and kept != self.committed:
            self.proposal = ModelProposal(kept)

    def publish(self, isr: Members) -> None:
        """Take a newer image, which ends a proposal."""
        self.stored, self.stored_epoch = isr, self.stored_epoch + 1
        if self.stored_epoch > self.partition_epoch:
            self.committed, self.partition_epoch, self.proposal = isr, self.stored_epoch, None

    def lead_again(self, now_ms: int) -> None:
        """Begin the next leadership with the ISR of the image."""
        self.stored_epoch += 1
        self.epoch, self.partition_epoch = self.epoch + 1, self.stored_epoch
        self.committed, self.proposal, self.epoch_start = self.stored, None, self.end
        for replica, one in self.followers.items():
            since = now_ms if replica in self.committed else None
            self.followers[replica] = ModelMember(caught_up_at=since, is_fenced=one.is_fenced)

    def settle(self, now_ms: int) -> None:
        """Raise the high watermark to what the largest possible ISR and joiners have."""
        if len(self.committed) < self.min_isr:
            return
        maximal = {*self.committed, *(self.proposal.members if self.proposal else ())}
        counted = [
            one.end
            for each, one in self.followers.items()
            if each in maximal or (self.is_caught_up(each, now_ms) and not one.is_fenced)
        ]
        self.high_watermark = max(self.high_watermark, min([self.end, *counted]))
