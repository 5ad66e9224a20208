"""Invariants of the copies of a partition: what followers append, and where logs begin."""

from typing import ClassVar, Final

from typing_extensions import override

from kraftproof.cluster.simulated.invariants.invariant import ProcessView, Requests
from kraftproof.cluster.simulated.invariants.partitions.replicas import (
    BROKER,
    NO_CONFIGS,
    TOPIC,
    NewestImage,
    Replicas,
    partition_in,
)
from kraftproof.cluster.simulated.kernel.clock import START_OF_TIME_NS
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import NANOSECONDS_PER_MS
from kraftproof.node.core.effects import Append, Effect
from kraftproof.node.core.events import Received
from kraftproof.node.core.log_effects import RaiseLogStart
from kraftproof.node.core.partition.log_directories import has_disk
from kraftproof.node.wire.messages import (
    Message,
    delete_records_request,
    delete_records_response,
)
from kraftproof.node.wire.records.raw_batch import NO_TIMESTAMP, RawBatch
from kraftproof.node.wire.types import ZERO_UUID

_RETENTION: Final = ("retention.bytes", "retention.ms")
_OF_BROKERS: Final = ("log.retention.bytes", "log.retention.ms")
"""The names of the same settings of brokers, which count for topics without values of their own."""
_WEEK_MS: Final = 604_800_000
"""The default of retention.ms."""
_CLOCK_MS: Final = 600_000
"""Largest error of a clock: a slow disk may delay a removal beyond the end of a clock fault."""


class FollowersCopyTheirLeader(Replicas):
    """A follower appends only batches that the leader of its epoch has."""

    statement = "A follower appends the batch that the leader of its epoch has at the offset."

    @override
    def on_partition_changed(self, process: ProcessView, log: LogId, effect: Effect) -> None:
        if not isinstance(effect, Append) or not isinstance(effect.batch, RawBatch):
            return
        ours = partition_in(process.image, log)
        if ours is None or ours.leader in {process.node_id, -1}:
            return
        leader = self._processes.get(ours.leader)
        theirs = None if leader is None else partition_in(leader.image, log)
        if leader is None or theirs is None or theirs.leader != ours.leader:
            return
        mirror, batch = leader.partitions.get(log), effect.batch
        if theirs.leader_epoch != ours.leader_epoch or mirror is None:
            return
        if batch.base_offset < mirror.start_offset:
            return
        held = next(iter(mirror.between(batch.base_offset, batch.next_offset)), None)
        if held is None or held.data != batch.data:
            detail = f"log {log}: leader {ours.leader} has another batch, or none"
            found = f"{detail}, at offset {batch.base_offset}"
            self.monitor.report_violation(self, process, found)


class LogStartsAreDue(Replicas):
    """Records go by a request or by retention alone, and a follower follows the leader's start."""

    statement = (
        "A leader raises its log start for DeleteRecords, or by retention of cleanup.policy=delete "
        "above retention.bytes or after retention.ms; "
        "a follower's start is at most the leader's; DeleteRecords waits for every live replica "
        "whose log directory works, by the image."
    )
    requests: ClassVar[Requests] = (delete_records_request.DeleteRecordsRequest,)

    def __init__(self, newest: NewestImage | None = None) -> None:
        super().__init__(newest)
        self._starts: dict[LogId, int] = {}
        """By log: the largest start of any leader."""

    @override
    def on_partition_changed(self, process: ProcessView, log: LogId, effect: Effect) -> None:
        if not isinstance(effect, RaiseLogStart):
            return
        partition, start = partition_in(process.image, log), effect.start_offset
        if partition is None:
            return
        if partition.leader != process.node_id:
            if start > self._starts.get(log, 0):
                known = self._starts.get(log, 0)
                detail = f"log {log}: a follower starts at {start}, a leader at {known}"
                self.monitor.report_violation(self, process, detail)
            return
        self._starts[log] = max(start, self._starts.get(log, 0))
        event = process.event
        is_asked = isinstance(event, Received) and isinstance(
            event.message, delete_records_request.DeleteRecordsRequest
        )
        if not is_asked:
            self._judge_retention(process, log)

    def _judge_retention(self, process: ProcessView, log: LogId) -> None:
        """Judge each removed batch: beyond retention.bytes, or older than retention.ms.

        A topic is skipped while brokers have values.
        """
        topic = process.image.topics.get(log.topic_id)
        configs = process.image.configs.get(
            (TOPIC, "" if topic is None else topic.name), NO_CONFIGS
        )
        if any(
            name in of_broker
            for (kind, _), of_broker in process.image.configs.items()
            for name in _OF_BROKERS
            if kind == BROKER
        ):
            return
        limit = int(configs.get(_RETENTION[0]) or -1)
        limit_ms = int(configs.get(_RETENTION[1]) or _WEEK_MS)
        is_kept = "delete" not in configs.get("cleanup.policy", "delete")
        mirror, latest_ms = process.partitions.of(log), process.wall_ms() + _CLOCK_MS
        left = sum(batch.size for batch in mirror.batches)
        for batch in reversed(mirror.dropped):
            is_old = 0 <= limit_ms < latest_ms - _earliest_ms(batch)
            if is_kept or not (is_old or 0 <= limit <= left):
                limits = f"retention.bytes is {limit}, retention.ms {limit_ms}"
                detail = f"log {log}: offset {batch.base_offset} is removed, {left} bytes are left"
                self.monitor.report_violation(self, process, f"{detail}; {limits}")
                return
            left += batch.size

    @override
    def on_data_answered(self, process: ProcessView, event: Received, message: Message) -> None:
        request = event.message
        assert isinstance(request, delete_records_request.DeleteRecordsRequest), "the only type"
        if not isinstance(message, delete_records_response.DeleteRecordsResponse):
            return
        for topic, answered in zip(request.topics, message.topics, strict=True):
            for asked, part in zip(topic.partitions, answered.partitions, strict=True):
                log = self._log_of(topic.name, ZERO_UUID, asked.partition_index)
                if log is not None and not part.error_code:
                    self._judge_deletion(process, log, asked.offset, part.low_watermark)

    def _judge_deletion(self, process: ProcessView, log: LogId, asked: int, low: int) -> None:
        partition = partition_in(process.image, log)
        if partition is None:
            return
        if low < asked:
            detail = f"log {log}: records below {asked} go, the low watermark is {low}"
            self.monitor.report_violation(self, process, detail)
        for replica in partition.replicas:
            broker, mirror = process.image.brokers.get(replica), self._mirror(replica, log)
            if broker is None or broker.fenced or mirror is None or mirror.start_offset >= low:
                continue
            if self._is_offline(replica, mirror) or not has_disk(partition, broker):
                continue  # such a replica learns the start when its directory is back, or is new
            detail = f"log {log}: the low watermark is {low}, replica {replica}"
            self.monitor.report_violation(
                self, process, f"{detail} starts at {mirror.start_offset}"
            )


def _earliest_ms(batch: RawBatch) -> int:
    """Return the newest time of a batch; a batch without times counts from its append."""
    known_ms = batch.max_timestamp_ms
    return START_OF_TIME_NS // NANOSECONDS_PER_MS if known_ms == NO_TIMESTAMP else known_ms
