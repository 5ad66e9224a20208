"""The Fetches of followers as a leader received them, which the invariants of leaders share.

A Fetch acknowledges every record below its offset, in one leader epoch, to one process of the
leader. A Fetch that has diverged from the leader's log acknowledges nothing.
"""

from typing import ClassVar, Final

from msgspec import Struct, field
from typing_extensions import override

from kraftproof.cluster.simulated.invariants.invariant import Invariant, ProcessView, Requests
from kraftproof.cluster.simulated.invariants.partitions.replicas import NewestImage, partition_in
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.effects import Forward, Send
from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.image import Partition
from kraftproof.node.wire.messages import (
    Message,
    alter_partition_request,
    alter_partition_response,
    fetch_request,
    fetch_response,
)

REPLICA_STATE_FROM: Final = 15
"""The first version of Fetch with the broker epoch of the follower."""
NO_EPOCH: Final = -1
MOST_TIMES: Final = 100
"""Number of kept times of a follower."""


class Leadership(Struct, kw_only=True):
    """The Fetches of followers to a leader's process in a leader epoch of a partition."""

    offsets: dict[int, int] = field(default_factory=dict)
    """By follower: the largest offset of a Fetch."""
    broker_epochs: dict[int, set[int]] = field(default_factory=dict)
    """By follower: the broker epochs of the Fetches."""
    last: dict[int, tuple[int, int]] = field(default_factory=dict)
    """By follower: offset and true time of the last Fetch that the leader has served."""
    level_ns: dict[int, list[int]] = field(default_factory=dict)
    """By follower: the last true times of Fetches from the end of the leader's log, ascending."""
    shown: int | None = None
    """The largest high watermark that the leader has shown in this epoch."""


class FollowerFetches(Invariant):
    """Remembers the Fetches that each leader has received; reports no violation."""

    requests: ClassVar[Requests] = (
        fetch_request.FetchRequest,
        alter_partition_request.AlterPartitionRequest,
    )

    def __init__(self, newest: NewestImage | None = None) -> None:
        super().__init__()
        self._newest = NewestImage() if newest is None else newest
        self._leaderships: dict[tuple[int, int, LogId, int], Leadership] = {}
        """By node, incarnation, log and leader epoch."""
        self._accepted: dict[tuple[int, int, LogId], tuple[int, tuple[int, ...]]] = {}
        """By node, incarnation and log: partition epoch and ISR of the last accepted proposal."""

    def of(self, process: ProcessView, log: LogId, epoch: int) -> Leadership:
        """Return the Fetches to a process in a leader epoch of a partition."""
        key = (process.node_id, process.incarnation, log, epoch)
        found = self._leaderships.get(key)
        if found is None:
            found = self._leaderships[key] = Leadership()
        return found

    def known_isrs(
        self, process: ProcessView, log: LogId, partition: Partition
    ) -> list[tuple[int, ...]]:
        """Return the ISR of a leader's image, and a newer one that a controller has answered."""
        isrs: list[tuple[int, ...]] = [partition.isr]
        accepted = self._accepted.get((process.node_id, process.incarnation, log))
        if accepted is not None and accepted[0] > partition.partition_epoch:
            isrs.append(accepted[1])
        return isrs

    @override
    def on_response(self, process: ProcessView, request: Send | Forward, answer: Message) -> None:
        if not isinstance(answer, alter_partition_response.AlterPartitionResponse):
            return
        for topic in answer.topics:
            for part in topic.partitions:
                if not part.error_code:
                    key = (
                        process.node_id,
                        process.incarnation,
                        LogId(topic.topic_id, part.partition_index),
                    )
                    self._accepted[key] = (part.partition_epoch, part.isr)

    @override
    def on_data_received(self, process: ProcessView, event: Received) -> None:
        request = event.message
        assert isinstance(request, fetch_request.FetchRequest), "the only type of its requests"
        replica, broker_epoch = follower_of(request, event.version)
        if replica < 0:
            return
        now_ns = process.now_ns()
        for log, asked in self._newest.wishes(process.image, request, event.version):
            epoch = asked.current_leader_epoch
            if epoch == NO_EPOCH:
                partition = partition_in(process.image, log)
                epoch = NO_EPOCH if partition is None else partition.leader_epoch
            mirror = process.partitions.get(log)
            if mirror is not None and asked.last_fetched_epoch >= 0:
                common_end = mirror.end_of_epoch(asked.last_fetched_epoch)
                if asked.fetch_offset > common_end:
                    continue
            leadership = self.of(process, log, epoch)
            known = leadership.offsets.get(replica, -1)
            leadership.offsets[replica] = max(known, asked.fetch_offset)
            if mirror is not None and asked.fetch_offset >= mirror.end_offset:
                times = leadership.level_ns.setdefault(replica, [])
                times.append(now_ns)
                del times[:-MOST_TIMES]
            leadership.broker_epochs.setdefault(replica, set()).add(broker_epoch)

    @override
    def on_data_answered(self, process: ProcessView, event: Received, message: Message) -> None:
        request = event.message
        assert isinstance(request, fetch_request.FetchRequest), "the only type of its requests"
        replica, _ = follower_of(request, event.version)
        if replica < 0 or not isinstance(message, fetch_response.FetchResponse):
            return
        answers = [part for topic in message.responses for part in topic.partitions]
        asked = self._newest.wishes(process.image, request, event.version)
        for (log, wish), found in zip(asked, answers, strict=False):
            is_served = not found.error_code and found.diverging_epoch.end_offset < 0
            if is_served and len(asked) == len(answers) and wish.current_leader_epoch >= 0:
                leadership = self.of(process, log, wish.current_leader_epoch)
                leadership.last[replica] = (wish.fetch_offset, process.now_ns())


def follower_of(request: fetch_request.FetchRequest, version: int) -> tuple[int, int]:
    """Return the id and the broker epoch of the follower; -1 for a consumer or no epoch."""
    if version >= REPLICA_STATE_FROM:
        return request.replica_state.replica_id, request.replica_state.replica_epoch
    return request.replica_id, NO_EPOCH
