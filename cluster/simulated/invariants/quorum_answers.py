"""What must hold of what a controller says of its quorum (KIP-595 "DescribeQuorum", KIP-919).

DescribeQuorum (595-63 to 65) and DescribeCluster are judged by the status that the node shows.
Not: whether that status is right, which log_invariants.py and election_invariants.py judge: with
it, what is told here as committed is on the disks of a majority.
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
from kraftproof.node.core.effects import Forward, Send
from kraftproof.node.core.events import Received
from kraftproof.node.core.status import NodeStatus
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
from kraftproof.node.wire.messages.generated.describe_quorum_response import PartitionData

ClusterResponse = describe_cluster_response.DescribeClusterResponse
QuorumResponse = describe_quorum_response.DescribeQuorumResponse
LOG = ("__cluster_metadata", 0)
UNKNOWN = -1
TIMES_SINCE = 1
"""From this version on the times of Fetches are told."""
NODES_SINCE = 2
"""From this version on the voters' listeners are told."""


class HighWatermarkToldNeverFalls(Invariant):
    """Of a replica's leader, to a replica that may know more from the leader before."""

    sentence = "No Fetch answer of its leader tells a replica less than it knows to be committed."
    requests: ClassVar[Requests] = (fetch_request.FetchRequest,)

    @override
    def heard(self, process: ProcessView, request: Send | Forward, answer: Message) -> None:
        status = process.status
        if status is None or not isinstance(answer, fetch_response.FetchResponse):
            return
        for topic in answer.responses:
            for told in topic.partitions:
                leader = (told.current_leader.leader_id, told.current_leader.leader_epoch)
                is_taken = told.error_code == 0 and leader == (status.leader, status.epoch)
                if is_taken and 0 <= told.high_watermark < status.high_watermark:
                    known = status.high_watermark
                    detail = f"leader {status.leader} tells {told.high_watermark}, known is {known}"
                    self.monitor.report_violation(self, process, detail)


class DescribeQuorumIsAccurate(Invariant):
    """Of the leader, and of who says that it is none."""

    sentence = (
        "Who is asked for the quorum names the leader, epoch and high watermark of its status and "
        "every voter; of replicas and what has committed only the leader speaks."
    )
    requests: ClassVar[Requests] = (
        describe_cluster_request.DescribeClusterRequest,
        describe_quorum_request.DescribeQuorumRequest,
    )

    def __init__(self, config: ClusterConfig) -> None:
        super().__init__()
        self._voters = sorted(config.voters)

    @override
    def replying(self, process: ProcessView, event: Received, message: Message) -> None:
        """Its log may grow in the same step, but after the answer."""
        if not event.on_controller_listener or not isinstance(message, QuorumResponse):
            return
        log_end = process.log.end_offset
        for told in _told(message):
            ends = {one.replica_id: one.log_end_offset for one in told.current_voters}
            if ends and (ends.get(process.node_id) != log_end or max(ends.values()) > log_end):
                self.monitor.report_violation(
                    self, process, f"answers that logs end at {ends}, its own ends at {log_end}"
                )

    @override
    def replied(self, process: ProcessView, event: Received, message: Message) -> None:
        """A leader without majority resigns before it answers; nothing else changes meanwhile."""
        status = process.status
        if status is None or not event.on_controller_listener:
            return
        if isinstance(message, QuorumResponse):
            for told in _told(message):
                for fault in self._faults(process, told, event.version):
                    self.monitor.report_violation(self, process, fault)
            nodes = sorted(node.node_id for node in message.nodes)
            if event.version >= NODES_SINCE and nodes != self._voters:
                self.monitor.report_violation(
                    self, process, f"answers nodes {nodes}, the voters are {self._voters}"
                )
        elif isinstance(message, ClusterResponse) and message.error_code == ErrorCode.NONE:
            said = (message.controller_id, sorted(node.broker_id for node in message.brokers))
            if said != (status.leader, self._voters):
                detail = f"leader and controllers {said}, they are {status.leader}, {self._voters}"
                self.monitor.report_violation(self, process, detail)

    def _faults(self, process: ProcessView, told: PartitionData, version: int) -> Iterator[str]:
        status = process.status
        if status is None:
            return
        said = (told.leader_id, told.leader_epoch)
        if said != (status.leader, status.epoch):
            yield f"leader and epoch {said}, they are {status.leader}, {status.epoch}"
        if (told.error_code == ErrorCode.NONE) != (status.role == LEADER):
            yield f"a {status.role} answers with error {told.error_code}"
        elif told.error_code == ErrorCode.NONE:
            expected = _stated(process, status)
            if told.high_watermark not in expected:
                yield f"high watermark {told.high_watermark}, it is {expected[0]}"
            yield from self._replica_faults(told, has_times=version >= TIMES_SINCE)
        elif told.high_watermark > 0 or told.current_voters or told.observers:
            yield f"it does not lead, and tells of replicas: {told}"

    def _replica_faults(self, told: PartitionData, *, has_times: bool) -> Iterator[str]:
        voters = sorted(one.replica_id for one in told.current_voters)
        observers = [one.replica_id for one in told.observers]
        if voters != self._voters or set(observers) & set(voters):
            yield f"voters {voters}, observers {observers}; voters are {self._voters}"
        for one in (*told.current_voters, *told.observers):
            reached = max(one.log_end_offset, one.last_caught_up_timestamp)
            if has_times and one.last_fetch_timestamp < 0 <= reached:
                yield f"{one.replica_id} is at {one.log_end_offset}, and has never fetched"


def _stated(process: ProcessView, status: NodeStatus) -> tuple[int, ...]:
    """Return what a leader may state: no high watermark before one in its own epoch."""
    last = process.log.ending_at(status.high_watermark)
    if last is not None:
        return (status.high_watermark,) if last.epoch == status.epoch else (UNKNOWN,)
    # Nothing has committed, or a snapshot stands where the last committed batch was.
    return (status.high_watermark, UNKNOWN) if status.high_watermark else (UNKNOWN,)


def _told(message: QuorumResponse) -> Iterator[PartitionData]:
    """What is said of the log of the metadata; there is no other."""
    for topic in message.topics:
        for partition in topic.partitions:
            if (topic.topic_name, partition.partition_index) == LOG:
                yield partition
