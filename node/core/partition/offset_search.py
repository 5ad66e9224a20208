"""Find the range of a leader's log after OFFSET_OUT_OF_RANGE (KIP-101, KIP-207).

A follower beyond the leader's end has records that an unclean election has dropped, and truncates.
A follower whose start is above the leader's end restarts at the leader's end.
A follower below the leader's start has missed deleted records, and restarts at the leader's start.
"""

from collections.abc import Callable
from typing import Final

from kraftproof.node.core.base.config import ReplicationPolicy
from kraftproof.node.core.base.types import Instant, Monotonic, NodeId, Offset
from kraftproof.node.core.metadata.version import list_offsets_version
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.core.partition.follower import Follower
from kraftproof.node.core.partition.replica import Replica
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import Message, list_offsets_request, list_offsets_response

LATEST: Final = -1
EARLIEST: Final = -2


class OffsetSearch:
    """The searches at one leader, each for one replica."""

    __slots__ = ("_leader", "_level", "_outbox", "_policy")

    def __init__(
        self,
        leader: NodeId,
        policy: ReplicationPolicy,
        outbox: Outbox,
        level: Callable[[], int],
    ) -> None:
        self._level = level
        self._leader = leader
        self._policy = policy
        self._outbox = outbox

    def begin(self, replica: Replica, follower: Follower) -> None:
        """Ask for the leader's end, then maybe for the start; the replica fetches afterwards."""
        follower.is_finding_offsets = True
        self._ask(replica, follower, LATEST)

    def _ask(self, replica: Replica, follower: Follower, timestamp: int) -> None:
        def on_answer(message: Message | None, now: Instant) -> None:
            if replica.follower is not follower:
                return  # the image has named another leadership
            offset = _offset_of(message)
            if offset is None:
                follower.is_finding_offsets = False
                follower.not_before = Monotonic(now.monotonic + self._policy.fetch_backoff_ns)
            elif timestamp == LATEST:
                self._on_latest(replica, follower, offset)
            else:
                self._on_earliest(replica, follower, offset, now)

        request = list_offsets_request.ListOffsetsRequest(
            replica_id=replica.node_id,
            topics=(
                list_offsets_request.ListOffsetsTopic(
                    name=replica.topic,
                    partitions=(
                        list_offsets_request.ListOffsetsPartition(
                            partition_index=replica.log.partition,
                            current_leader_epoch=follower.epoch,
                            timestamp=timestamp,
                        ),
                    ),
                ),
            ),
        )
        self._outbox.send_to_broker(
            self._leader,
            request,
            list_offsets_version(self._level()),
            self._policy.request_timeout_ns,
            on_answer,
        )

    def _on_latest(self, replica: Replica, follower: Follower, leader_end: Offset) -> None:
        if leader_end < replica.index.end_offset:
            start = replica.index.start_offset
            if leader_end < start:
                replica.restart(leader_end)
            else:
                # The begin of a batch: the leader's end may be within a batch of the old log.
                replica.truncate(max(replica.index.boundary_at(leader_end), start))
            follower.is_finding_offsets = False
        else:
            self._ask(replica, follower, EARLIEST)

    def _on_earliest(
        self, replica: Replica, follower: Follower, leader_start: Offset, now: Instant
    ) -> None:
        follower.is_finding_offsets = False
        if leader_start > replica.index.end_offset:
            replica.restart(leader_start)
        else:
            # The leader's log has changed meanwhile, or the leader does not know an epoch.
            follower.not_before = Monotonic(now.monotonic + self._policy.fetch_backoff_ns)


def _offset_of(message: Message | None) -> Offset | None:
    """Return the offset of an answer about one partition; None for an error."""
    if not isinstance(message, list_offsets_response.ListOffsetsResponse):
        return None
    match message.topics:
        case (topic,) if len(topic.partitions) == 1:
            partition = topic.partitions[0]
            is_known = partition.error_code == ErrorCode.NONE and partition.offset >= 0
            return Offset(partition.offset) if is_known else None
        case _:
            return None
