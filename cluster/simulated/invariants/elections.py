"""Invariants of epochs and leaders (KIP-595 "Vote").

Each class is one property with its statement, judged by effects, messages and disks. See votes.py
for the votes of a single voter.
"""

from typing import ClassVar

from typing_extensions import override

from kraftproof.cluster.simulated.invariants.invariant import (
    LEADER,
    ClusterConfig,
    Invariant,
    ProcessView,
    Requests,
)
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.types import NO_NODE
from kraftproof.node.core.effects import Forward, Send
from kraftproof.node.core.events import Received
from kraftproof.node.core.status import NodeStatus
from kraftproof.node.wire.messages import (
    Message,
    fetch_request,
    fetch_response,
    fetch_snapshot_request,
    fetch_snapshot_response,
    vote_request,
    vote_response,
)

FETCHES = (fetch_request.FetchRequest, fetch_snapshot_request.FetchSnapshotRequest)


class ElectionSafety(Invariant):
    """Raft's Election Safety."""

    statement = "An epoch has at most one leader, and the leader is one incarnation of a node."

    def __init__(self) -> None:
        super().__init__()
        self._leaders: dict[int, tuple[int, int]] = {}

    @override
    def on_role_changed(
        self, process: ProcessView, before: NodeStatus | None, after: NodeStatus
    ) -> None:
        if after.role != LEADER:
            return
        us = (process.node_id, process.incarnation)
        leader = self._leaders.setdefault(after.epoch, us)
        if leader != us:
            self.monitor.report_violation(
                self,
                process,
                f"leads epoch {after.epoch}, as did node {leader[0]}, incarnation {leader[1]}",
            )


class ElectedByAMajority(Invariant):
    """Elections need a majority, by the votes on disks and by the responses to the candidate."""

    statement = "A leader has votes of a majority on disk, and has received their responses."
    requests: ClassVar[Requests] = (vote_request.VoteRequest,)

    def __init__(self, config: ClusterConfig) -> None:
        super().__init__()
        self._config = config
        self._votes: dict[tuple[int, int], list[int]] = {}
        self._heard: dict[tuple[int, int], list[int]] = {}

    @override
    def on_persisted(self, process: ProcessView, state: QuorumState) -> None:
        if state.voted_for == NO_NODE or process.node_id not in self._config.voters:
            return
        voters = self._votes.setdefault((state.epoch, state.voted_for), [])
        if process.node_id not in voters:
            voters.append(process.node_id)

    @override
    def on_response(self, process: ProcessView, request: Send | Forward, answer: Message) -> None:
        """Count a granted vote in the epoch of the response."""
        if not isinstance(answer, vote_response.VoteResponse) or not answer.topics:
            return
        partition = answer.topics[0].partitions[0]
        if partition.vote_granted:
            key = (partition.leader_epoch, process.node_id)
            self._heard.setdefault(key, [process.node_id]).append(request.destination)

    @override
    def on_role_changed(
        self, process: ProcessView, before: NodeStatus | None, after: NodeStatus
    ) -> None:
        if after.role != LEADER or (before is not None and before.role == LEADER):
            return
        key = (after.epoch, process.node_id)
        voters = self._votes.get(key, [])
        reported = sorted(set(self._heard.get(key, [process.node_id])))
        if len(voters) < self._config.majority:
            self.monitor.report_violation(
                self,
                process,
                f"leads epoch {after.epoch}, but only {sorted(voters)} have the vote on disk",
            )
        elif len(reported) < self._config.majority:
            self.monitor.report_violation(
                self,
                process,
                f"leads epoch {after.epoch} after responses with votes of {reported} only",
            )


class EpochsNeverFall(Invariant):
    """The durable epoch of a voter, across restarts."""

    statement = "The epoch of a voter never falls, also across restarts."

    def __init__(self, config: ClusterConfig) -> None:
        super().__init__()
        self._epochs = dict.fromkeys(config.voters, 0)

    @override
    def on_started(self, process: ProcessView, durable: QuorumState) -> None:
        self._see(process, durable.epoch)

    @override
    def on_persisted(self, process: ProcessView, state: QuorumState) -> None:
        self._see(process, state.epoch)

    def _see(self, process: ProcessView, epoch: int) -> None:
        known = self._epochs.get(process.node_id)
        if known is None:
            return  # a broker has no vote, and its disk may have been replaced
        if epoch < known:
            self.monitor.report_violation(self, process, f"the epoch fell from {known} to {epoch}")
        self._epochs[process.node_id] = max(known, epoch)


