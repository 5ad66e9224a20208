"""The evidence about each node's part in the quorum: its disk, and its messages.

Evidence comes from effects and messages alone, never from the status of a node. A shared instance
serves the invariants that judge the status and the answers of nodes.
"""

from typing import ClassVar

from msgspec import Struct, field
from typing_extensions import override

from kraftproof.cluster.simulated.disk.log_mirror import LogMirror
from kraftproof.cluster.simulated.invariants.invariant import (
    ClusterConfig,
    Events,
    Invariant,
    ProcessView,
    Requests,
)
from kraftproof.cluster.simulated.invariants.quorum.peer_answers import (
    METADATA_PARTITIONS,
    NAMED_BY_ID,
)
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.snapshot_ids import SnapshotId
from kraftproof.node.core.base.types import NO_NODE
from kraftproof.node.core.effects import Forward, Send
from kraftproof.node.core.events import Flushed, Received
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import Message, fetch_request, fetch_response
from kraftproof.node.wire.records.batch import Batch

MOST_REMEMBERED = 1_000
"""Number of observers after which a leader may forget an observer, and what it has fetched."""
IN_REPLICA_STATE = 15
"""First version of Fetch with the replica id in ReplicaState."""


class Leadership(Struct, kw_only=True):
    """The leadership of an epoch, which the node has won since its start."""

    epoch: int
    start_offset: int
    """The log end at the election, where the first record of the epoch belongs."""
    acknowledged: dict[int, int] = field(default_factory=dict)
    """The offset of the last valid Fetch, by voter or observer."""
    fetched: set[int] = field(default_factory=set)
    """The ids of all replicas that have sent a Fetch of the epoch; asked for their number only."""
    fetched_ms: dict[int, int] = field(default_factory=dict)
    """The wall clock of the leader at the last Fetch of the epoch, by voter or observer."""
    caught_up_ms: dict[int, int] = field(default_factory=dict)
    """The wall clock of the leader at the last Fetch of a replica with the whole log."""
    flushed: int = 0
    """The end of the last flush that the process has heard of."""


class NodeEvidence(Struct, kw_only=True):
    """The evidence about the present process of a node."""

    disk: QuorumState
    leadership: Leadership | None = None
    """None unless the disk names the node as leader, by a write of this process."""
    has_led: bool = False
    """Whether the present step has appended a record of the epoch or served a Fetch."""
    reported_high_watermark: int = 0
    """The largest high watermark of a Fetch response, or end of a loaded snapshot."""
    published: tuple[int, int] = (0, 0)
    """The offset and the digest of the last published image."""
    has_news: bool = True
    """Whether evidence has come since the status was last compared."""


