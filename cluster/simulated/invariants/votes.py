"""Invariants of a voter's votes, also across restarts (KIP-595 "Vote").

A voter is judged by its disk, as written through the simulator, and by its messages. See
elections.py for the winners of elections.
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
from kraftproof.node.core.effects import Send
from kraftproof.node.core.events import Received
from kraftproof.node.core.status import NodeStatus
from kraftproof.node.wire.messages import Message, vote_request, vote_response


class OfVoters(Invariant):
    """Base class with the quorum state on each voter's disk; brokers are left out."""

    def __init__(self, config: ClusterConfig) -> None:
        super().__init__()
        self._disks: dict[int, QuorumState | None] = dict.fromkeys(config.voters)

    @override
    def on_started(self, process: ProcessView, durable: QuorumState) -> None:
        if process.node_id in self._disks:
            self.begins(process, durable, self._disks[process.node_id])
            self._disks[process.node_id] = durable

    @override
    def on_persisted(self, process: ProcessView, state: QuorumState) -> None:
        if process.node_id in self._disks:
            self._disks[process.node_id] = state

    def disk(self, node_id: int) -> QuorumState | None:
        """Return the quorum state on the disk of a node; None for a node that is no voter."""
        return self._disks.get(node_id)

    def begins(self, process: ProcessView, found: QuorumState, written: QuorumState | None) -> None:
        """Handle the start of a voter, with the quorum state found and the one last written."""


class QuorumStateIsKept(OfVoters):
    """Votes are durable, by the state found at the next start."""

    statement = "A starting voter finds the epoch, vote and leader that it last wrote to its disk."

    @override
    def begins(self, process: ProcessView, found: QuorumState, written: QuorumState | None) -> None:
        if written is not None and found != written:
            self.monitor.report_violation(
                self, process, f"starts with quorum state {found}, but wrote {written}"
            )


class OneVoteAnEpoch(OfVoters):
    """Votes on disk, votes in responses, and votes after a leader is known."""

    statement = (
        "A voter votes once per epoch, durably to the epoch's end, and never after it knows the "
        "epoch's leader."
    )
    requests: ClassVar[Requests] = (vote_request.VoteRequest,)

    def __init__(self, config: ClusterConfig) -> None:
        super().__init__(config)
        self._votes: dict[tuple[int, int], int] = {}
        self._leaders: dict[tuple[int, int], int] = {}

    @override
    def on_persisted(self, process: ProcessView, state: QuorumState) -> None:
        before = self._disks.get(process.node_id)
        super().on_persisted(process, state)
        if before is not None and before.epoch == state.epoch:
            self._keeps_vote(process, before.voted_for, state)
        key = (process.node_id, state.epoch)
        if state.voted_for != NO_NODE:
            self._vote(process, state.epoch, state.voted_for)
        if state.leader != NO_NODE:
            self._leaders.setdefault(key, state.leader)

    @override
    def on_replying(self, process: ProcessView, event: Received, message: Message) -> None:
        asked = _asked(event.message)
        if asked is not None and _is_granted(message):
            self._vote(process, asked.replica_epoch, asked.replica_id)
            self._is_on_disk(process, asked.replica_epoch, asked.replica_id)

    @override
    def on_sent(self, process: ProcessView, effect: Send) -> None:
        asked = _asked(effect.message)
        if asked is not None:
            self._is_on_disk(process, asked.replica_epoch, process.node_id)

    def _keeps_vote(self, process: ProcessView, voted_for: int, state: QuorumState) -> None:
        if voted_for != NO_NODE and state.voted_for == NO_NODE:
            detail = f"epoch {state.epoch}: its disk forgets the vote for {voted_for}"
            self.monitor.report_violation(self, process, detail)

    def _is_on_disk(self, process: ProcessView, epoch: int, candidate: int) -> None:
        disk = self._disks.get(process.node_id)
        if disk is None or (disk.epoch, disk.voted_for) != (epoch, candidate):
            detail = f"sends its vote for {candidate} in epoch {epoch}, but the disk has {disk}"
            self.monitor.report_violation(self, process, detail)

    def _vote(self, process: ProcessView, epoch: int, candidate: int) -> None:
        key = (process.node_id, epoch)
        known = self._votes.setdefault(key, candidate)
        if known != candidate:
            detail = f"epoch {epoch}: voted for {known} and for {candidate}"
            self.monitor.report_violation(self, process, detail)
        leader = self._leaders.get(key, candidate)
        if leader != candidate:
            detail = f"epoch {epoch}: voted for {candidate} after it knew leader {leader}"
            self.monitor.report_violation(self, process, detail)


