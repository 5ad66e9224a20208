"""Invariants of the waits of a broker: how long a Fetch or a Produce waits, and what wakes it."""

from typing import ClassVar, Final

from msgspec import Struct
from typing_extensions import override

from kraftproof.cluster.simulated.invariants.invariant import ProcessView, Requests
from kraftproof.cluster.simulated.invariants.partitions.fetched import (
    FollowerFetches,
    follower_of,
)
from kraftproof.cluster.simulated.invariants.partitions.replicas import (
    ACKS_ALL,
    RUNNING,
    NewestImage,
    Replicas,
    partition_in,
)
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.core.effects import Append, Effect
from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    fetch_request,
    fetch_response,
    produce_request,
    produce_response,
)
from kraftproof.node.wire.records.raw_batch import NO_PRODUCER, parse_batch

LONGEST_FETCH_MS: Final = 30_000
LONGEST_PRODUCE_MS: Final = 300_000
"""The largest times that a broker honours."""
ROUNDING_NS: Final = milliseconds(2)
LATE_NS: Final = milliseconds(100)
"""Running time in which a broker answers a Fetch whose records have come."""


class _Fetch(Struct, kw_only=True):
    """A Fetch without an answer."""

    arrived_ns: int
    """True time."""
    offsets: dict[LogId, int]
    is_follower: bool
    due_ns: int | None = None
    """The running time of the process when the answer was due."""
    cause: str = "beside readable records"
    """The state of the partition from then on."""


class WaitingFetchesAreAnswered(Replicas):
    """A Fetch waits as long as it may without news, and no longer than until there is news.

    A lost wake-up costs only time, so no comparison of logs sees one.
    """

    statement = (
        "A broker answers a Fetch when the first byte is readable or the leadership of a partition "
        "has ended, and a Fetch without news only after the wait of the Fetch."
    )
    requests: ClassVar[Requests] = (fetch_request.FetchRequest,)

    def __init__(self, newest: NewestImage | None = None) -> None:
        super().__init__(newest)
        self._open: dict[int, dict[int, _Fetch]] = {}
        """By node, then by the token of a request."""
        self._partitions: dict[int, object] = {}
        """By node: the partitions of the image that the node published last."""

    @override
    def on_started(self, process: ProcessView, durable: QuorumState) -> None:
        self._open.pop(process.node_id, None)

    @override
    def on_published(self, process: ProcessView, offset: int, image: MetadataImage) -> None:
        super().on_published(process, offset, image)
        before = self._partitions.get(process.node_id)
        self._partitions[process.node_id] = image.partitions
        status = process.status
        if before is image.partitions or status is None or status.broker_state != RUNNING:
            return
        for fetch in self._open.get(process.node_id, {}).values():
            for log in fetch.offsets if fetch.due_ns is None else ():
                partition = partition_in(image, log)
                if partition is None or partition.leader != process.node_id:
                    fetch.due_ns = process.running_ns()
                    fetch.cause = "after the end of the leadership"

    @override
    def on_data_received(self, process: ProcessView, event: Received) -> None:
        request = event.message
        assert isinstance(request, fetch_request.FetchRequest), "the only type of its requests"
        asked = self._newest.wishes(process.image, request, event.version)
        is_small = any(part.partition_max_bytes < 1 for _, part in asked)
        if request.min_bytes != 1 or request.max_bytes < 1 or is_small or not asked:
            return
        self._open.setdefault(process.node_id, {})[event.request] = _Fetch(
            arrived_ns=process.now_ns(),
            offsets={log: part.fetch_offset for log, part in asked},
            is_follower=follower_of(request, event.version)[0] >= 0,
        )

    @override
    def on_partition_changed(self, process: ProcessView, log: LogId, effect: Effect) -> None:
        if isinstance(effect, Append):
            end = process.partitions.of(log).end_offset
            self._wake(process, log, end, is_follower=True)

    def _wake(self, process: ProcessView, log: LogId, end: int, *, is_follower: bool) -> None:
        """Note that the records below an offset are readable."""
        for fetch in self._open.get(process.node_id, {}).values():
            if fetch.due_ns is None and fetch.is_follower is is_follower:
                offset = fetch.offsets.get(log)
                if offset is not None and offset < end:
                    fetch.due_ns = process.running_ns()

    @override
    def on_data_answered(self, process: ProcessView, event: Received, message: Message) -> None:
        fetch = self._open.get(process.node_id, {}).pop(event.request, None)
        if not isinstance(message, fetch_response.FetchResponse):
            return
        for topic in message.responses:
            for part in topic.partitions:
                log = self._log_of(topic.topic, topic.topic_id, part.partition_index)
                if log is not None and not part.error_code:
                    self._wake(process, log, part.high_watermark, is_follower=False)
        if fetch is None or message.error_code or not message.responses:
            return  # a throttled answer has no topics
        request = event.message
        assert isinstance(request, fetch_request.FetchRequest), "the only type of its requests"
        if fetch.due_ns is not None and process.running_ns() - fetch.due_ns > LATE_NS:
            waited_ns = process.running_ns() - fetch.due_ns
            detail = f"a Fetch has waited {waited_ns / 1e6:.0f} ms {fetch.cause}"
            self.monitor.report_violation(self, process, detail)
        wait_ns = milliseconds(max(min(request.max_wait_ms, LONGEST_FETCH_MS), 0))
        least_ns = wait_ns * (1 - 2 * self.monitor.rate_error) - ROUNDING_NS
        waited_ns = process.now_ns() - fetch.arrived_ns
        if waited_ns < least_ns and not _has_news(message):
            detail = f"nothing new after {waited_ns / 1e6:.0f} ms"
            found = f"the Fetch may wait {wait_ns / 1e6:.0f} ms"
            self.monitor.report_violation(self, process, f"{detail}, but {found}")


