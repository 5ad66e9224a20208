"""Invariants of the answers between replicas of the quorum, by the wire alone."""

from collections.abc import Callable, Mapping
from functools import cache
from operator import attrgetter
from typing import Any, ClassVar, Final

from typing_extensions import override

from kraftproof.cluster.simulated.invariants.invariant import Invariant, ProcessView, Requests
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.effects import Send
from kraftproof.node.core.events import Received
from kraftproof.node.core.raft.fetch_rpc import TOPIC_ID
from kraftproof.node.core.raft.rpc import TOPIC
from kraftproof.node.wire.messages import (
    Message,
    begin_quorum_epoch_request,
    begin_quorum_epoch_response,
    describe_quorum_request,
    describe_quorum_response,
    end_quorum_epoch_request,
    end_quorum_epoch_response,
    fetch_request,
    fetch_response,
    fetch_snapshot_request,
    fetch_snapshot_response,
    vote_request,
    vote_response,
)

Getter = Callable[[Any], Any]
BY_NAME: Final = ("topics", "topic_name", "partition_index")
FIELDS: Final[Mapping[type[Message], tuple[str, str, str]]] = {
    begin_quorum_epoch_request.BeginQuorumEpochRequest: BY_NAME,
    begin_quorum_epoch_response.BeginQuorumEpochResponse: BY_NAME,
    describe_quorum_request.DescribeQuorumRequest: BY_NAME,
    describe_quorum_response.DescribeQuorumResponse: BY_NAME,
    end_quorum_epoch_request.EndQuorumEpochRequest: BY_NAME,
    end_quorum_epoch_response.EndQuorumEpochResponse: BY_NAME,
    vote_request.VoteRequest: BY_NAME,
    vote_response.VoteResponse: BY_NAME,
    fetch_request.FetchRequest: ("topics", "topic", "partition"),
    fetch_response.FetchResponse: ("responses", "topic", "partition_index"),
    fetch_snapshot_request.FetchSnapshotRequest: ("topics", "name", "partition"),
    fetch_snapshot_response.FetchSnapshotResponse: ("topics", "name", "index"),
}
"""The fields of a message with its topics, their names and the numbers of their partitions."""
NAMED_BY_ID = 13
"""First version of Fetch that names topics by id."""


METADATA_PARTITIONS: Final = frozenset(((TOPIC, 0), (TOPIC_ID, 0)))


class ResponsesMatchRequests(Invariant):
    """The topics and partitions of an answer are those of its request."""

    statement = "An answer of the quorum names the topics and partitions that the request named."
    requests: ClassVar[Requests] = (
        begin_quorum_epoch_request.BeginQuorumEpochRequest,
        describe_quorum_request.DescribeQuorumRequest,
        end_quorum_epoch_request.EndQuorumEpochRequest,
        fetch_request.FetchRequest,
        fetch_snapshot_request.FetchSnapshotRequest,
        vote_request.VoteRequest,
    )

    @override
    def on_replying(self, process: ProcessView, event: Received, message: Message) -> None:
        asked = _named(event.message, event.version)
        if len(asked) != 1 or asked[0] not in METADATA_PARTITIONS:
            return  # a random request, which no peer sends
        answered = _named(message, event.version)
        is_refused = (
            getattr(message, "error_code", 0) != 0
        )  # an error of the whole request names nothing
        if answered != asked and (answered or not is_refused):
            name = type(event.message).__name__
            detail = f"{name} v{event.version}: asked {asked}, answers {answered}"
            self.monitor.report_violation(self, process, detail)


def _named(message: Message, version: int) -> list[tuple[object, int]]:
    """Return the topics of a message with their partitions."""
    topics_of, topic_name, partition_number = _getters(type(message), version)
    return [
        (topic_name(topic), partition_number(partition))
        for topic in topics_of(message)
        for partition in topic.partitions
    ]


@cache
def _getters(kind: type[Message], version: int) -> tuple[Getter, Getter, Getter]:
    """Return the functions that read a message's topics, their names and partition numbers."""
    topics_of, topic_of, partition_of = FIELDS[kind]
    if topic_of == "topic" and version >= NAMED_BY_ID:
        topic_of = "topic_id"
    return attrgetter(topics_of), attrgetter(topic_of), attrgetter(partition_of)


class FetchersDoNotLead(Invariant):
    """A leader and a candidate send no Fetch in their epoch (595-50)."""

    statement = (
        "A process that sends a Fetch in an epoch neither becomes the leader of the epoch nor "
        "serves its Fetches afterwards."
    )
    requests: ClassVar[Requests] = (fetch_request.FetchRequest,)

    def __init__(self) -> None:
        super().__init__()
        self._fetched: dict[int, int] = {}
        """The newest epoch of a Fetch, by node."""

    @override
    def on_started(self, process: ProcessView, durable: QuorumState) -> None:
        self._fetched.pop(process.node_id, None)

    @override
    def on_sent(self, process: ProcessView, effect: Send) -> None:
        message = effect.message
        if isinstance(message, fetch_request.FetchRequest):
            epoch = message.topics[0].partitions[0].current_leader_epoch
            self._fetched[process.node_id] = epoch

    @override
    def on_persisted(self, process: ProcessView, state: QuorumState) -> None:
        if state.leader == process.node_id:
            self._look(process, state.epoch, "becomes its leader")

    @override
    def on_replying(self, process: ProcessView, event: Received, message: Message) -> None:
        if not isinstance(message, fetch_response.FetchResponse):
            return
        if not message.responses or not message.responses[0].partitions:
            return
        answered = message.responses[0].partitions[0]
        if not message.error_code and not answered.error_code:
            self._look(process, answered.current_leader.leader_epoch, "serves a Fetch")

    def _look(self, process: ProcessView, epoch: int, deed: str) -> None:
        if self._fetched.get(process.node_id) == epoch:
            detail = f"has sent a Fetch in epoch {epoch}, and {deed}"
            self.monitor.report_violation(self, process, detail)
