"""Lead a partition: the followers' progress, the high watermark, and the wishes for the ISR.

The high watermark is the smallest log end over the maximal ISR, and over each caught-up follower
with a right to join: otherwise a joiner would chase the high watermark for ever. The high
watermark never falls, and stands still while the committed ISR is smaller than min.insync.replicas
(Kafka 4). See isr.py for the proposals.
"""

from collections.abc import Callable

from immutables import Map

from kraftproof.node.core.base.types import Epoch, Monotonic, NodeId, Offset
from kraftproof.node.core.metadata.image import BrokerRegistration, Partition
from kraftproof.node.core.partition.isr import IsrAnswer, IsrState, committed_isr
from kraftproof.node.core.partition.log_directories import has_disk
from kraftproof.node.core.partition.log_index import LogIndex
from kraftproof.node.core.partition.progress import UNKNOWN_BROKER_EPOCH, FollowerProgress


class Leader:
    """The state of a leadership; a new leader epoch begins another."""

    __slots__ = (
        "_index",
        "_lag_ns",
        "_node_id",
        "_own_end",
        "brokers",
        "epoch",
        "epoch_start",
        "followers",
        "isr",
        "min_isr",
        "partition",
    )

    def __init__(
        self,
        node_id: NodeId,
        index: LogIndex,
        partition: Partition,
        brokers: Map[NodeId, BrokerRegistration],
        *,
        min_isr: int,
        lag_ns: int,
        own_end: Callable[[], Offset],
        now: Monotonic,
    ) -> None:
        self._node_id = node_id
        self._index = index
        self._lag_ns = lag_ns
        self._own_end = own_end
        """Returns the end of the records on the leader's own disk, as far as they count."""
        self.partition = partition
        self.brokers = brokers
        """Not the whole image: a thousand leaders would keep a thousand old images alive."""
        self.epoch: Epoch = partition.leader_epoch
        self.epoch_start = index.end_offset
        """The end of the log at the begin of the leadership; a joiner must have these records."""
        self.isr: IsrState = committed_isr(partition)
        self.min_isr = min_isr
        self.followers: dict[NodeId, FollowerProgress] = {}
        self._match_followers()
        for member in self.isr.committed:
            if member in self.followers:
                self.followers[member].caught_up_at = now

    @property
    def is_under_min_isr(self) -> bool:
        """Return whether the committed ISR is smaller than min.insync.replicas allows."""
        return len(self.isr.committed) < self.effective_min_isr

    @property
    def effective_min_isr(self) -> int:
        """Return min.insync.replicas, at most the number of replicas."""
        return min(self.min_isr, len(self.partition.replicas))

    def follow(self, partition: Partition, brokers: Map[NodeId, BrokerRegistration]) -> None:
        """Follow a newer image of the same leader epoch."""
        assert partition.leader_epoch == self.epoch, "a new epoch is another leadership"
        self.partition = partition
        self.brokers = brokers
        self.isr = self.isr.followed(partition)
        self._match_followers()

    def record_fetch(
        self,
        replica: NodeId,
        offset: Offset,
        start_offset: Offset,
        broker_epoch: int,
        now: Monotonic,
    ) -> bool:
        """Take a follower's Fetch, an acknowledgement of the records below `offset`.

        Return whether the follower has moved, or is proposed for the ISR.
        """
        progress = self.followers[replica]
        has_moved = offset != progress.end_offset or start_offset != progress.start_offset
        progress.record_fetch(offset, start_offset, broker_epoch, self._index.end_offset, now)
        if not self._may_join(replica):
            return has_moved
        self.isr = self.isr.expand(replica)
        return True

    def shrink_lagging(self, now: Monotonic) -> None:
        """Propose to remove the members without recent catch-up."""
        if self.isr.is_pending:
            return
        end = self._index.end_offset
        lagging = frozenset(
            member
            for member in self.isr.committed
            if member in self.followers
            and not self.followers[member].is_caught_up(end, now, self._lag_ns)
        )
        if lagging:
            self.isr = self.isr.shrink(lagging)

    def answered(self, sent: IsrState, answer: IsrAnswer | None) -> None:
        """Take the controller's answer to a proposal; None for a lost answer."""
        if answer is None:
            self.isr = self.isr.unanswered(sent)
        else:
            self.isr = self.isr.answered(sent, answer)

    def advance_high_watermark(self, now: Monotonic) -> bool:
        """Raise the high watermark as far as the replicas allow; return whether it rose."""
        end = self._own_end()
        if end <= self._index.high_watermark or self.is_under_min_isr:
            return False
        isr = self.isr
        for replica, progress in self.followers.items():
            if progress.end_offset < end and (
                replica in isr.committed
                or replica in isr.proposed
                or (self._is_caught_up(replica, now) and self._is_eligible(replica))
            ):
                end = progress.end_offset
        if end <= self._index.high_watermark:
            return False
        self._index.high_watermark = end
        return True

    def low_watermark(self) -> Offset:
        """Return the smallest log start over the live replicas, for DeleteRecords."""
        starts = [
            progress.start_offset
            for replica, progress in self.followers.items()
            if self._is_live(replica)
        ]
        return min([self._index.start_offset, *starts])

    def _is_live(self, replica: NodeId) -> bool:
        broker = self.brokers.get(replica)
        return broker is not None and not broker.fenced and has_disk(self.partition, broker)

    def member_epochs(self) -> tuple[tuple[NodeId, int], ...]:
        """Return the proposed members with the broker epochs of their last Fetches (KIP-903)."""
        return tuple((member, self._broker_epoch(member)) for member in self.isr.proposed)

    def _broker_epoch(self, member: NodeId) -> int:
        if member == self._node_id:
            own = self.brokers.get(member)
            return UNKNOWN_BROKER_EPOCH if own is None else own.epoch
        progress = self.followers.get(member)
        return UNKNOWN_BROKER_EPOCH if progress is None else progress.broker_epoch

    def _match_followers(self) -> None:
        """Keep a progress for each follower."""
        others = [replica for replica in self.partition.replicas if replica != self._node_id]
        self.followers = {
            replica: self.followers.get(replica, FollowerProgress()) for replica in others
        }

    def _is_caught_up(self, replica: NodeId, now: Monotonic) -> bool:
        return self.followers[replica].is_caught_up(self._index.end_offset, now, self._lag_ns)

    def _may_join(self, replica: NodeId) -> bool:
        """Return whether to propose the follower, judged at the Fetch (497-09)."""
        if self.isr.is_pending or replica in self.isr.committed:
            return False
        end = self.followers[replica].end_offset
        return (
            end >= self._index.high_watermark
            and end >= self.epoch_start
            and self._is_eligible(replica)
        )

    def _is_eligible(self, replica: NodeId) -> bool:
        """Return whether a follower may be a member (631-61, KIP-903).

        A follower in a failed directory fetches no more (KIP-858). Kafka waits for it nevertheless,
        for replica.lag.time.max.ms; the producers would wait, too.
        """
        registration = self.brokers.get(replica)
        if registration is None or not registration.may_lead:
            return False
        if not has_disk(self.partition, registration):
            return False
        seen = self.followers[replica].broker_epoch
        return seen in {UNKNOWN_BROKER_EPOCH, registration.epoch}
