"""Invariants of the pace of the high watermark (KIP-595 "Fetch", steps 4 and 5).

The high watermark is as high as the acknowledgements allow. Only Fetches that a voter has really
sent count as acknowledgements, since random requests of clients look like Fetches of voters.
"""

from collections import deque
from typing import ClassVar

from msgspec import Struct
from typing_extensions import override

from kraftproof.cluster.simulated.invariants.invariant import (
    LEADER,
    ClusterConfig,
    Events,
    Invariant,
    ProcessView,
    Requests,
)
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.snapshot_ids import SnapshotId
from kraftproof.node.core.effects import Forward, Send
from kraftproof.node.core.events import Answered, Received
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.core.status import NodeStatus
from kraftproof.node.wire.messages import Message, fetch_request, fetch_response

REMEMBERED = 16
"""Number of Fetches of a voter that are recognized on arrival; a voter has one in flight."""
Position = tuple[int, int, int]
"""The epoch of a Fetch, its offset, and the epoch of the record before the offset."""


class Acknowledgements(Struct):
    """What the voters have acknowledged to the leader of an epoch."""

    incarnation: int
    epoch: int
    offsets: dict[int, int]
    """The last acknowledged offset, by voter."""


class HighWatermarkReachesMajority(Invariant):
    """A leader commits a record in the step in which a majority has the record on disk."""

    statement = "A leader's high watermark reaches what a majority has acknowledged in its epoch."
    requests: ClassVar[Requests] = (fetch_request.FetchRequest,)

    def __init__(self, config: ClusterConfig) -> None:
        super().__init__()
        self._voters = config.voters
        self._majority = config.majority
        self._sent: dict[int, deque[Position]] = {
            voter: deque(maxlen=REMEMBERED) for voter in config.voters
        }
        self._known: dict[int, Acknowledgements] = {}
        """By leader."""

    @override
    def on_sent(self, process: ProcessView, effect: Send) -> None:
        if process.node_id in self._sent:
            self._sent[process.node_id].append(_position(effect.message))

    @override
    def on_received(self, process: ProcessView, event: Received) -> None:
        status, message = process.status, event.message
        if status is None or status.role != LEADER:
            return
        assert isinstance(message, fetch_request.FetchRequest), "the only type of its requests"
        voter = message.replica_state.replica_id
        if voter not in self._sent or len(message.topics) != 1 or not message.topics[0].partitions:
            return
        position = _position(message)
        epoch, offset, last_epoch = position
        if epoch != status.epoch or position not in self._sent[voter]:
            return
        last = process.log.ending_at(offset)
        if last is not None and last.epoch == last_epoch:
            self._of(process, epoch).offsets[voter] = offset

    def _of(self, process: ProcessView, epoch: int) -> Acknowledgements:
        known = self._known.get(process.node_id)
        if known is None or (known.incarnation, known.epoch) != (process.incarnation, epoch):
            known = Acknowledgements(process.incarnation, epoch, {})
            self._known[process.node_id] = known
        return known

    @override
    def on_leader_step(self, process: ProcessView) -> None:
        status = process.status
        if status is None or status.high_watermark >= status.log_end:
            return
        known = self._known.get(process.node_id)
        acknowledged: list[int] = [status.flushed]
        if known is not None and (known.incarnation, known.epoch) == (
            process.incarnation,
            status.epoch,
        ):
            acknowledged += known.offsets.values()
        if len(acknowledged) < self._majority:
            return
        earned = sorted(acknowledged, reverse=True)[self._majority - 1]
        if earned <= status.high_watermark:
            return
        last = process.log.ending_at(earned)
        if last is not None and last.epoch == status.epoch:
            detail = f"high watermark {status.high_watermark}, a majority has acknowledged {earned}"
            self.monitor.report_violation(self, process, detail)


class FollowersAdoptHighWatermark(Invariant):
    """A replica takes the high watermark of an answered Fetch, as far as its log reaches."""

    statement = "A replica's high watermark reaches what its leader has stated, up to its log end."
    requests: ClassVar[Requests] = (fetch_request.FetchRequest,)
    step_events: ClassVar[Events] = (Answered,)

    def __init__(self) -> None:
        super().__init__()
        self._newest: dict[int, Send] = {}
        """The newest Fetch of each node."""
        self._serving: dict[int, tuple[int, int]] = {}
        """By node: the leader that has answered the node before, and its epoch."""
        self._stated: dict[int, tuple[int, int, int]] = {}
        """By node: the correlation of an arrived answer, its epoch and its high watermark."""

    @override
    def on_started(self, process: ProcessView, durable: QuorumState) -> None:
        self._forget(process)
        self._stated.pop(process.node_id, None)

    @override
    def on_snapshot_loaded(
        self, process: ProcessView, snapshot: SnapshotId, image: MetadataImage
    ) -> None:
        self._forget(process)  # the Fetch in flight continues the replaced log

    @override
    def on_role_changed(
        self, process: ProcessView, before: NodeStatus | None, after: NodeStatus
    ) -> None:
        self._forget(process)  # the Fetch in flight belongs to the old role

    def _forget(self, process: ProcessView) -> None:
        self._newest.pop(process.node_id, None)
        self._serving.pop(process.node_id, None)

    @override
    def on_sent(self, process: ProcessView, effect: Send) -> None:
        self._newest[process.node_id] = effect

    @override
    def on_response(self, process: ProcessView, request: Send | Forward, answer: Message) -> None:
        self._stated.pop(process.node_id, None)
        newest, status = self._newest.get(process.node_id), process.status
        if newest is None or request.correlation != newest.correlation or status is None:
            return
        assert isinstance(answer, fetch_response.FetchResponse), "an answer of its request"
        if answer.error_code or not answer.responses or not answer.responses[0].partitions:
            return
        stated = answer.responses[0].partitions[0]
        epoch, offset, _ = _position(request.message)
        leader = (stated.current_leader.leader_id, stated.current_leader.leader_epoch)
        is_taken = (
            not stated.error_code
            and leader == (request.destination, epoch) == (status.leader, status.epoch)
            and stated.diverging_epoch.epoch < 0
            and stated.snapshot_id.epoch < 0
            and offset == process.log.end_offset
        )
        if not is_taken:
            return
        if self._serving.get(process.node_id) == leader:  # the first answer may only be the news
            of_node = (request.correlation, epoch, stated.high_watermark)
            self._stated[process.node_id] = of_node
        self._serving[process.node_id] = leader

    @override
    def on_step(self, process: ProcessView) -> None:
        event = process.event
        assert isinstance(event, Answered), "no other steps are asked for"
        if process.node_id not in self._stated:
            return
        correlation, epoch, stated = self._stated[process.node_id]
        if event.correlation != correlation:
            return
        del self._stated[process.node_id]
        status = process.status
        if status is None or status.epoch != epoch:
            return
        reached = min(stated, process.log.end_offset)
        if status.high_watermark < reached:
            detail = f"high watermark {status.high_watermark}, its leader states {stated}"
            self.monitor.report_violation(self, process, detail)


def _position(message: Message) -> Position:
    """Return the position of a Fetch that names a partition."""
    assert isinstance(message, fetch_request.FetchRequest), "a Fetch"
    one = message.topics[0].partitions[0]
    return (one.current_leader_epoch, one.fetch_offset, one.last_fetched_epoch)
