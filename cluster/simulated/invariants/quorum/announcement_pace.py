"""Invariants of the times of BeginQuorumEpoch and EndQuorumEpoch (595-33, 595-39).

Earliest times are true time, latest times running time of the process; see moments.py. See
announcements.py for the contents.
"""

from typing import ClassVar, Final

from msgspec import Struct
from typing_extensions import override

from kraftproof.cluster.simulated.invariants.invariant import (
    LEADER,
    ClusterConfig,
    Invariant,
    ProcessView,
    Requests,
)
from kraftproof.cluster.simulated.invariants.moments import (
    ROUNDING_NS,
    SLACK_NS,
    Moment,
    moment,
)
from kraftproof.node.core.effects import Forward, Send
from kraftproof.node.core.events import Received
from kraftproof.node.core.status import NodeStatus
from kraftproof.node.wire.messages import (
    Message,
    begin_quorum_epoch_request,
    begin_quorum_epoch_response,
    end_quorum_epoch_request,
    fetch_request,
    fetch_snapshot_request,
)

BEGIN: Final = begin_quorum_epoch_request.BeginQuorumEpochRequest
END: Final = end_quorum_epoch_request.EndQuorumEpochRequest
MOST_DOUBLINGS: Final = 16
FOLLOWER, CANDIDATE = "follower", "candidate"


class BeginQuorumEpochIsRepeated(Invariant):
    """A leader repeats BeginQuorumEpoch until the voter endorses or fetches (595-33).

    The Fetches of the other voters give the leader a step, at which the times are compared.
    """

    statement = (
        "A leader repeats BeginQuorumEpoch to a voter that has neither endorsed nor fetched, not "
        "at once, but within the longest back-off after the failure."
    )
    requests: ClassVar[Requests] = (
        BEGIN,
        fetch_request.FetchRequest,
        fetch_snapshot_request.FetchSnapshotRequest,
    )

    def __init__(self, config: ClusterConfig) -> None:
        super().__init__()
        self._timeouts = config.timeouts
        self._asked: dict[int, dict[int, int]] = {}
        """The voter of each BeginQuorumEpoch in flight, by leader and correlation."""
        self._failed: dict[int, dict[int, Moment]] = {}
        """When the newest BeginQuorumEpoch to a voter failed, by leader and voter."""

    @override
    def on_role_changed(
        self, process: ProcessView, before: NodeStatus | None, after: NodeStatus
    ) -> None:
        if before is None or before.role == LEADER:
            self._asked.pop(process.node_id, None)
            self._failed.pop(process.node_id, None)

    @override
    def on_sent(self, process: ProcessView, effect: Send) -> None:
        if type(effect.message) is not BEGIN:
            return
        failed = self._failed.get(process.node_id, {}).pop(effect.destination, None)
        self._asked.setdefault(process.node_id, {})[effect.correlation] = effect.destination
        if failed is None:
            return
        least_ns = self._timeouts.retry_backoff_ns * (1 - 2 * self.monitor.rate_error)
        waited_ns = process.now_ns() - failed.true_ns
        if waited_ns < least_ns - ROUNDING_NS:
            detail = (
                f"asks voter {effect.destination} again {waited_ns / 1e6:.1f} ms after an error"
            )
            self.monitor.report_violation(self, process, detail)

    @override
    def on_response(self, process: ProcessView, request: Send | Forward, answer: Message) -> None:
        if isinstance(answer, begin_quorum_epoch_response.BeginQuorumEpochResponse):
            is_endorsed = answer.topics and not answer.error_code
            if is_endorsed and not answer.topics[0].partitions[0].error_code:
                self._asked.get(process.node_id, {}).pop(request.correlation, None)
                self._failed.get(process.node_id, {}).pop(request.destination, None)
            else:
                self.on_unanswered(process, request.correlation)

    @override
    def on_unanswered(self, process: ProcessView, correlation: int) -> None:
        voter = self._asked.get(process.node_id, {}).pop(correlation, None)
        if voter is not None:
            self._failed.setdefault(process.node_id, {})[voter] = moment(process)

    @override
    def on_received(self, process: ProcessView, event: Received) -> None:
        asked, failed = self._asked.get(process.node_id), self._failed.get(process.node_id)
        if not (asked or failed) or type(event.message) is BEGIN:
            return
        replica_id = _replica_id(event.message)
        for correlation in [one for one, voter in (asked or {}).items() if voter == replica_id]:
            del self._asked[process.node_id][correlation]
        if not failed:
            return
        failed.pop(replica_id, None)
        longest_ns = self._timeouts.retry_backoff_max_ns * (1 + 2 * self.monitor.rate_error)
        for voter, at in failed.items():
            waited_ns = process.running_ns() - at.running_ns
            if waited_ns > longest_ns + SLACK_NS:
                detail = (
                    f"has not asked voter {voter} again {waited_ns / 1e6:.0f} ms after an error"
                )
                self.monitor.report_violation(self, process, detail)
                return