class CheckQuorum(Invariant):
    """A leader without a majority of followers resigns (check quorum).

    A request for a slice of a snapshot is a contact, as in Kafka.
    """

    statement = (
        "A leader without Fetches or FetchSnapshots from a majority resigns within 1.5 fetch "
        "time-outs."
    )
    requests: ClassVar[Requests] = FETCHES

    def __init__(self, config: ClusterConfig) -> None:
        super().__init__()
        self._config = config
        self._limit_ns = config.timeouts.fetch_ns * 3 // 2
        self._contacts: dict[int, dict[int, int]] = {}
        self._look_at: dict[int, int] = {}
        """Earliest time of the next check, by node; later Fetches only postpone the check."""

    @override
    def on_started(self, process: ProcessView, durable: QuorumState) -> None:
        self._contacts.pop(process.node_id, None)
        self._look_at.pop(process.node_id, None)

    @override
    def on_role_changed(
        self, process: ProcessView, before: NodeStatus | None, after: NodeStatus
    ) -> None:
        if after.role != LEADER:
            self._contacts.pop(process.node_id, None)
            self._look_at.pop(process.node_id, None)
        elif process.node_id not in self._contacts:
            now_ns = process.running_ns()
            others = [voter for voter in self._config.voters if voter != process.node_id]
            self._contacts[process.node_id] = dict.fromkeys(others, now_ns)

    @override
    def on_received(self, process: ProcessView, event: Received) -> None:
        contacts = self._contacts.get(process.node_id)
        request = event.message
        if contacts is None or not isinstance(request, FETCHES):
            return
        replica = request.replica_id
        if isinstance(request, fetch_request.FetchRequest):
            replica = max(replica, request.replica_state.replica_id)
        if replica in contacts:
            contacts[replica] = process.running_ns()

    @override
    def on_leader_step(self, process: ProcessView) -> None:
        contacts = self._contacts.get(process.node_id)
        if not contacts or process.running_ns() <= self._look_at.get(process.node_id, 0):
            return
        # The leader itself counts towards the majority.
        needed = self._config.majority - 1
        newest = sorted(contacts.values(), reverse=True)[needed - 1]
        self._look_at[process.node_id] = newest + self._limit_ns
        silence_ns = process.running_ns() - newest
        if silence_ns > self._limit_ns:
            self._contacts.pop(process.node_id)
            self.monitor.report_violation(
                self, process, f"led for {silence_ns / 1e9:.3f} s without Fetches of a majority"
            )


class FetchesAreFenced(Invariant):
    """A Fetch acknowledges records only in its own epoch (595-47), a slice comes from a leader."""

    statement = (
        "A node serves a Fetch or a FetchSnapshot only if the request's epoch is the node's epoch, "
        "and a FetchSnapshot only as the leader."
    )
    requests: ClassVar[Requests] = (
        fetch_request.FetchRequest,
        fetch_snapshot_request.FetchSnapshotRequest,
    )

    @override
    def on_replying(self, process: ProcessView, event: Received, message: Message) -> None:
        request = event.message
        match request, message:
            case fetch_request.FetchRequest(), fetch_response.FetchResponse(responses=answers):
                pass
            case (
                fetch_snapshot_request.FetchSnapshotRequest(),
                fetch_snapshot_response.FetchSnapshotResponse(topics=answers),
            ):
                pass
            case _:
                return
        is_empty = not (answers and answers[0].partitions)
        if message.error_code or is_empty or not (request.topics and request.topics[0].partitions):
            return
        asked, answered = request.topics[0].partitions[0], answers[0].partitions[0]
        epoch, current = asked.current_leader_epoch, answered.current_leader.leader_epoch
        if answered.error_code or current < 0:
            return
        is_fetch = isinstance(request, fetch_request.FetchRequest)
        leader = answered.current_leader.leader_id
        detail = None
        if current != epoch and (epoch >= 0 or not is_fetch):
            detail = f"serves a {type(request).__name__} of epoch {epoch} in epoch {current}"
        elif not is_fetch and leader != process.node_id:
            detail = f"serves a slice of a snapshot, though node {leader} leads"
        if detail is not None:
            self.monitor.report_violation(self, process, detail)
