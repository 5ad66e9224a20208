"""The invariants of requests between replicas, as they are sent: whole, and no more than needed."""

from typing import ClassVar, Final

from typing_extensions import override

from kraftproof.cluster.simulated.invariants.invariant import (
    LEADER,
    ClusterConfig,
    Invariant,
    ProcessView,
    Requests,
)
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.effects import Forward, Send
from kraftproof.node.core.events import Received
from kraftproof.node.core.status import NodeStatus
from kraftproof.node.wire.messages import (
    Message,
    begin_quorum_epoch_request,
    begin_quorum_epoch_response,
    end_quorum_epoch_request,
    fetch_request,
    fetch_response,
    vote_request,
)
from kraftproof.node.wire.types import Uuid

Vote = vote_request.VoteRequest
Begin = begin_quorum_epoch_request.BeginQuorumEpochRequest
End = end_quorum_epoch_request.EndQuorumEpochRequest
Fetch = fetch_request.FetchRequest
LOG: Final = "__cluster_metadata"
LOG_ID: Final = Uuid(bytes(15) + b"\1")


class QuorumRequestsAreWhole(Invariant):
    """Each request is compared with one that is made here from the log and the quorum state."""

    statement = (
        "A request between replicas names the cluster, the metadata log, the sender with its "
        "epoch, and the end of its log; a leader names itself, its listener and its successors."
    )
    requests: ClassVar[Requests] = (Vote, Begin, End, Fetch)

    def __init__(self, config: ClusterConfig) -> None:
        super().__init__()
        self._config = config
        self._addresses = {node: (host, port) for node, host, port in config.voter_addresses}
        self._epochs: dict[int, int] = {}
        """The epoch on the disk of each node."""

    @override
    def on_started(self, process: ProcessView, durable: QuorumState) -> None:
        self._epochs[process.node_id] = durable.epoch

    @override
    def on_persisted(self, process: ProcessView, state: QuorumState) -> None:
        self._epochs[process.node_id] = state.epoch

    @override
    def on_sent(self, process: ProcessView, effect: Send) -> None:
        message, epoch = effect.message, self._epochs[process.node_id]
        node, cluster = process.node_id, self._config.cluster_id
        match message:
            case Fetch():
                expected: Message = _fetch(process, cluster, epoch, message)
            case Vote():
                expected = _vote(process, cluster, effect.destination, epoch)
            case Begin():
                expected = self._begin(node, effect.destination, epoch, message)
            case End():
                expected = self._end(node, epoch, message)
            case _:
                return
        if message != expected:
            self.monitor.report_violation(self, process, f"sends {message}, not {expected}")

    def _begin(self, node: int, voter: int, epoch: int, sent: Begin) -> Begin:
        """Return the BeginQuorumEpoch with the known address of the node as its first listener."""
        module, endpoints = begin_quorum_epoch_request, sent.leader_endpoints
        if node in self._addresses:
            host, port = self._addresses[node]
            name = self._config.controller_listener
            endpoints = (module.LeaderEndpoint(name=name, host=host, port=port), *endpoints[1:])
        partition = module.PartitionData(leader_id=node, leader_epoch=epoch)
        topic = module.TopicData(topic_name=LOG, partitions=(partition,))
        return Begin(
            cluster_id=self._config.cluster_id,
            voter_id=voter,
            topics=(topic,),
            leader_endpoints=endpoints,
        )

    def _end(self, node: int, epoch: int, sent: End) -> End:
        """Return the EndQuorumEpoch with all other voters, in the order of the sent one."""
        others = set(self._config.voters) - {node}
        named = [
            one.candidate_id
            for topic in sent.topics
            for part in topic.partitions
            for one in part.preferred_candidates
        ]
        order = named if sorted(named) == sorted(others) else sorted(others)
        module = end_quorum_epoch_request
        partition = module.PartitionData(
            leader_id=node,
            leader_epoch=epoch,
            preferred_candidates=tuple(module.ReplicaInfo(candidate_id=one) for one in order),
        )
        topic = module.TopicData(topic_name=LOG, partitions=(partition,))
        return End(cluster_id=self._config.cluster_id, topics=(topic,))


