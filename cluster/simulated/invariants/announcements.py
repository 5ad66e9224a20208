"""Invariants of BeginQuorumEpoch, EndQuorumEpoch and of requests from old epochs (KIP-595).

See elections.py for the leaders of epochs and for Fetches.
"""

from collections import deque
from typing import ClassVar, Final

from typing_extensions import override

from kraftproof.cluster.simulated.disk.log_mirror import LogMirror
from kraftproof.cluster.simulated.invariants.invariant import (
    LEADER,
    ClusterConfig,
    Events,
    Invariant,
    ProcessView,
    Requests,
)
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.types import NO_NODE
from kraftproof.node.core.effects import Send
from kraftproof.node.core.events import Received, Stop
from kraftproof.node.core.status import NodeStatus
from kraftproof.node.wire.messages import (
    Message,
    begin_quorum_epoch_request,
    begin_quorum_epoch_response,
    end_quorum_epoch_request,
    end_quorum_epoch_response,
    fetch_snapshot_request,
    fetch_snapshot_response,
    vote_request,
    vote_response,
)

REMEMBERED: Final = 32
"""Number of announcements that are recognized on arrival."""


class OlderEpochsAreRefused(Invariant):
    """Requests with an old epoch are fenced (595-18, 595-34, 595-40, 631-34)."""

    statement = "A node refuses each quorum request of an epoch below its own."
    requests: ClassVar[Requests] = (
        begin_quorum_epoch_request.BeginQuorumEpochRequest,
        end_quorum_epoch_request.EndQuorumEpochRequest,
        fetch_snapshot_request.FetchSnapshotRequest,
        vote_request.VoteRequest,
    )

    def __init__(self) -> None:
        super().__init__()
        self._late: dict[tuple[int, int, int], int] = {}

    @override
    def on_received(self, process: ProcessView, event: Received) -> None:
        epoch = _epoch_of(event.message)
        if process.status is not None and 0 <= epoch < process.status.epoch:
            self._late[process.node_id, process.incarnation, event.request] = process.status.epoch

    @override
    def on_replying(self, process: ProcessView, event: Received, message: Message) -> None:
        epoch = self._late.pop((process.node_id, process.incarnation, event.request), None)
        if epoch is not None and not _is_error(message):
            name, late = type(event.message).__name__, _epoch_of(event.message)
            self.monitor.report_violation(
                self, process, f"grants a {name} of epoch {late} in epoch {epoch}"
            )


class PreferredSuccessorIsCaughtUp(Invariant):
    """The preferred successor of a resigning leader can win the election (595-38).

    A majority of voters has acknowledged the records that the leader committed in its epoch, so
    the voter with the longest log holds these records.
    """

    statement = "The log of a leader's preferred successor reaches the leader's high watermark."
    requests: ClassVar[Requests] = (end_quorum_epoch_request.EndQuorumEpochRequest,)

    def __init__(self) -> None:
        super().__init__()
        self._logs: dict[int, LogMirror] = {}

    @override
    def on_started(self, process: ProcessView, durable: QuorumState) -> None:
        self._logs[process.node_id] = process.log

    @override
    def on_sent(self, process: ProcessView, effect: Send) -> None:
        status, message = process.status, effect.message
        assert isinstance(message, end_quorum_epoch_request.EndQuorumEpochRequest)
        partition = message.topics[0].partitions[0]
        named = [one.candidate_id for one in partition.preferred_candidates]
        first, *_ = (*named, *partition.preferred_successors, NO_NODE)
        if status is None or first not in self._logs:
            return
        committed = process.log.ending_at(status.high_watermark)
        if committed is None or committed.epoch != partition.leader_epoch:
            return  # the leader does not know which voters hold records of earlier epochs
        end_offset = self._logs[first].end_offset
        if end_offset < status.high_watermark:
            detail = (
                f"the log of the preferred successor {first} ends at {end_offset}, below the high "
                f"watermark {status.high_watermark}"
            )
            self.monitor.report_violation(self, process, detail)


