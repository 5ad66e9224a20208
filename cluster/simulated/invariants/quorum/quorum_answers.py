"""Invariants of a controller's answers about the quorum (KIP-595 "DescribeQuorum", KIP-919).

DescribeQuorum (595-63 to 65) and DescribeCluster are compared with the status of the node, which
StatusIsAccurate compares with the evidence (status.py), and with the Fetches that have arrived.
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
from kraftproof.cluster.simulated.invariants.quorum.evidence import (
    MOST_REMEMBERED,
    Leadership,
    QuorumEvidence,
)
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
UNKNOWN = -1
TIMES_SINCE = 1
"""First version of DescribeQuorum with the times of Fetches."""
NODES_SINCE = 2
"""First version of DescribeQuorum with the listeners of the voters."""


class ReportedHighWatermarkNeverFalls(Invariant):
    """A new leader reports no high watermark below the one known from its predecessor."""

    statement = "A Fetch response never has a high watermark below the one known to the replica."
    requests: ClassVar[Requests] = (fetch_request.FetchRequest,)

    @override
    def on_response(self, process: ProcessView, request: Send | Forward, answer: Message) -> None:
        status = process.status
        if status is None or not isinstance(answer, fetch_response.FetchResponse):
            return
        for topic in answer.responses:
            for reported in topic.partitions:
                leader = (reported.current_leader.leader_id, reported.current_leader.leader_epoch)
                is_taken = reported.error_code == 0 and leader == (status.leader, status.epoch)
                if is_taken and 0 <= reported.high_watermark < status.high_watermark:
                    known = status.high_watermark
                    detail = (
                        f"leader {status.leader} reports high watermark"
                        f" {reported.high_watermark}, but the replica knows {known}"
                    )
                    self.monitor.report_violation(self, process, detail)


class DescribeQuorumIsAccurate(Invariant):
    """DescribeQuorum and DescribeCluster equal the status of the answering controller."""

    statement = (
        "A controller answers DescribeQuorum with the leader, epoch and high watermark of its "
        "status and every voter; only the leader reports replicas, with the offsets and times of "
        "their Fetches, and a high watermark."
    )
    requests: ClassVar[Requests] = (
        describe_cluster_request.DescribeClusterRequest,
        describe_quorum_request.DescribeQuorumRequest,
    )

    def __init__(self, config: ClusterConfig, evidence: QuorumEvidence) -> None:
        super().__init__()
        self._voters = sorted(config.voters)
        self._addresses = sorted(config.voter_addresses)
        self._listener = config.controller_listener
        self._evidence = evidence

    @override
    def on_replying(self, process: ProcessView, event: Received, message: Message) -> None:
        """Compare with the log end before the step's later appends, and with the Fetches."""
        leadership = self._evidence.of(process).leadership
        if leadership is None or not event.on_controller_listener:
            return
        if not isinstance(message, QuorumResponse):
            return
        found = {**leadership.acknowledged, process.node_id: process.log.end_offset}
        may_forget = len(leadership.fetched) > MOST_REMEMBERED
        for reported in _reported(message):
            for one in (*reported.current_voters, *reported.observers):
                is_observer = one.replica_id not in self._voters
                if may_forget and is_observer and one.log_end_offset == UNKNOWN:
                    continue
                if one.log_end_offset != (end := found.get(one.replica_id, UNKNOWN)):
                    detail = (
                        f"answers log end {one.log_end_offset} of node {one.replica_id}, but by "
                        f"its Fetches and the own log it is {end}"
                    )
                    self.monitor.report_violation(self, process, detail)
                if event.version >= TIMES_SINCE and not (may_forget and is_observer):
                    self._judge_times(process, leadership, one)

    def _judge_times(self, process: ProcessView, leadership: Leadership, one: ReplicaState) -> None:
        """Compare the times of a replica with the Fetches, and the leader's with each other."""
        told = (one.last_fetch_timestamp, one.last_caught_up_timestamp)
        right = (
            leadership.fetched_ms.get(one.replica_id, UNKNOWN),
            leadership.caught_up_ms.get(one.replica_id, UNKNOWN),
        )
        if one.replica_id == process.node_id:
            now_ms = told[0] if told[0] >= 0 else process.wall_ms()  # earlier, if a disk holds up
            right = (now_ms, now_ms)
        if told != right:
            detail = f"answers that node {one.replica_id} fetched and caught up at {told}"
            self.monitor.report_violation(self, process, f"{detail}, but the times are {right}")

    @override
    def on_replied(self, process: ProcessView, event: Received, message: Message) -> None:
        """Compare with the status after the step: a leader without majority resigns first."""
        status = process.status
        if status is None or not event.on_controller_listener:
            return
        if isinstance(message, QuorumResponse):
            for reported in _reported(message):
                for fault in self._faults(process, reported):
                    self.monitor.report_violation(self, process, fault)
            self._judge_addresses(process, event.version, message)
            nodes = sorted(node.node_id for node in message.nodes)
            if event.version >= NODES_SINCE and nodes != self._voters:
                self.monitor.report_violation(
                    self, process, f"answers nodes {nodes}, but the voters are {self._voters}"
                )
        elif isinstance(message, ClusterResponse) and message.error_code == ErrorCode.NONE:
            said = (message.controller_id, sorted(node.broker_id for node in message.brokers))
            if said != (status.leader, self._voters):
                detail = (
                    f"answers leader and controllers {said}, but they are {status.leader}, "
                    f"{self._voters}"
                )
                self.monitor.report_violation(self, process, detail)
            shown = sorted((node.broker_id, node.host, node.port) for node in message.brokers)
            if self._addresses and shown != self._addresses:
                self._report_addresses(process, shown)

    def _judge_addresses(self, process: ProcessView, version: int, message: QuorumResponse) -> None:
        """Compare the listeners of the voters with the configuration."""
        told = sorted(
            (node.node_id, listener.host, listener.port)
            for node in message.nodes
            for listener in node.listeners
        )
        names = {listener.name for node in message.nodes for listener in node.listeners}
        is_right = (told, names) == (self._addresses, {self._listener})
        if version >= NODES_SINCE and self._addresses and not is_right:
            self._report_addresses(process, told, *sorted(names))

    def _report_addresses(
        self, process: ProcessView, told: list[tuple[int, str, int]], *names: str
    ) -> None:
        detail = f"answers listeners {names} at {told}, but {self._listener} is at"
        self.monitor.report_violation(self, process, f"{detail} {self._addresses}")

    def _faults(self, process: ProcessView, reported: PartitionData) -> Iterator[str]:
        status = process.status
        if status is None:
            return
        said = (reported.leader_id, reported.leader_epoch)
        if said != (status.leader, status.epoch):
            yield f"answers leader and epoch {said}, but has {status.leader}, {status.epoch}"
        if (reported.error_code == ErrorCode.NONE) != (status.role == LEADER):
            yield f"answers with error {reported.error_code} as {status.role}"
        elif reported.error_code == ErrorCode.NONE:
            stated = _stated(self._evidence.of(process).leadership, status.high_watermark)
            if reported.high_watermark != stated:
                yield f"answers high watermark {reported.high_watermark} instead of {stated}"
            yield from self._replica_faults(reported)
        elif reported.high_watermark > 0 or reported.current_voters or reported.observers:
            yield f"reports replicas without being the leader: {reported}"

    def _replica_faults(self, reported: PartitionData) -> Iterator[str]:
        voters = sorted(one.replica_id for one in reported.current_voters)
        observers = [one.replica_id for one in reported.observers]
        if voters != self._voters or set(observers) & set(voters):
            yield f"answers voters {voters}, observers {observers}; the voters are {self._voters}"


def _stated(leadership: Leadership | None, high_watermark: int) -> int:
    """Return the high watermark to state: unknown until the leader commits in its own epoch."""
    has_committed = leadership is not None and high_watermark > leadership.start_offset
    return high_watermark if has_committed else UNKNOWN


def _reported(message: QuorumResponse) -> Iterator[PartitionData]:
    """Return the entries of the metadata log in an answer."""
    for topic in message.topics:
        for partition in topic.partitions:
            if (topic.topic_name, partition.partition_index) == LOG:
                yield partition