def _log_end(process: ProcessView) -> tuple[int, int]:
    log = process.log
    return (log.batches[-1].epoch if log.batches else log.start.epoch, log.end_offset)


def _vote(process: ProcessView, cluster: str, voter: int, epoch: int) -> Vote:
    last_epoch, end = _log_end(process)
    partition = vote_request.PartitionData(
        replica_epoch=epoch,
        replica_id=process.node_id,
        last_offset_epoch=last_epoch,
        last_offset=end,
    )
    topic = vote_request.TopicData(topic_name=LOG, partitions=(partition,))
    return Vote(cluster_id=cluster, voter_id=voter, topics=(topic,))


def _fetch(process: ProcessView, cluster: str, epoch: int, sent: Fetch) -> Fetch:
    """Return the Fetch from the end of the log; the bounds of the answer are free."""
    last_epoch, end = _log_end(process)
    asked = [one for topic in sent.topics for one in topic.partitions]
    partition = fetch_request.FetchPartition(
        current_leader_epoch=epoch,
        fetch_offset=end,
        last_fetched_epoch=last_epoch,
        log_start_offset=process.log.start.end_offset,
        partition_max_bytes=asked[0].partition_max_bytes if asked else 0,
        high_watermark=asked[0].high_watermark if asked else 0,
    )
    topic = fetch_request.FetchTopic(topic_id=LOG_ID, partitions=(partition,))
    return Fetch(
        cluster_id=cluster,
        replica_state=fetch_request.ReplicaState(replica_id=process.node_id),
        max_wait_ms=sent.max_wait_ms,
        max_bytes=sent.max_bytes,
        topics=(topic,),
    )


class EndorsedVotersAreLeftAlone(Invariant):
    """An endorsement is an error-free answer, or a Fetch in the epoch of the leader (595-33)."""

    statement = "A leader sends no BeginQuorumEpoch to a voter that has endorsed it in the epoch."
    requests: ClassVar[Requests] = (Begin, Fetch)

    def __init__(self) -> None:
        super().__init__()
        self._endorsed: dict[int, set[int]] = {}
        """The voters that have endorsed a leader, by leader."""

    @override
    def on_role_changed(
        self, process: ProcessView, before: NodeStatus | None, after: NodeStatus
    ) -> None:
        self._endorsed.pop(process.node_id, None)

    @override
    def on_response(self, process: ProcessView, request: Send | Forward, answer: Message) -> None:
        if isinstance(answer, begin_quorum_epoch_response.BeginQuorumEpochResponse):
            partitions = [one for topic in answer.topics for one in topic.partitions]
            if partitions and not answer.error_code and not partitions[0].error_code:
                self._endorse(process, partitions[0].leader_epoch, request.destination)

    @override
    def on_replied(self, process: ProcessView, event: Received, message: Message) -> None:
        if not isinstance(event.message, Fetch) or not event.on_controller_listener:
            return
        assert isinstance(message, fetch_response.FetchResponse), "the answer of a Fetch"
        partitions = [one for topic in message.responses for one in topic.partitions]
        if partitions and not message.error_code and not partitions[0].error_code:
            replica = max(event.message.replica_state.replica_id, event.message.replica_id)
            self._endorse(process, partitions[0].current_leader.leader_epoch, replica)

    def _endorse(self, process: ProcessView, epoch: int, voter: int) -> None:
        status = process.status
        if status is not None and (status.role, status.epoch) == (LEADER, epoch):
            self._endorsed.setdefault(process.node_id, set()).add(voter)

    @override
    def on_sent(self, process: ProcessView, effect: Send) -> None:
        message, status = effect.message, process.status
        if not isinstance(message, Begin) or status is None or status.role != LEADER:
            return
        if effect.destination in self._endorsed.get(process.node_id, ()):
            detail = f"BeginQuorumEpoch to voter {effect.destination}, which has endorsed it"
            self.monitor.report_violation(self, process, detail)
