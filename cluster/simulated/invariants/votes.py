"""What must hold of a voter's votes at every moment, and across its restarts (KIP-595 "Vote").

A voter is judged by its disk as the simulator has seen it written, and by what it tells others.
Not: who wins by those votes (election_invariants.py).
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
    """The quorum state on each voter's disk; those that vote not are left out."""

    def __init__(self, config: ClusterConfig) -> None:
        super().__init__()
        self._disks: dict[int, QuorumState | None] = dict.fromkeys(config.voters)

    @override
    def started(self, process: ProcessView, durable: QuorumState) -> None:
        if process.node_id in self._disks:
            self.begins(process, durable, self._disks[process.node_id])
            self._disks[process.node_id] = durable

    @override
    def persisted(self, process: ProcessView, state: QuorumState) -> None:
        if process.node_id in self._disks:
            self._disks[process.node_id] = state

    def begins(self, process: ProcessView, found: QuorumState, written: QuorumState | None) -> None:
        """A voter starts with what it has found; this was last written, if anything."""


class QuorumStateIsKept(OfVoters):
    """Durability of votes, by the next start."""

    sentence = "A voter finds the epoch, vote and leader on its disk that it has written there."

    @override
    def begins(self, process: ProcessView, found: QuorumState, written: QuorumState | None) -> None:
        if written is not None and found != written:
            self.monitor.report_violation(
                self, process, f"starts with quorum state {found}, had written {written}"
            )


class OneVoteAnEpoch(OfVoters):
    """Votes on disk, votes given by answers, and votes after a leader was known."""

    sentence = "A voter votes once in an epoch, durably, and for nobody once it has a leader."
    requests: ClassVar[Requests] = (vote_request.VoteRequest,)

    def __init__(self, config: ClusterConfig) -> None:
        super().__init__(config)
        self._votes: dict[tuple[int, int], int] = {}
        self._leaders: dict[tuple[int, int], int] = {}

    @override
    def persisted(self, process: ProcessView, state: QuorumState) -> None:
        super().persisted(process, state)
        key = (process.node_id, state.epoch)
        if state.voted_for != NO_NODE:
            self._vote(process, state.epoch, state.voted_for)
        if state.leader != NO_NODE:
            self._leaders.setdefault(key, state.leader)

    @override
    def replying(self, process: ProcessView, event: Received, message: Message) -> None:
        asked = _asked(event.message)
        if asked is not None and _is_granted(message):
            self._vote(process, asked.replica_epoch, asked.replica_id)
            self._is_on_disk(process, asked.replica_epoch, asked.replica_id)

    @override
    def sent(self, process: ProcessView, effect: Send) -> None:
        asked = _asked(effect.message)
        if asked is not None:
            self._is_on_disk(process, asked.replica_epoch, process.node_id)

    def _is_on_disk(self, process: ProcessView, epoch: int, candidate: int) -> None:
        disk = self._disks.get(process.node_id)
        if disk is None or (disk.epoch, disk.voted_for) != (epoch, candidate):
            detail = f"its vote of epoch {epoch} for {candidate} is told, on disk is {disk}"
            self.monitor.report_violation(self, process, detail)

    def _vote(self, process: ProcessView, epoch: int, candidate: int) -> None:
        key = (process.node_id, epoch)
        known = self._votes.setdefault(key, candidate)
        if known != candidate:
            detail = f"epoch {epoch}: voted for {known} and for {candidate}"
            self.monitor.report_violation(self, process, detail)
        leader = self._leaders.get(key, candidate)
        if leader != candidate:
            detail = f"epoch {epoch}: voted for {candidate}, knowing leader {leader}"
            self.monitor.report_violation(self, process, detail)


class VotesAreRefusedForAReason(OfVoters):
    """An answer that was lost is asked for again, and has to be the same (595-22)."""

    sentence = (
        "A voter that has no leader in the epoch, has voted for nobody else, and whose log holds "
        "no more than the candidate's, gives its vote, as often as it is asked."
    )
    requests: ClassVar[Requests] = (vote_request.VoteRequest,)

    @override
    def replying(self, process: ProcessView, event: Received, message: Message) -> None:
        asked = _asked(event.message)
        disk = self._disks.get(process.node_id)
        if asked is None or disk is None or not _is_refused(message):
            return
        is_free = disk.leader == NO_NODE and disk.voted_for in {NO_NODE, asked.replica_id}
        last = (asked.last_offset_epoch, asked.last_offset)
        if disk.epoch == asked.replica_epoch and is_free and _log_end(process) <= last:
            detail = f"epoch {disk.epoch}: refused to {asked.replica_id}, on disk is {disk}"
            self.monitor.report_violation(self, process, detail)


class RolesFitVotes(OfVoters):
    """The table of roles (595-12), in the incarnation that gave a vote and in those after it."""

    sentence = (
        "A voter's role is one that its disk allows: unattached without a vote in the epoch, voted "
        "with one, candidate, leader and resigned with its own, follower of a leader it knows."
    )

    @override
    def turned(self, process: ProcessView, before: NodeStatus | None, after: NodeStatus) -> None:
        disk = self._disks.get(process.node_id)
        if disk is None:
            return
        remembers = (after.epoch, after.voted_for) == (disk.epoch, disk.voted_for)
        if not remembers or not _allows(disk, after.role, process.node_id):
            detail = f"{after.role}, epoch {after.epoch}, vote {after.voted_for}; on disk is {disk}"
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
    if not isinstance(message, vote_request.VoteRequest) or not message.topics:
        return None
    return message.topics[0].partitions[0]


def _is_granted(message: Message) -> bool:
    assert isinstance(message, vote_response.VoteResponse), "a Vote is answered by one"
    return bool(message.topics) and message.topics[0].partitions[0].vote_granted


def _is_refused(message: Message) -> bool:
    """Whether the vote is denied, by one that has found no error in the request."""
    assert isinstance(message, vote_response.VoteResponse), "a Vote is answered by one"
    if message.error_code or not message.topics:
        return False
    partition = message.topics[0].partitions[0]
    return not partition.error_code and not partition.vote_granted


def _log_end(process: ProcessView) -> tuple[int, int]:
    log = process.log
    return (log.batches[-1].epoch if log.batches else log.start.epoch, log.end_offset)
