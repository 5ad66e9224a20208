"""What must hold of epochs, votes and leaders at every moment (KIP-595 "Vote").

Each class is one property with its sentence, judged by effects, messages and what is on disk. Not:
the log (log_invariants.py).
"""

from typing_extensions import override

from cluster.simulated.witness import LEADER, Observed, Setting, Witness
from node.core.effects import Send
from node.core.events import Received
from node.core.raft.quorum_state import QuorumState
from node.core.status import NodeStatus
from node.core.types import NO_NODE
from node.wire.messages import Message, fetch_request, vote_request, vote_response


class OneLeaderAnEpoch(Witness):
    """Election safety."""

    sentence = "An epoch has at most one leader, and in one life only."

    def __init__(self) -> None:
        super().__init__()
        self._leaders: dict[int, tuple[int, int]] = {}

    @override
    def moved(self, process: Observed, before: NodeStatus | None, after: NodeStatus) -> None:
        if after.role != LEADER:
            return
        us = (process.node_id, process.life)
        leader = self._leaders.setdefault(after.epoch, us)
        if leader != us:
            self.jury.object(
                self,
                process,
                f"epoch {after.epoch} was led by node {leader[0]} in its life {leader[1]}",
            )


class ElectedByAMajority(Witness):
    """What an election is, by the votes on disks."""

    sentence = "A leader was voted for in its epoch by a majority of voters."

    def __init__(self, setting: Setting) -> None:
        super().__init__()
        self._setting = setting
        self._votes: dict[tuple[int, int], list[int]] = {}

    @override
    def persisted(self, process: Observed, state: QuorumState) -> None:
        if state.voted_for == NO_NODE or process.node_id not in self._setting.voters:
            return
        voters = self._votes.setdefault((state.epoch, state.voted_for), [])
        if process.node_id not in voters:
            voters.append(process.node_id)

    @override
    def moved(self, process: Observed, before: NodeStatus | None, after: NodeStatus) -> None:
        if after.role != LEADER or (before is not None and before.role == LEADER):
            return
        voters = self._votes.get((after.epoch, process.node_id), [])
        if len(voters) < self._setting.majority:
            self.jury.object(self, process, f"epoch {after.epoch}: by {sorted(voters)} only")


class EpochsNeverFall(Witness):
    """The durable epoch of a node, across its lives."""

    sentence = "The epoch of a node never falls, not even by a restart."

    def __init__(self) -> None:
        super().__init__()
        self._epochs: dict[int, int] = {}

    @override
    def started(self, process: Observed, durable: QuorumState) -> None:
        self._see(process, durable.epoch)

    @override
    def persisted(self, process: Observed, state: QuorumState) -> None:
        self._see(process, state.epoch)

    def _see(self, process: Observed, epoch: int) -> None:
        known = self._epochs.get(process.node_id, 0)
        if epoch < known:
            self.jury.object(self, process, f"epoch {epoch} after {known}")
        self._epochs[process.node_id] = max(known, epoch)


class OneVoteAnEpoch(Witness):
    """Votes on disk, votes given by answers, and votes after a leader was known."""

    sentence = "A voter votes once in an epoch, durably, and for nobody once it has a leader."

    def __init__(self) -> None:
        super().__init__()
        self._votes: dict[tuple[int, int], int] = {}
        self._leaders: dict[tuple[int, int], int] = {}
        self._durable: dict[int, QuorumState] = {}

    @override
    def started(self, process: Observed, durable: QuorumState) -> None:
        self._durable[process.node_id] = durable

    @override
    def persisted(self, process: Observed, state: QuorumState) -> None:
        self._durable[process.node_id] = state
        key = (process.node_id, state.epoch)
        if state.voted_for != NO_NODE:
            self._vote(process, state.epoch, state.voted_for)
        if state.leader != NO_NODE:
            self._leaders.setdefault(key, state.leader)

    @override
    def replying(self, process: Observed, event: Received, message: Message) -> None:
        request = event.message
        if not isinstance(request, vote_request.VoteRequest):
            return
        assert isinstance(message, vote_response.VoteResponse), "a Vote is answered by one"
        if not message.topics or not message.topics[0].partitions[0].vote_granted:
            return
        asked = request.topics[0].partitions[0]
        self._vote(process, asked.replica_epoch, asked.replica_id)
        self._is_on_disk(process, asked.replica_epoch, asked.replica_id)

    @override
    def sent(self, process: Observed, effect: Send) -> None:
        request = effect.message
        if isinstance(request, vote_request.VoteRequest):
            asked = request.topics[0].partitions[0]
            self._is_on_disk(process, asked.replica_epoch, process.node_id)

    def _is_on_disk(self, process: Observed, epoch: int, candidate: int) -> None:
        durable = self._durable[process.node_id]
        if (durable.epoch, durable.voted_for) != (epoch, candidate):
            detail = f"its vote of epoch {epoch} for {candidate} is told, on disk is {durable}"
            self.jury.object(self, process, detail)

    def _vote(self, process: Observed, epoch: int, candidate: int) -> None:
        key = (process.node_id, epoch)
        known = self._votes.setdefault(key, candidate)
        if known != candidate:
            detail = f"epoch {epoch}: voted for {known} and for {candidate}"
            self.jury.object(self, process, detail)
        leader = self._leaders.get(key, candidate)
        if leader != candidate:
            detail = f"epoch {epoch}: voted for {candidate}, knowing leader {leader}"
            self.jury.object(self, process, detail)


class BoundedResignation(Witness):
    """A leader without followers stops, in time."""

    sentence = "No node leads for 1.5 fetch time-outs without Fetches from a majority."

    def __init__(self, setting: Setting) -> None:
        super().__init__()
        self._setting = setting
        self._limit_ns = setting.timeouts.fetch_ns * 3 // 2
        self._contacts: dict[int, dict[int, int]] = {}

    @override
    def started(self, process: Observed, durable: QuorumState) -> None:
        self._contacts.pop(process.node_id, None)

    @override
    def moved(self, process: Observed, before: NodeStatus | None, after: NodeStatus) -> None:
        if after.role != LEADER:
            self._contacts.pop(process.node_id, None)
        elif process.node_id not in self._contacts:
            now_ns = process.running_ns()
            others = [voter for voter in self._setting.voters if voter != process.node_id]
            self._contacts[process.node_id] = dict.fromkeys(others, now_ns)

    @override
    def received(self, process: Observed, event: Received) -> None:
        contacts = self._contacts.get(process.node_id)
        request = event.message
        if contacts is None or not isinstance(request, fetch_request.FetchRequest):
            return
        replica = request.replica_state.replica_id
        if replica < 0:
            replica = request.replica_id
        if replica in contacts:
            contacts[replica] = process.running_ns()

    @override
    def stepped(self, process: Observed) -> None:
        contacts = self._contacts.get(process.node_id)
        if not contacts:
            return
        # With itself, a majority is there as long as this many others are.
        needed = self._setting.majority - 1
        newest = sorted(contacts.values(), reverse=True)[needed - 1]
        silence_ns = process.running_ns() - newest
        if silence_ns > self._limit_ns:
            self._contacts.pop(process.node_id)
            self.jury.object(self, process, f"no majority for {silence_ns / 1e9:.3f} s")
