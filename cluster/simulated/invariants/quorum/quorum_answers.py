"""Invariants of a controller's answers about the quorum (KIP-595 "DescribeQuorum", KIP-919).

DescribeQuorum (595-63 to 65) and DescribeCluster are compared with the votes on disks and with the
Fetches on the wire, since a bug that falsifies a node's status falsifies its answers as well. See
quorum_progress.py for the progress of replicas.
"""

from collections.abc import Iterator
from typing import ClassVar

from typing_extensions import override

from kraftproof.cluster.simulated.invariants.invariant import (
    LEADER,
    ClusterConfig,
    Invariant,
    ProcessView,
    Requests,
)
from kraftproof.cluster.simulated.invariants.quorum.quorum_progress import (
    HighWatermarkIsEarned,
    Leadership,
    Replica,
)
from kraftproof.node.core.base.types import NO_NODE
from kraftproof.node.core.effects import Forward, Send
from kraftproof.node.core.events import Received
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    describe_cluster_request,
    describe_cluster_response,
    describe_quorum_request,
    describe_quorum_response,
    fetch_request,
    fetch_response,
)
from kraftproof.node.wire.messages.generated.describe_quorum_response import (
    PartitionData,
    ReplicaState,
)

ClusterResponse = describe_cluster_response.DescribeClusterResponse
QuorumResponse = describe_quorum_response.DescribeQuorumResponse
LOG = ("__cluster_metadata", 0)
TIMES_SINCE = 1
"""First version of DescribeQuorum with the times of Fetches."""
NODES_SINCE = 2
"""First version of DescribeQuorum with the listeners of the voters."""


class HighWatermarkToldNeverFalls(Invariant):
    """A new leader reports no high watermark below the one known from its predecessor."""

    statement = "A Fetch response never has a high watermark below the one known to the replica."
    requests: ClassVar[Requests] = (fetch_request.FetchRequest,)

    @override
    def on_response(self, process: ProcessView, request: Send | Forward, answer: Message) -> None:
        status = process.status
        if status is None or not isinstance(answer, fetch_response.FetchResponse):
            return
        for topic in answer.responses:
            for told in topic.partitions:
                leader = (told.current_leader.leader_id, told.current_leader.leader_epoch)
                is_taken = told.error_code == 0 and leader == (status.leader, status.epoch)
                if is_taken and 0 <= told.high_watermark < status.high_watermark:
                    known = status.high_watermark
                    detail = (
                        f"leader {status.leader} reports high watermark {told.high_watermark}, but "
                        f"the replica knows {known}"
                    )
                    self.monitor.report_violation(self, process, detail)