def _replica_id(message: Message) -> int:
    """Return the replica that sends a Fetch or a FetchSnapshot, in any version."""
    if isinstance(message, fetch_request.FetchRequest):
        return max(message.replica_state.replica_id, message.replica_id)
    assert isinstance(message, fetch_snapshot_request.FetchSnapshotRequest)
    return message.replica_id


class Ended(Struct, frozen=True, kw_only=True):
    """An EndQuorumEpoch, and the place of the receiver among the successors, from 0."""

    epoch: int
    at: Moment
    place: int


class SuccessorsElectInOrder(Invariant):
    """The successors of a leader stand for election one after the other (595-39)."""

    statement = (
        "After EndQuorumEpoch, the second successor stands for election after the back-off, each "
        "further successor after twice the time of the successor before."
    )
    requests: ClassVar[Requests] = (END,)

    def __init__(self, config: ClusterConfig) -> None:
        super().__init__()
        self._timeouts = config.timeouts
        self._ended: dict[int, Ended] = {}

    @override
    def on_received(self, process: ProcessView, event: Received) -> None:
        message = event.message
        assert isinstance(message, END)
        status = process.status
        if status is None or not message.topics or not message.topics[0].partitions:
            return
        partition = message.topics[0].partitions[0]
        named = [one.candidate_id for one in partition.preferred_candidates]
        successors = named or list(partition.preferred_successors)
        is_of_leader = (partition.leader_epoch, partition.leader_id) == (
            status.epoch,
            status.leader,
        )
        if is_of_leader and process.node_id in successors:
            self._ended[process.node_id] = Ended(
                epoch=status.epoch,
                at=moment(process),
                place=successors.index(process.node_id),
            )

    @override
    def on_role_changed(
        self, process: ProcessView, before: NodeStatus | None, after: NodeStatus
    ) -> None:
        ended = self._ended.pop(process.node_id, None)
        if ended is None or before is None or after.role != CANDIDATE or not ended.place:
            return
        if before.role != FOLLOWER or before.epoch != ended.epoch:
            return
        doubled_ns = self._timeouts.retry_backoff_ns << min(ended.place - 1, MOST_DOUBLINGS)
        wait_ns = min(doubled_ns, self._timeouts.retry_backoff_max_ns)
        now, error = moment(process), 2 * self.monitor.rate_error
        if now.true_ns - ended.at.true_ns < wait_ns * (1 - error) - ROUNDING_NS:
            self._report(process, ended, now, "too early")
        elif now.running_ns - ended.at.running_ns > wait_ns * (1 + error) + SLACK_NS:
            self._report(process, ended, now, "too late")

    def _report(self, process: ProcessView, ended: Ended, now: Moment, how: str) -> None:
        waited_ms = (now.true_ns - ended.at.true_ns) / 1e6
        detail = (
            f"successor {ended.place + 1} of epoch {ended.epoch} stands after {waited_ms:.1f} ms, "
            f"{how}"
        )
        self.monitor.report_violation(self, process, detail)
