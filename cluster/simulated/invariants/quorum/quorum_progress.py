"""The progress of replicas, by the Fetches that a leader has received and answered.

A leadership begins when a voter's disk names the voter itself as leader. The Fetches on the wire
then say what each replica has acknowledged, and the disk says what the leader has flushed. See
quorum_answers.py for the answers that are compared with this progress.
"""

from collections.abc import Sequence
from typing import Any, ClassVar

from msgspec import Struct, field
from typing_extensions import override

from kraftproof.cluster.simulated.invariants.invariant import ClusterConfig, ProcessView, Requests
from kraftproof.cluster.simulated.invariants.votes import OfVoters
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.events import Received
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    fetch_request,
    fetch_response,
    fetch_snapshot_request,
    fetch_snapshot_response,
)
from kraftproof.node.wire.messages.batch import Batch

UNKNOWN = -1
FENCED = frozenset(
    {
        ErrorCode.FENCED_LEADER_EPOCH,
        ErrorCode.UNKNOWN_LEADER_EPOCH,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
    }
)


class Replica(Struct, kw_only=True):
    """The progress of one replica; -1 until known."""

    acknowledged: int = UNKNOWN
    fetched_ms: int = UNKNOWN
    """The leader's wall clock at the last Fetch in the epoch."""
    caught_up_ms: int = UNKNOWN
    """The leader's wall clock at the last Fetch at the end of the log."""


class Leadership(Struct, kw_only=True):
    """One incarnation's leadership of an epoch."""

    epoch: int
    incarnation: int
    start_offset: int | None = None
    """The offset of the first record of the epoch."""
    replicas: dict[int, Replica] = field(default_factory=dict)
    told: int = UNKNOWN
    """The largest high watermark in an answer."""


class Asking(Struct, kw_only=True):
    """A request of a replica in the current step; an answer in the step may refuse it."""

    request: int
    replica: int
    now_ms: int
    offset: int | None = None
    """The acknowledged offset; None if the request acknowledges nothing."""
    is_caught_up: bool = False