class VotesAreRefusedForAReason(OfVoters):
    """A vote is granted again if its response was lost (595-22)."""

    statement = (
        "A voter grants each Vote request of a candidate with an up-to-date log, unless it knows a "
        "leader of the epoch or has voted for another candidate."
    )
    requests: ClassVar[Requests] = (vote_request.VoteRequest,)

    @override
    def on_replying(self, process: ProcessView, event: Received, message: Message) -> None:
        asked = _asked(event.message)
        disk = self._disks.get(process.node_id)
        if asked is None or disk is None or not _is_refused(message):
            return
        is_free = disk.leader == NO_NODE and disk.voted_for in {NO_NODE, asked.replica_id}
        last = (asked.last_offset_epoch, asked.last_offset)
        if disk.epoch == asked.replica_epoch and is_free and _log_end(process) <= last:
            detail = f"epoch {disk.epoch}: vote refused to {asked.replica_id}, the disk has {disk}"
            self.monitor.report_violation(self, process, detail)


class RolesFitVotes(OfVoters):
    """The table of roles (595-12), in the process that voted and in later processes."""

    statement = (
        "A voter's role fits its disk: unattached has no vote in the epoch, voted has a vote, "
        "candidate, leader and resigned have a vote for themselves, follower has a leader."
    )

    @override
    def on_role_changed(
        self, process: ProcessView, before: NodeStatus | None, after: NodeStatus
    ) -> None:
        disk = self._disks.get(process.node_id)
        if disk is None:
            return
        remembers = (after.epoch, after.voted_for) == (disk.epoch, disk.voted_for)
        if not remembers or not _allows(disk, after.role, process.node_id):
            detail = f"{after.role}, epoch {after.epoch}, vote {after.voted_for}; disk has {disk}"
            self.monitor.report_violation(self, process, detail)


def _allows(disk: QuorumState, role: str, node_id: int) -> bool:
    match role:
        case "unattached":
            return disk.voted_for == NO_NODE and disk.leader != node_id
        case "voted":
            return disk.voted_for != NO_NODE
        case "follower":
            return disk.leader not in {NO_NODE, node_id}
        case "candidate":
            return disk.voted_for == node_id and disk.leader == NO_NODE
        case _:
            return role in {LEADER, "resigned"} and node_id == disk.leader == disk.voted_for


def _asked(message: Message) -> vote_request.PartitionData | None:
    match message:
        case vote_request.VoteRequest(topics=(vote_request.TopicData(partitions=(asked, *_)), *_)):
            return asked
        case _:
            return None


def _is_granted(message: Message) -> bool:
    assert isinstance(message, vote_response.VoteResponse), "a Vote is answered by one"
    return any(partition.vote_granted for topic in message.topics for partition in topic.partitions)


def _is_refused(message: Message) -> bool:
    """Return whether a response without error refuses the vote."""
    assert isinstance(message, vote_response.VoteResponse), "a Vote is answered by one"
    if message.error_code or not message.topics or not message.topics[0].partitions:
        return False
    partition = message.topics[0].partitions[0]
    return not partition.error_code and not partition.vote_granted


def _log_end(process: ProcessView) -> tuple[int, int]:
    log = process.log
    return (log.batches[-1].epoch if log.batches else log.start.epoch, log.end_offset)