def _has_news(message: fetch_response.FetchResponse) -> bool:
    """Return whether an answer has records, a divergence or an error."""
    return any(
        part.error_code or part.records or part.diverging_epoch.end_offset >= 0
        for topic in message.responses
        for part in topic.partitions
    )


class ProducersLearnOfCommits(Replicas):
    """A Produce times out after its time-out, and not if its records are committed."""

    statement = (
        "REQUEST_TIMED_OUT comes after the time-out of a Produce, and only for a batch above the "
        "high watermark that the leader has shown."
    )
    requests: ClassVar[Requests] = (produce_request.ProduceRequest,)

    def __init__(self, fetches: FollowerFetches, newest: NewestImage | None = None) -> None:
        super().__init__(newest)
        self._fetches = fetches
        self._arrived: dict[int, dict[int, int]] = {}
        """By node, then by the token of a request: the true time of the arrival."""

    @override
    def on_started(self, process: ProcessView, durable: QuorumState) -> None:
        super().on_started(process, durable)
        self._arrived.pop(process.node_id, None)

    @override
    def on_data_received(self, process: ProcessView, event: Received) -> None:
        self._arrived.setdefault(process.node_id, {})[event.request] = process.now_ns()

    @override
    def on_data_answered(self, process: ProcessView, event: Received, message: Message) -> None:
        arrived_ns = self._arrived.get(process.node_id, {}).pop(event.request, None)
        request = event.message
        assert isinstance(request, produce_request.ProduceRequest), "the only type of its requests"
        if arrived_ns is None or not isinstance(message, produce_response.ProduceResponse):
            return
        for log, sent, result in self._results(request, message):
            if result.error_code != ErrorCode.REQUEST_TIMED_OUT:
                continue
            wait_ns = milliseconds(max(min(request.timeout_ms, LONGEST_PRODUCE_MS), 0))
            waited_ns = process.now_ns() - arrived_ns
            if waited_ns < wait_ns * (1 - 2 * self.monitor.rate_error) - ROUNDING_NS:
                detail = f"log {log}: timed out after {waited_ns / 1e6:.0f} ms"
                found = f"the request may wait {wait_ns / 1e6:.0f} ms"
                self.monitor.report_violation(self, process, f"{detail}, but {found}")
            if request.acks == ACKS_ALL:
                self._judge(process, log, sent)

    def _judge(self, process: ProcessView, log: LogId, sent: bytes) -> None:
        """Report a timed-out batch below the shown high watermark."""
        if parse_batch(sent).producer_id == NO_PRODUCER:
            return  # the same bytes may be in the log twice
        mirror, partition = process.partitions.get(log), partition_in(process.image, log)
        if mirror is None or partition is None or partition.leader != process.node_id:
            return
        shown = self._fetches.of(process, log, partition.leader_epoch).shown
        for batch in () if shown is None else mirror.between(mirror.start_offset, shown):
            if batch.epoch == partition.leader_epoch and batch.data[CONTENT:] == sent[CONTENT:]:
                detail = f"log {log}: offset {batch.base_offset} is timed out, high watermark"
                self.monitor.report_violation(self, process, f"{detail} {shown} was shown")


CONTENT: Final = 21
"""The first byte of a batch that a leader does not write."""
