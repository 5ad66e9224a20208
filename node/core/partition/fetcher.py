"""Fetch from one broker for every replica that follows this broker (KIP-392 is not used).

One Fetch is under way at a time, with every partition that is ready. A partition with an error
waits and takes part in a later Fetch. See follower.py for the decisions about a log.
"""

from collections.abc import Callable, Mapping
from typing import Final

from msgspec import Struct

from kraftproof.node.core.base.config import ReplicationPolicy
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import Epoch, Instant, Monotonic, NodeId, Offset, earliest
from kraftproof.node.core.metadata.version import REPLICA_EPOCHS_FROM, fetch_version
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.core.partition.follower import (
    Follower,
    UnfitAnswerError,
    fetched_batches,
    has_no_common_part,
    truncation_offset,
)
from kraftproof.node.core.partition.offset_search import OffsetSearch
from kraftproof.node.core.partition.replica import Replica
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import Message, fetch_request, fetch_response
from kraftproof.node.wire.types import Uuid

_SHORTEST_BACKOFF: Final = 50_000_000
_LONG_DOUBLINGS: Final = 10


class _Asked(Struct, frozen=True):
    """The state of a replica at a Fetch; an answer to another state is not used."""

    follower: Follower
    offset: Offset
    generation: int


class Fetcher:
    """The Fetches to one broker."""

    __slots__ = (
        "_broker_epoch",
        "_is_in_flight",
        "_leader",
        "_level",
        "_node_id",
        "_not_before",
        "_on_changed",
        "_outbox",
        "_policy",
        "_replicas",
        "_search",
    )

    def __init__(
        self,
        node_id: NodeId,
        leader: NodeId,
        replicas: Mapping[LogId, Replica],
        policy: ReplicationPolicy,
        outbox: Outbox,
        *,
        broker_epoch: Callable[[], int],
        level: Callable[[], int],
        on_changed: Callable[[LogId], None],
    ) -> None:
        self._node_id = node_id
        self._leader = leader
        self._replicas = replicas
        """The replicas with this broker as the leader."""
        self._policy = policy
        self._outbox = outbox
        self._broker_epoch = broker_epoch
        self._level = level
        """Returns the level of metadata.version."""
        self._on_changed = on_changed
        self._search = OffsetSearch(leader, policy, outbox, level)
        self._is_in_flight = False
        self._not_before = Monotonic(0)

    def deadline(self) -> Monotonic | None:
        """Return the time of the next Fetch; None if none is due without an event."""
        if self._is_in_flight:
            return None
        times = [_due(replica) for replica in self._replicas.values()]
        first = earliest(*times)
        return None if first is None else max(first, self._not_before)

    def settle(self, now: Instant) -> None:
        """Send the next Fetch if a replica is ready."""
        if self._is_in_flight or now.monotonic < self._not_before:
            return
        ready: dict[LogId, Replica] = {}
        for log, replica in sorted(self._replicas.items()):
            due = _due(replica)
            if due is not None and due <= now.monotonic:
                ready[log] = replica
        if not ready:
            return
        asked = {
            log: _Asked(replica.follower, replica.index.end_offset, replica.index.generation)
            for log, replica in ready.items()
            if replica.follower is not None
        }
        self._is_in_flight = True

        def on_answer(message: Message | None, now: Instant) -> None:
            self._is_in_flight = False
            self._answered(message, asked, now)

        level = self._level()
        self._outbox.send_to_broker(
            self._leader,
            self._request(ready, level),
            fetch_version(level),
            self._policy.request_timeout_ns,
            on_answer,
        )

    def _request(self, ready: Mapping[LogId, Replica], level: int) -> fetch_request.FetchRequest:
        """Return the Fetch; the broker epoch is sent from metadata.version 3.5-IV1 on (KIP-903)."""
        topics: dict[Uuid, list[fetch_request.FetchPartition]] = {}
        for log, replica in ready.items():
            assert replica.follower is not None, "only followers fetch"
            topics.setdefault(log.topic_id, []).append(
                fetch_request.FetchPartition(
                    partition=log.partition,
                    current_leader_epoch=replica.follower.epoch,
                    fetch_offset=replica.index.end_offset,
                    last_fetched_epoch=replica.index.epochs.latest,
                    log_start_offset=replica.index.start_offset,
                    partition_max_bytes=self._policy.fetch_partition_bytes,
                )
            )
        has_epoch = level >= REPLICA_EPOCHS_FROM
        state = fetch_request.ReplicaState(
            replica_id=self._node_id, replica_epoch=self._broker_epoch()
        )
        return fetch_request.FetchRequest(
            replica_id=-1 if has_epoch else self._node_id,
            replica_state=state if has_epoch else fetch_request.ReplicaState(),
            max_wait_ms=self._policy.fetch_wait_ms,
            min_bytes=1,
            max_bytes=self._policy.fetch_response_bytes,
            session_id=0,
            session_epoch=-1,
            topics=tuple(
                fetch_request.FetchTopic(topic_id=topic_id, partitions=tuple(partitions))
                for topic_id, partitions in topics.items()
            ),
        )

    def _answered(
        self, message: Message | None, asked: Mapping[LogId, _Asked], now: Instant
    ) -> None:
        if not isinstance(message, fetch_response.FetchResponse) or message.error_code:
            self._not_before = Monotonic(now.monotonic + self._policy.fetch_backoff_ns)
            return
        for topic in message.responses:
            for partition in topic.partitions:
                log = LogId(topic.topic_id, partition.partition_index)
                replica = self._replicas.get(log)
                state = asked.get(log)
                if replica is None or state is None or not _is_current(replica, state):
                    continue  # the image has moved on, or the answer names a partition twice
                self._take(replica, state.follower, partition, now)

    def _take(
        self,
        replica: Replica,
        follower: Follower,
        partition: fetch_response.PartitionData,
        now: Instant,
    ) -> None:
        diverging = partition.diverging_epoch
        if partition.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
            self._search.begin(replica, follower)
        elif partition.error_code != ErrorCode.NONE:
            self._back_off(follower, now)
        elif diverging.epoch >= 0 and diverging.end_offset >= 0:
            offset = truncation_offset(
                replica.index, Epoch(diverging.epoch), Offset(diverging.end_offset)
            )
            if has_no_common_part(replica.index, offset, partition.log_start_offset):
                replica.restart(offset)
            else:
                replica.truncate(offset)
            self._on_changed(replica.log)
        else:
            self._append(replica, follower, partition, now)

    def _append(
        self,
        replica: Replica,
        follower: Follower,
        partition: fetch_response.PartitionData,
        now: Instant,
    ) -> None:
        try:
            batches = fetched_batches(replica.index, follower.epoch, partition)
        except UnfitAnswerError:
            self._back_off(follower, now)
            return
        follower.failures = 0
        start = replica.index.start_offset
        if batches and batches[0].base_offset < replica.index.end_offset:
            replica.restart(Offset(batches[0].base_offset))
        for batch in batches:
            replica.append_fetched(batch, now)
        replica.raise_start(start)
        has_moved = replica.follow_leaders_offsets(
            Offset(partition.high_watermark), Offset(partition.log_start_offset)
        )
        if batches or has_moved:
            self._on_changed(replica.log)

    def _back_off(self, follower: Follower, now: Instant) -> None:
        """Leave a partition out of the next Fetches, for a growing time."""
        doubled = _SHORTEST_BACKOFF << min(follower.failures, _LONG_DOUBLINGS)
        follower.failures += 1
        follower.not_before = Monotonic(now.monotonic + min(doubled, self._policy.fetch_backoff_ns))


def _due(replica: Replica) -> Monotonic | None:
    """Return the time of a replica's next Fetch; None during a search or an unfinished flush."""
    follower = replica.follower
    if follower is None or follower.is_finding_offsets:
        return None
    return follower.not_before if replica.own_end == replica.index.end_offset else None


def _is_current(replica: Replica, state: _Asked) -> bool:
    """Return whether the replica is as it was at the Fetch."""
    index = replica.index
    return (
        replica.follower is state.follower
        and index.end_offset == state.offset
        and index.generation == state.generation
    )
