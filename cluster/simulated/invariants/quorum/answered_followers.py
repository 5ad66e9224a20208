"""The invariant that a follower whose leader answers calls no election (KIP-595, 595-51)."""

from typing import ClassVar

from typing_extensions import override

from kraftproof.cluster.simulated.invariants.invariant import (
    ClusterConfig,
    Invariant,
    ProcessView,
    Requests,
)
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.effects import Forward, Send
from kraftproof.node.core.events import Answered, Received
from kraftproof.node.core.status import NodeStatus
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    end_quorum_epoch_request,
    fetch_request,
    fetch_response,
    fetch_snapshot_request,
    fetch_snapshot_response,
)


class AnsweredFollowersDoNotStand(Invariant):
    """Each successful answer of the leader renews the fetch time-out (595-51).

    The time-out counts from the request, which the answer can only follow.
    """

    statement = (
        "A follower calls no election within a fetch time-out after a request that its leader has "
        "answered, by a Fetch or by a slice of a snapshot, unless the leader has ended its epoch."
    )
    requests: ClassVar[Requests] = (
        fetch_request.FetchRequest,
        fetch_snapshot_request.FetchSnapshotRequest,
        end_quorum_epoch_request.EndQuorumEpochRequest,
    )

    def __init__(self, config: ClusterConfig) -> None:
        super().__init__()
        self._voters = frozenset(config.voters)
        self._fetch_ns = config.timeouts.fetch_ns
        self._sent: dict[int, dict[int, int]] = {}
        """The time of each open request by node, then correlation."""
        self._answered: dict[int, dict[int, tuple[int, int]]] = {}
        """The epoch and the time of requests whose answers wait, by node, then correlation."""
        self._heard: dict[int, tuple[int, int]] = {}
        """The epoch and the time of the last request that the leader has answered, by node."""

    @override
    def on_started(self, process: ProcessView, durable: QuorumState) -> None:
        for by_node in (self._sent, self._answered, self._heard):
            by_node.pop(process.node_id, None)

    @override
    def on_sent(self, process: ProcessView, effect: Send) -> None:
        if process.node_id in self._voters:
            sent = self._sent.setdefault(process.node_id, {})
            sent[effect.correlation] = process.now_ns()

    @override
    def on_response(self, process: ProcessView, request: Send | Forward, answer: Message) -> None:
        sent_ns = self._sent.get(process.node_id, {}).pop(request.correlation, None)
        epoch = _serving_epoch(request.destination, answer)
        if sent_ns is not None and epoch is not None:
            answered = self._answered.setdefault(process.node_id, {})
            answered[request.correlation] = (epoch, sent_ns)

    @override
    def on_received(self, process: ProcessView, event: Received) -> None:
        if isinstance(event.message, end_quorum_epoch_request.EndQuorumEpochRequest):
            self._heard.pop(process.node_id, None)

    @override
    def on_step(self, process: ProcessView) -> None:
        event = process.event
        if type(event) is Answered and process.node_id in self._answered:
            heard = self._answered[process.node_id].pop(event.correlation, None)
            if heard is not None:
                self._heard[process.node_id] = heard

    @override
    def on_role_changed(
        self, process: ProcessView, before: NodeStatus | None, after: NodeStatus
    ) -> None:
        if before is None or before.role != "follower" or after.role != "candidate":
            return
        epoch, sent_ns = self._heard.get(process.node_id, (-1, 0))
        silence_ns = process.now_ns() - sent_ns
        if epoch == before.epoch and silence_ns < self._fetch_ns * (1 - self.monitor.rate_error):
            detail = f"stands in epoch {after.epoch} {silence_ns / 1e9:.3f} s after a request"
            self.monitor.report_violation(self, process, f"{detail} that its leader has answered")


def _serving_epoch(sender: int, answer: Message) -> int | None:
    """Return the epoch of an answer if its sender serves as the leader, otherwise None."""
    match answer:
        case (
            fetch_response.FetchResponse(error_code=ErrorCode.NONE, responses=topics)
            | fetch_snapshot_response.FetchSnapshotResponse(
                error_code=ErrorCode.NONE, topics=topics
            )
        ):
            for topic in topics:
                for partition in topic.partitions:
                    leader = partition.current_leader
                    if partition.error_code == ErrorCode.NONE and leader.leader_id == sender:
                        return int(leader.leader_epoch)
        case _:
            pass
    return None