class EndQuorumEpochOnShutdown(Invariant):
    """A leader that shuts down lets the voters elect a successor at once (595-38)."""

    statement = "A leader that shuts down sends EndQuorumEpoch to every other voter as it resigns."
    requests: ClassVar[Requests] = (end_quorum_epoch_request.EndQuorumEpochRequest,)

    def __init__(self, config: ClusterConfig) -> None:
        super().__init__()
        self._voters = frozenset(config.voters)
        self._reported: dict[tuple[int, int], set[int]] = {}

    @override
    def on_sent(self, process: ProcessView, effect: Send) -> None:
        self._reported.setdefault((process.node_id, process.incarnation), set()).add(
            effect.destination
        )

    @override
    def on_role_changed(
        self, process: ProcessView, before: NodeStatus | None, after: NodeStatus
    ) -> None:
        if before is not None and isinstance(process.event, Stop):
            self._judge(process, before)

    @override
    def on_exited(self, process: ProcessView) -> None:
        if process.status is not None:
            self._judge(process, process.status)

    def _judge(self, process: ProcessView, before: NodeStatus) -> None:
        reported = self._reported.pop((process.node_id, process.incarnation), set())
        untold = sorted(self._voters - reported - {process.node_id})
        if before.role == LEADER and untold:
            self.monitor.report_violation(
                self, process, f"resigns epoch {before.epoch} without EndQuorumEpoch to {untold}"
            )


class QuorumEpochRequestsAccepted(Invariant):
    """Voters follow a leader that begins an epoch, and replace a leader that ends one (595-39)."""

    statement = (
        "A voter accepts BeginQuorumEpoch and EndQuorumEpoch of the leader of its epoch or of a "
        "newer epoch, and the first successor stands for election at once."
    )
    requests: ClassVar[Requests] = (
        begin_quorum_epoch_request.BeginQuorumEpochRequest,
        end_quorum_epoch_request.EndQuorumEpochRequest,
    )
    step_events: ClassVar[Events] = (Stop,)

    def __init__(self) -> None:
        super().__init__()
        self._sent: deque[Message] = deque(maxlen=REMEMBERED)
        """What leaders have really sent, since random requests may look alike."""
        self._due: dict[tuple[int, int, int], int] = {}
        """The epoch of each request that has to be accepted, by node, incarnation and token."""
        self._stopping: dict[int, int] = {}
        """The incarnation of each node that was told to stop."""

    @override
    def on_sent(self, process: ProcessView, effect: Send) -> None:
        self._sent.append(effect.message)

    @override
    def on_received(self, process: ProcessView, event: Received) -> None:
        epoch, status = _epoch_of(event.message), process.status
        if status is not None and epoch >= status.epoch and event.message in self._sent:
            self._due[process.node_id, process.incarnation, event.request] = epoch

    @override
    def on_replied(self, process: ProcessView, event: Received, message: Message) -> None:
        epoch = self._due.pop((process.node_id, process.incarnation, event.request), None)
        if epoch is None or process.status is None:
            return
        name, status = type(event.message).__name__, process.status
        if _is_error(message):
            self.monitor.report_violation(self, process, f"refuses a {name} of epoch {epoch}")
        elif isinstance(event.message, end_quorum_epoch_request.EndQuorumEpochRequest):
            partition = event.message.topics[0].partitions[0]
            named = [one.candidate_id for one in partition.preferred_candidates]
            first, *_ = (*named, *partition.preferred_successors, NO_NODE)
            is_stopping = self._stopping.get(process.node_id) == process.incarnation
            if first == process.node_id and status.epoch <= epoch and not is_stopping:
                detail = f"the first successor of epoch {epoch} is {status.role}"
                self.monitor.report_violation(self, process, detail)

    @override
    def on_step(self, process: ProcessView) -> None:
        self._stopping[process.node_id] = process.incarnation


def _epoch_of(message: Message) -> int:
    """Return the epoch of a request, or -1 if the request has no epoch."""
    match message:
        case vote_request.VoteRequest(topics=(vote_request.TopicData(partitions=(vote, *_)), *_)):
            return vote.replica_epoch
        case (
            begin_quorum_epoch_request.BeginQuorumEpochRequest(
                topics=(begin_quorum_epoch_request.TopicData(partitions=(word, *_)), *_)
            )
            | end_quorum_epoch_request.EndQuorumEpochRequest(
                topics=(end_quorum_epoch_request.TopicData(partitions=(word, *_)), *_)
            )
        ):
            return word.leader_epoch
        case fetch_snapshot_request.FetchSnapshotRequest(
            topics=(fetch_snapshot_request.TopicSnapshot(partitions=(part, *_)), *_)
        ):
            return part.current_leader_epoch
        case _:
            return -1


def _is_error(message: Message) -> bool:
    match message:
        case (
            vote_response.VoteResponse(error_code=code, topics=topics)
            | begin_quorum_epoch_response.BeginQuorumEpochResponse(error_code=code, topics=topics)
            | end_quorum_epoch_response.EndQuorumEpochResponse(error_code=code, topics=topics)
            | fetch_snapshot_response.FetchSnapshotResponse(error_code=code, topics=topics)
        ):
            refused = any(one.error_code for topic in topics for one in topic.partitions)
            return bool(code) or refused
        case _:
            return False