class HighWatermarkIsEarned(OfVoters):
    """A leader's high watermark follows from the Fetches that the leader has received."""

    statement = (
        "A leader answers with a high watermark that a majority of flushed ends reaches, by its "
        "disk and the Fetches received in its epoch, and never with a lower one than before."
    )
    requests: ClassVar[Requests] = (
        fetch_request.FetchRequest,
        fetch_snapshot_request.FetchSnapshotRequest,
    )

    def __init__(self, config: ClusterConfig) -> None:
        super().__init__(config)
        self._config = config
        self._led: dict[int, Leadership] = {}
        self._asking: dict[int, Asking] = {}

    def leadership(self, process: ProcessView) -> Leadership | None:
        """Return the present leadership of a process; None if its disk names no leadership."""
        return self._led.get(process.node_id)

    @override
    def on_started(self, process: ProcessView, durable: QuorumState) -> None:
        super().on_started(process, durable)
        self._led.pop(process.node_id, None)
        self._asking.pop(process.node_id, None)

    @override
    def on_persisted(self, process: ProcessView, state: QuorumState) -> None:
        super().on_persisted(process, state)
        led = self._led.get(process.node_id)
        if led is not None and led.epoch == state.epoch:
            return
        self._led.pop(process.node_id, None)
        if state.leader == process.node_id:
            self._led[process.node_id] = Leadership(
                epoch=state.epoch, incarnation=process.incarnation
            )

    @override
    def on_appended(self, process: ProcessView, batch: Batch) -> None:
        led = self._led.get(process.node_id)
        if led is not None and led.start_offset is None and batch.epoch == led.epoch:
            led.start_offset = batch.base_offset

    @override
    def on_received(self, process: ProcessView, event: Received) -> None:
        led = self._led.get(process.node_id)
        if led is None:
            return
        match event.message:
            case fetch_request.FetchRequest() as request if _has_partition(request.topics):
                replica = request.replica_state.replica_id
                replica = replica if replica >= 0 else request.replica_id
                partition = request.topics[0].partitions[0]
                epoch = partition.current_leader_epoch
                offset: int | None = partition.fetch_offset
            case fetch_snapshot_request.FetchSnapshotRequest() as copied if _has_partition(
                copied.topics
            ):
                replica, offset = copied.replica_id, None
                epoch = copied.topics[0].partitions[0].current_leader_epoch
            case _:
                return
        if epoch == led.epoch and replica >= 0:
            self._asking[process.node_id] = Asking(
                request=event.request,
                replica=replica,
                now_ms=process.wall_ms(),
                offset=offset,
                is_caught_up=offset is not None and offset >= process.log.end_offset,
            )

    @override
    def on_replying(self, process: ProcessView, event: Received, message: Message) -> None:
        asking = self._asking.get(process.node_id)
        if asking is not None and asking.request == event.request:
            if _refuses(message):
                del self._asking[process.node_id]
            elif _redirects(message):
                asking.offset = None
        if not isinstance(message, fetch_response.FetchResponse) or _refuses(message):
            return
        led = self._led.get(process.node_id)
        if led is not None and led.incarnation == process.incarnation:
            told = message.responses[0].partitions[0].high_watermark
            fault = self.fault(process, led, told)
            if fault is not None:
                self.monitor.report_violation(self, process, fault)

    @override
    def on_step(self, process: ProcessView) -> None:
        if not self._asking:
            return
        asking = self._asking.pop(process.node_id, None)
        led = self._led.get(process.node_id)
        if asking is None or led is None:
            return
        replica = led.replicas.setdefault(asking.replica, Replica())
        replica.fetched_ms = asking.now_ms
        if asking.offset is not None:
            replica.acknowledged = asking.offset
            if asking.is_caught_up:
                replica.caught_up_ms = asking.now_ms

    def fault(self, process: ProcessView, led: Leadership, told: int) -> str | None:
        """Describe the difference of an answered high watermark from the Fetches; None if none."""
        ends = {
            voter: led.replicas[voter].acknowledged
            for voter in self._config.voters
            if voter in led.replicas
        }
        # The leader acts on its flush only after a Flushed event, which its status shows.
        flushed = UNKNOWN if process.status is None else process.status.flushed
        lowest = self._reached(ends, own=flushed, node_id=process.node_id)
        asking = self._asking.get(process.node_id)
        if asking is not None and asking.offset is not None and asking.replica in self._disks:
            ends[asking.replica] = asking.offset
        highest = self._reached(ends, own=process.log.durable_end, node_id=process.node_id)
        start = process.log.end_offset if led.start_offset is None else led.start_offset
        if told == UNKNOWN and led.told == UNKNOWN and lowest <= start:
            return None
        lowest = max(led.told, lowest if lowest > start else start + 1)
        if lowest <= told <= highest:
            led.told = told
            return None
        return (
            f"answers high watermark {told}; by its disk and the Fetches of epoch {led.epoch} it "
            f"is at least {lowest} and at most {highest}"
        )

    def _reached(self, ends: dict[int, int], *, own: int, node_id: int) -> int:
        """Return the offset that a majority of the voters' ends reaches."""
        known = [own if voter == node_id else ends.get(voter, -1) for voter in self._config.voters]
        return sorted(known, reverse=True)[self._config.majority - 1]


def _has_partition(topics: Sequence[Any]) -> bool:
    """Return whether a request or an answer has a partition; random requests may have none."""
    return bool(topics) and bool(topics[0].partitions)


def _refuses(message: Message) -> bool:
    """Return whether an answer refuses the epoch, the leadership or the whole request."""
    match message:
        case fetch_response.FetchResponse():
            topics = message.responses
            if message.error_code or not _has_partition(topics):
                return True
            return topics[0].partitions[0].error_code != 0
        case fetch_snapshot_response.FetchSnapshotResponse():
            if message.error_code or not _has_partition(message.topics):
                return True
            return message.topics[0].partitions[0].error_code in FENCED
        case _:
            return True


def _redirects(message: Message) -> bool:
    """Return whether an answer to a Fetch names a diverging epoch or a snapshot."""
    if not isinstance(message, fetch_response.FetchResponse):
        return False
    partition = message.responses[0].partitions[0]
    return partition.diverging_epoch.end_offset >= 0 or partition.snapshot_id.end_offset >= 0