class QuorumEvidence(Invariant):
    """Collects the evidence; reports no violation."""

    statement = "The disk and the messages of a node show its part in the quorum."
    requests: ClassVar[Requests] = (fetch_request.FetchRequest,)
    step_events: ClassVar[Events] = (Flushed,)

    def __init__(self, config: ClusterConfig) -> None:
        super().__init__()
        self._cluster_ids = (None, config.cluster_id)
        self._nodes: dict[int, NodeEvidence] = {}

    def of(self, process: ProcessView) -> NodeEvidence:
        """Return the evidence about a process."""
        return self._nodes[process.node_id]

    @override
    def on_started(self, process: ProcessView, durable: QuorumState) -> None:
        self._nodes[process.node_id] = NodeEvidence(disk=durable)

    @override
    def on_persisted(self, process: ProcessView, state: QuorumState) -> None:
        node = self._nodes.get(process.node_id)
        if node is None:
            return  # found at the start, after a crash amid the write
        node.disk, node.has_news = state, True
        if state.leader != process.node_id:
            node.leadership = None
        elif node.leadership is None or node.leadership.epoch != state.epoch:
            node.leadership = Leadership(epoch=state.epoch, start_offset=process.log.end_offset)

    @override
    def on_appended(self, process: ProcessView, batch: Batch) -> None:
        node = self._nodes[process.node_id]
        node.has_news = True
        if node.leadership is not None and batch.epoch == node.leadership.epoch:
            node.has_led = True

    @override
    def on_truncated(self, process: ProcessView, end_offset: int) -> None:
        self._nodes[process.node_id].has_news = True

    @override
    def on_published(self, process: ProcessView, offset: int, image: MetadataImage) -> None:
        node = self._nodes[process.node_id]
        node.published, node.has_news = (offset, image.digest), True

    @override
    def on_snapshot_loaded(
        self, process: ProcessView, snapshot: SnapshotId, image: MetadataImage
    ) -> None:
        node = self._nodes[process.node_id]
        node.published, node.has_news = (snapshot.end_offset, image.digest), True
        node.reported_high_watermark = max(node.reported_high_watermark, snapshot.end_offset)

    @override
    def on_log_cleaned(self, process: ProcessView) -> None:
        self._nodes[process.node_id].has_news = True

    @override
    def on_step(self, process: ProcessView) -> None:
        node, event = self._nodes[process.node_id], process.event
        assert isinstance(event, Flushed), "no other steps are asked for"
        leadership = node.leadership
        if leadership is None:
            return
        if event.end_offset <= process.log.durable_end:
            leadership.flushed = max(leadership.flushed, event.end_offset)
            node.has_news = True

    @override
    def on_received(self, process: ProcessView, event: Received) -> None:
        """Note a Fetch that acknowledges the records below its offset."""
        node, request = self._nodes[process.node_id], event.message
        leadership = node.leadership
        if leadership is None or not isinstance(request, fetch_request.FetchRequest):
            return
        if request.cluster_id not in self._cluster_ids or len(request.topics) != 1:
            return
        topic = request.topics[0]
        name = topic.topic_id if event.version >= NAMED_BY_ID else topic.topic
        if len(topic.partitions) != 1:
            return
        asked = topic.partitions[0]
        if (name, asked.partition) not in METADATA_PARTITIONS:
            return
        if asked.current_leader_epoch != leadership.epoch:
            return
        has_state = event.version >= IN_REPLICA_STATE
        replica = request.replica_state.replica_id if has_state else request.replica_id
        leadership.fetched.add(replica)
        offset, epoch = asked.fetch_offset, asked.last_fetched_epoch
        if replica == NO_NODE or min(offset, epoch) < 0:
            return
        leadership.fetched_ms[replica] = process.wall_ms()
        if _holds(process.log, offset, epoch):
            leadership.acknowledged[replica] = offset
            node.has_news = True
            if offset == process.log.end_offset:
                leadership.caught_up_ms[replica] = leadership.fetched_ms[replica]

    @override
    def on_replying(self, process: ProcessView, event: Received, message: Message) -> None:
        """Note that a node serves a Fetch, which only the leader of its epoch does."""
        if not isinstance(message, fetch_response.FetchResponse) or message.error_code:
            return
        for topic in message.responses:
            for partition in topic.partitions:
                if partition.error_code == ErrorCode.NONE:
                    node = self._nodes[process.node_id]
                    node.has_led = node.has_news = True

    @override
    def on_response(self, process: ProcessView, request: Send | Forward, answer: Message) -> None:
        if not isinstance(answer, fetch_response.FetchResponse):
            return
        node = self._nodes[process.node_id]
        for topic in answer.responses:
            for partition in topic.partitions:
                reported = partition.high_watermark
                if (
                    partition.error_code == ErrorCode.NONE
                    and reported > node.reported_high_watermark
                ):
                    node.reported_high_watermark = reported


def _holds(log: LogMirror, offset: int, epoch: int) -> bool:
    """Return whether a log agrees with a replica whose log ends at an offset and an epoch."""
    if (offset, epoch) == (log.start.end_offset, log.start.epoch):
        return True
    last = log.ending_at(offset)
    return last is not None and last.epoch == epoch
