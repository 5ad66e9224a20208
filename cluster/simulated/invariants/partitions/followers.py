"""Invariants of followers: what a Fetch says of the log, what a truncation removes, who may ask."""

from typing import ClassVar

from typing_extensions import override

from kraftproof.cluster.simulated.disk.partition_mirrors import PartitionMirror
from kraftproof.cluster.simulated.invariants.invariant import Invariant, ProcessView, Requests
from kraftproof.cluster.simulated.invariants.partitions.fetched import NO_EPOCH, follower_of
from kraftproof.cluster.simulated.invariants.partitions.replicas import Replicas, partition_in
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import NodeId
from kraftproof.node.core.effects import Effect, Send, Truncate
from kraftproof.node.core.events import Answered, Received
from kraftproof.node.core.metadata.image import Partition
from kraftproof.node.wire.messages import Message, fetch_request, fetch_response

FetchPartition = fetch_request.FetchPartition


class FollowersTellTheirLogs(Replicas):
    """A Fetch is an acknowledgement, so it says what is on the follower's disk (KIP-101)."""

    statement = (
        "A follower fetches from the end of its log, with the start and the last epoch of the log "
        "and the leader epoch of its image; if the topic flushes, the records are on the disk."
    )
    requests: ClassVar[Requests] = (fetch_request.FetchRequest,)

    @override
    def on_data_sent(self, process: ProcessView, effect: Send) -> None:
        request = effect.message
        assert isinstance(request, fetch_request.FetchRequest), "the only type of its requests"
        for log, asked in self._newest.wishes(process.image, request, effect.version):
            mirror, partition = process.partitions.get(log), partition_in(process.image, log)
            wrong = None
            if mirror is None or partition is None:
                wrong = "it has no replica"
            else:
                wrong = _wrong_fetch(mirror, partition, asked)
                is_durable = asked.fetch_offset <= mirror.durable_end
                if wrong is None and not is_durable and self._is_durable(log.topic_id):
                    wrong = f"the disk has offset {mirror.durable_end}"
            if wrong is not None:
                detail = f"log {log}: fetches from offset {asked.fetch_offset}, {wrong}"
                self.monitor.report_violation(self, process, detail)


def _wrong_fetch(
    mirror: PartitionMirror, partition: Partition, asked: FetchPartition
) -> str | None:
    """Describe the first field of a Fetch that does not fit the log."""
    last = mirror.batches[-1].epoch if mirror.batches else NO_EPOCH
    if asked.fetch_offset != mirror.end_offset:
        return f"the log ends at {mirror.end_offset}"
    if asked.log_start_offset != mirror.start_offset:
        return f"names the start {asked.log_start_offset}, the log starts at {mirror.start_offset}"
    if asked.current_leader_epoch != partition.leader_epoch:
        return f"in epoch {asked.current_leader_epoch}, the epoch is {partition.leader_epoch}"
    if last >= 0 and not last <= asked.last_fetched_epoch <= partition.leader_epoch:
        return f"names the last epoch {asked.last_fetched_epoch}, the last batch has epoch {last}"
    return None


class FollowersCutOnlyDivergence(Replicas):
    """A truncation removes what the leader has not, and no record besides (KIP-101, KIP-320)."""

    statement = "After a diverging answer a follower keeps each batch that its leader has."

    @override
    def on_partition_changed(self, process: ProcessView, log: LogId, effect: Effect) -> None:
        event = process.event
        if not isinstance(effect, Truncate) or not isinstance(event, Answered):
            return
        removed = process.partitions.of(log).removed
        ours = partition_in(process.image, log)
        is_fetch = isinstance(event.message, fetch_response.FetchResponse)
        if removed is None or ours is None or not is_fetch:
            return
        leader = self._processes.get(ours.leader)
        theirs = None if leader is None else partition_in(leader.image, log)
        if leader is None or theirs is None or theirs.leader_epoch != ours.leader_epoch:
            return
        mirror = leader.partitions.get(log)
        if leader.node_id == process.node_id or mirror is None:
            return
        held = next(iter(mirror.between(removed.base_offset, removed.next_offset)), None)
        if held is not None and held.data == removed.data:
            detail = f"log {log}: offset {removed.base_offset} is removed, leader {ours.leader}"
            self.monitor.report_violation(self, process, f"{detail} has the same batch")


class StaleFollowersAreRefused(Invariant):
    """A Fetch of an earlier process of a broker acknowledges nothing (KIP-903)."""

    statement = "A leader refuses a Fetch with an older broker epoch than the registered one."
    requests: ClassVar[Requests] = (fetch_request.FetchRequest,)

    def __init__(self) -> None:
        super().__init__()
        self._stale: dict[tuple[int, int, int], int] = {}
        """By node, incarnation and request: the registered broker epoch."""

    @override
    def on_data_received(self, process: ProcessView, event: Received) -> None:
        request = event.message
        assert isinstance(request, fetch_request.FetchRequest), "the only type of its requests"
        replica, epoch = follower_of(request, event.version)
        if replica < 0 or epoch == NO_EPOCH:
            return
        broker = process.image.brokers.get(NodeId(replica))
        if broker is not None and epoch < broker.epoch:
            self._stale[process.node_id, process.incarnation, event.request] = broker.epoch

    @override
    def on_data_answered(self, process: ProcessView, event: Received, message: Message) -> None:
        key = (process.node_id, process.incarnation, event.request)
        registered = self._stale.pop(key, None)
        if registered is None or not isinstance(message, fetch_response.FetchResponse):
            return
        for topic in message.responses:
            for part in topic.partitions:
                if not part.error_code and not message.error_code:
                    detail = f"partition {part.partition_index} is served to an earlier process"
                    found = f"of a broker whose epoch is {registered}"
                    self.monitor.report_violation(self, process, f"{detail} {found}")