class DescribeQuorumIsAccurate(Invariant):
    """DescribeQuorum equals what the answering controller's disk and its Fetches say."""

    statement = (
        "A controller answers DescribeQuorum with the epoch and leader of its disk; the leader "
        "answers with every voter, the log ends and times of the Fetches that it received, and the "
        "high watermark that follows."
    )
    requests: ClassVar[Requests] = (
        describe_cluster_request.DescribeClusterRequest,
        describe_quorum_request.DescribeQuorumRequest,
    )

    def __init__(self, config: ClusterConfig, progress: HighWatermarkIsEarned) -> None:
        super().__init__()
        self._voters = sorted(config.voters)
        self._progress = progress

    @override
    def on_replying(self, process: ProcessView, event: Received, message: Message) -> None:
        """Compare with disk and log before the step's later effects."""
        if not event.on_controller_listener or not isinstance(message, QuorumResponse):
            return
        for told in _told(message):
            for fault in self._faults(process, told, event.version):
                self.monitor.report_violation(self, process, fault)
        nodes = sorted(node.node_id for node in message.nodes)
        if event.version >= NODES_SINCE and nodes != self._voters:
            self.monitor.report_violation(
                self, process, f"answers nodes {nodes}, but the voters are {self._voters}"
            )

    @override
    def on_replied(self, process: ProcessView, event: Received, message: Message) -> None:
        """Compare with the role after the step: a leader without majority resigns first."""
        status = process.status
        if status is None or not event.on_controller_listener:
            return
        if isinstance(message, QuorumResponse):
            for told in _told(message):
                if (told.error_code == ErrorCode.NONE) != (status.role == LEADER):
                    fault = f"answers with error {told.error_code} as {status.role}"
                    self.monitor.report_violation(self, process, fault)
        elif isinstance(message, ClusterResponse) and message.error_code == ErrorCode.NONE:
            controllers = sorted(node.broker_id for node in message.brokers)
            leaders = self._leaders(process)
            if controllers != self._voters or message.controller_id not in leaders:
                detail = (
                    f"answers leader {message.controller_id} and controllers {controllers}, but "
                    f"the disk has {leaders[0]}, and the controllers are {self._voters}"
                )
                self.monitor.report_violation(self, process, detail)

    def _leaders(self, process: ProcessView) -> tuple[int, ...]:
        """Return the leaders that an answer may name: a former leader names none."""
        disk = self._progress.disk(process.node_id)
        if disk is None:
            return (NO_NODE,)
        return (disk.leader, NO_NODE) if disk.leader == process.node_id else (disk.leader,)

    def _faults(self, process: ProcessView, told: PartitionData, version: int) -> Iterator[str]:
        disk = self._progress.disk(process.node_id)
        if disk is None:
            return
        leaders = self._leaders(process)
        if told.leader_epoch != disk.epoch or told.leader_id not in leaders:
            said = (told.leader_id, told.leader_epoch)
            yield f"answers leader and epoch {said}, but the disk has {leaders[0]}, {disk.epoch}"
        if told.error_code != ErrorCode.NONE:
            if told.high_watermark > 0 or told.current_voters or told.observers:
                yield f"reports replicas without being the leader: {told}"
            return
        led = self._progress.leadership(process)
        if led is None or led.incarnation != process.incarnation:
            yield f"answers as the leader, but the disk has {disk}"
            return
        fault = self._progress.fault(process, led, told.high_watermark)
        if fault is not None:
            yield fault
        yield from self._replica_faults(process, led, told, has_times=version >= TIMES_SINCE)

    def _replica_faults(
        self, process: ProcessView, led: Leadership, told: PartitionData, *, has_times: bool
    ) -> Iterator[str]:
        now_ms = process.wall_ms()
        ours = Replica(acknowledged=process.log.end_offset, fetched_ms=now_ms, caught_up_ms=now_ms)
        voters = {voter: led.replicas.get(voter, Replica()) for voter in self._voters}
        voters[process.node_id] = ours
        observers = {one: led.replicas[one] for one in led.replicas if one not in voters}
        for name, expected, answered in (
            ("voters", voters, told.current_voters),
            ("observers", observers, told.observers),
        ):
            said = [_row(one, has_times=has_times) for one in answered]
            rows = [_expected(one, expected[one], has_times=has_times) for one in sorted(expected)]
            if said != rows:
                yield f"answers {name} {said}; by its log and its Fetches they are {rows}"


def _row(told: ReplicaState, *, has_times: bool) -> tuple[int, ...]:
    row = (told.replica_id, told.log_end_offset)
    return (*row, told.last_fetch_timestamp, told.last_caught_up_timestamp) if has_times else row


def _expected(replica_id: int, known: Replica, *, has_times: bool) -> tuple[int, ...]:
    row = (replica_id, known.acknowledged)
    return (*row, known.fetched_ms, known.caught_up_ms) if has_times else row


def _told(message: QuorumResponse) -> Iterator[PartitionData]:
    """Return the entries of the metadata log in an answer."""
    for topic in message.topics:
        for partition in topic.partitions:
            if (topic.topic_name, partition.partition_index) == LOG:
                yield partition
