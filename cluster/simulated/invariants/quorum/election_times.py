"""The invariant of the times of elections (KIP-595 "Gridlocked Elections", "Fetch response").

The earliest times are true time, which passes during a pause; the latest times are running time of
the process, without pauses and waits for its disk. See elections.py for votes and majorities.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import ClassVar

from msgspec import Struct
from typing_extensions import override

from kraftproof.cluster.simulated.invariants.invariant import (
    ClusterConfig,
    Events,
    Invariant,
    ProcessView,
    Requests,
)
from kraftproof.cluster.simulated.invariants.moments import (
    ROUNDING_NS,
    SLACK_NS,
    Moment,
    held_ns,
    moment,
)
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.effects import Forward, Send
from kraftproof.node.core.events import Answered, Received, SnapshotChecked
from kraftproof.node.core.status import NodeStatus
from kraftproof.node.wire.messages import (
    Message,
    end_quorum_epoch_request,
    fetch_request,
    fetch_response,
    fetch_snapshot_request,
    fetch_snapshot_response,
    vote_request,
    vote_response,
)

END = end_quorum_epoch_request.EndQuorumEpochRequest
FETCHES = (fetch_request.FetchRequest, fetch_snapshot_request.FetchSnapshotRequest)
FOLLOWER, CANDIDATE, VOTED = "follower", "candidate", "voted"
WAITING = frozenset((CANDIDATE, VOTED, "unattached", "resigned"))
"""Roles that end by an election time-out or a back-off at the latest."""


class RoleSince(Struct, kw_only=True):
    """A role of a voter."""

    entered: Moment
    """The end of the step that entered the role."""
    began_ns: int
    """A true time before the step, which may have waited for the disk."""
    served: Moment | None = None
    """The last answer of the leader to the newest Fetch or FetchSnapshot of a follower."""
    heard: Moment | None = None
    """The last answer of any kind to a follower, or the check of its downloaded snapshot."""
    refused: int = 0
    """Number of refused votes of a candidate."""


class ElectionTimeoutsHonoured(Invariant):
    """Neither a follower with a live leader stands for election, nor does anybody wait for ever."""

    statement = (
        "A follower stands for election one fetch time-out after its leader's last answer or an "
        "installed snapshot; an undecided candidate waits one election time-out, and nobody "
        "waits more than two."
    )
    requests: ClassVar[Requests] = (
        END,
        *FETCHES,
        vote_request.VoteRequest,
    )
    step_events: ClassVar[Events] = (Answered, SnapshotChecked)

    def __init__(self, config: ClusterConfig) -> None:
        super().__init__()
        self._voters = frozenset(config.voters)
        self._majority = config.majority
        self._timeouts = config.timeouts
        self._roles: dict[int, RoleSince] = {}
        self._newest: dict[int, int] = {}
        """The correlation of each node's newest Fetch or FetchSnapshot."""
        self._ended: defaultdict[int, set[int]] = defaultdict(set)
        """The epochs that an EndQuorumEpoch has ended; a node may hear of the epoch by it."""
        self._read: dict[int, tuple[int, Moment]] = {}
        """The newest answer of a leader that each node has read, by correlation and time."""

    @override
    def on_started(self, process: ProcessView, durable: QuorumState) -> None:
        self._roles.pop(process.node_id, None)
        self._ended.pop(process.node_id, None)
        self._newest.pop(process.node_id, None)
        self._read.pop(process.node_id, None)

    @override
    def on_sent(self, process: ProcessView, effect: Send) -> None:
        if isinstance(effect.message, FETCHES):
            self._newest[process.node_id] = effect.correlation

    @override
    def on_received(self, process: ProcessView, event: Received) -> None:
        if isinstance(event.message, END):
            self._ended[process.node_id] |= _epochs(event.message)

    @override
    def on_response(self, process: ProcessView, request: Send | Forward, answer: Message) -> None:
        since, status = self._roles.get(process.node_id), process.status
        if since is None or status is None:
            return
        if isinstance(answer, vote_response.VoteResponse):
            partitions = answer.topics[0].partitions if answer.topics else ()
            since.refused += not (partitions and partitions[0].vote_granted)
        elif status.role == FOLLOWER:
            since.heard = moment(process)
            is_newest = request.correlation == self._newest.get(process.node_id)
            if is_newest and _is_served(answer, request.destination, status):
                self._read[process.node_id] = (request.correlation, since.heard)

    @override
    def on_step(self, process: ProcessView) -> None:
        event, since = process.event, self._roles.get(process.node_id)
        if type(event) is Answered and since is not None:
            correlation, at = self._read.get(process.node_id, (None, None))
            if correlation == event.correlation:  # a step may come long after a busy node has read
                since.served = at
        elif type(event) is SnapshotChecked and event.loaded is not None and since is not None:
            since.heard = moment(process)
            self._read.pop(process.node_id, None)  # that Fetch continues the replaced log

    @override
    def on_role_changed(
        self, process: ProcessView, before: NodeStatus | None, after: NodeStatus
    ) -> None:
        if process.node_id not in self._voters:
            return
        since, now = self._roles.get(process.node_id), moment(process)
        held = 0 if since is None else held_ns(now) - held_ns(since.entered)
        began_ns = now.true_ns - held
        self._roles[process.node_id] = RoleSince(entered=now, began_ns=began_ns)
        if since is None or before is None:
            return
        fault = None
        if before.role == FOLLOWER and after.role == CANDIDATE:
            if before.epoch not in self._ended[process.node_id]:
                fault = self._fault_of_follower(since, now)
        elif before.role in WAITING:
            fault = self._fault_of_waiting(since, now, before, after)
        if fault is not None:
            detail = f"{before.role} of epoch {before.epoch} is {after.role}: {fault}"
            self.monitor.report_violation(self, process, detail)

    def _fault_of_follower(self, since: RoleSince, now: Moment) -> str | None:
        fetch_ns = self._timeouts.fetch_ns
        served_ns = since.began_ns if since.served is None else since.served.true_ns
        waited_ns = now.true_ns - served_ns
        if waited_ns < self._shortened(fetch_ns):
            return f"only {waited_ns / 1e6:.0f} ms after an answer of its leader"
        heard = since.heard or since.entered
        longest_ns = fetch_ns + self._timeouts.election_backoff_max_ns // 2
        waited_ns = now.running_ns - heard.running_ns
        if waited_ns > self._stretched(longest_ns):
            return f"{waited_ns / 1e6:.0f} ms after the last answer"
        return None

    def _fault_of_waiting(
        self, since: RoleSince, now: Moment, before: NodeStatus, after: NodeStatus
    ) -> str | None:
        timeouts = self._timeouts
        longest_ns = max(2 * timeouts.election_ns, timeouts.election_backoff_max_ns)
        waited_ns = now.running_ns - since.entered.running_ns
        is_timed_out = CANDIDATE in {after.role, before.role}
        if is_timed_out and waited_ns > self._stretched(longest_ns):
            return f"after {waited_ns / 1e6:.0f} ms"
        is_given_up = before.role == CANDIDATE and after.role == VOTED
        if is_given_up and before.epoch == after.epoch:
            shortest_ns = self._shortened(timeouts.election_ns)
            could_win = len(self._voters) - since.refused >= self._majority
            if could_win and now.true_ns - since.began_ns < shortest_ns:
                return f"given up after {waited_ns / 1e6:.0f} ms, {since.refused} votes refused"
        return None

    def _shortened(self, shortest_ns: int) -> float:
        return shortest_ns * (1 - 2 * self.monitor.rate_error) - ROUNDING_NS

    def _stretched(self, longest_ns: int) -> float:
        return longest_ns * (1 + 2 * self.monitor.rate_error) + SLACK_NS


def _epochs(request: END) -> set[int]:
    return {part.leader_epoch for topic in request.topics for part in topic.partitions}


def _is_served(answer: Message, answering: int, status: NodeStatus) -> bool:
    """Return whether an answer is records or a slice of the leader that the status names."""
    partitions: Sequence[fetch_response.PartitionData | fetch_snapshot_response.PartitionSnapshot]
    if isinstance(answer, fetch_response.FetchResponse):
        partitions = answer.responses[0].partitions if answer.responses else ()
    elif isinstance(answer, fetch_snapshot_response.FetchSnapshotResponse):
        partitions = answer.topics[0].partitions if answer.topics else ()
    else:
        return False
    if answer.error_code or not partitions or partitions[0].error_code:
        return False
    reported = partitions[0].current_leader
    known = (status.leader, status.epoch)
    return (reported.leader_id, reported.leader_epoch) == (answering, status.epoch) == known
