"""The invariant of the high watermark from the leader's side: the Fetches of the whole ISR."""

from collections.abc import Sequence
from typing import ClassVar, Final

from msgspec import Struct
from typing_extensions import override

from kraftproof.cluster.simulated.disk.partition_mirrors import LostPartition, PartitionMirror
from kraftproof.cluster.simulated.invariants.invariant import ProcessView, Requests
from kraftproof.cluster.simulated.invariants.partitions.fetched import FollowerFetches
from kraftproof.cluster.simulated.invariants.partitions.replicas import (
    NO_CONFIGS,
    TOPIC,
    NewestImage,
    Replicas,
    partition_in,
)
from kraftproof.cluster.simulated.invariants.partitions.shown import ShownEnds
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.base.types import NodeId, milliseconds
from kraftproof.node.core.events import Received
from kraftproof.node.wire.messages import (
    Message,
    alter_partition_request,
    fetch_request,
    fetch_response,
    list_offsets_request,
    produce_request,
    produce_response,
)

LATE_NS: Final = milliseconds(300)
"""Running time in which a leader counts what its replicas have reached."""
IN_REACH_NS: Final = milliseconds(15_000)
"""True time after its last Fetch in which a follower may count, caught up or proposed."""
MIN_ISR: Final = "min.insync.replicas"


class HighWatermarkIsFetched(ShownEnds):
    """A leader counts the Fetches of every member of the ISR, and no wish of its own (KIP-497).

    The other invariants compare the logs of the members; this one sees a leader that counts too
    early, before the member loses a record.
    """

    statement = (
        "A high watermark that a leader shows lies within its log; each other member of the ISR "
        "has fetched from there or above in this leader epoch, or a leader has shown it before."
    )
    requests: ClassVar[Requests] = (
        fetch_request.FetchRequest,
        produce_request.ProduceRequest,
        list_offsets_request.ListOffsetsRequest,
        alter_partition_request.AlterPartitionRequest,
    )

    def __init__(self, fetches: FollowerFetches, newest: NewestImage | None = None) -> None:
        super().__init__(newest)
        self._fetches = fetches
        self._shown: dict[LogId, int] = {}
        """By log: the largest high watermark that any leader has shown."""
        self._has_led: set[tuple[int, LogId]] = set()
        """Nodes and logs with an unknown high watermark at the begin of a leadership."""

    @override
    def on_partitions_recovered(self, process: ProcessView, lost: Sequence[LostPartition]) -> None:
        self._has_led.update((process.node_id, log) for log in process.partitions)

    @override
    def on_data_answered(self, process: ProcessView, event: Received, message: Message) -> None:
        is_write = isinstance(message, produce_response.ProduceResponse)
        for log, high_watermark in self._shown_by(event, message):
            mirror = process.partitions.get(log)
            # A batch that comes again may be below the log start by now.
            start = 0 if mirror is None or is_write else mirror.start_offset
            if mirror is not None and not start <= high_watermark <= mirror.end_offset:
                detail = f"log {log}: high watermark {high_watermark}, and the log has the offsets "
                found = f"{mirror.start_offset} to {mirror.end_offset}"
                self.monitor.report_violation(self, process, detail + found)
            if mirror is not None:
                self._judge(process, log, mirror, high_watermark)

    def _judge(
        self, process: ProcessView, log: LogId, mirror: PartitionMirror, high_watermark: int
    ) -> None:
        partition = partition_in(process.image, log)
        if partition is None or partition.leader != process.node_id:
            return
        leadership = self._fetches.of(process, log, partition.leader_epoch)
        place = (process.node_id, log)
        is_known = leadership.shown is not None or place not in self._has_led
        if is_known and high_watermark > max(self._shown.get(log, 0), mirror.start_offset):
            member, offset = self._last_member(process, log, leadership.offsets)
            if member is not None and offset < high_watermark:
                detail = f"log {log}: high watermark {high_watermark}, member {member} of the ISR"
                found = f"has fetched from offset {offset}" if offset >= 0 else "has not fetched"
                self.monitor.report_violation(self, process, f"{detail} {found}")
        leadership.shown = max(high_watermark, leadership.shown or 0)
        self._has_led.add(place)
        self._shown[log] = max(high_watermark, self._shown.get(log, 0))

    def _last_member(
        self, process: ProcessView, log: LogId, offsets: dict[int, int]
    ) -> tuple[int | None, int]:
        """Return the member with the smallest Fetch, of the smaller of the ISRs that may count."""
        partition = partition_in(process.image, log)
        assert partition is not None, "judged before"
        found: list[tuple[int, int | None]] = []
        for isr in self._fetches.known_isrs(process, log, partition):
            others = [(offsets.get(each, -1), each) for each in isr if each != process.node_id]
            if not others:
                return None, -1
            found.append(min(others))
        offset, member = max(found)
        return member, offset


class _Reached(Struct, kw_only=True):
    """The offset that every counting replica has reached in a leader epoch, and since when."""

    epoch: int
    offset: int
    since_ns: int
    """The running time of the process."""


class HighWatermarkFollowsFetches(Replicas):
    """A high watermark that stands still makes producers wait, and no log shows why."""

    statement = (
        "A leader with a large enough ISR shows a high watermark of at least the offset that its "
        "disk, every member of the ISR and every follower in reach have reached before."
    )
    requests: ClassVar[Requests] = (fetch_request.FetchRequest,)

    def __init__(self, fetches: FollowerFetches, newest: NewestImage | None = None) -> None:
        super().__init__(newest)
        self._fetches = fetches
        self._reached: dict[tuple[int, int, LogId], _Reached] = {}
        """By node, incarnation and log."""

    @override
    def on_data_answered(self, process: ProcessView, event: Received, message: Message) -> None:
        if not isinstance(message, fetch_response.FetchResponse):
            return
        for log, part in self._fetched(message):
            self._judge(process, log, part.high_watermark)

    def _judge(self, process: ProcessView, log: LogId, high_watermark: int) -> None:
        partition, mirror = partition_in(process.image, log), process.partitions.get(log)
        if partition is None or mirror is None or partition.leader != process.node_id:
            return
        key, now_ns = (process.node_id, process.incarnation, log), process.running_ns()
        known, epoch = self._reached.get(key), partition.leader_epoch
        if known is not None and known.epoch == epoch and now_ns - known.since_ns > LATE_NS:
            if high_watermark < known.offset:
                detail = f"log {log}: every replica has reached offset {known.offset}, high "
                found = f"watermark {high_watermark} is shown"
                self.monitor.report_violation(self, process, detail + found)
            known = None
        if known is None or known.epoch != epoch:
            offset = self._least(process, log, mirror)
            self._reached[key] = _Reached(epoch=epoch, offset=offset, since_ns=now_ns)

    def _least(self, process: ProcessView, log: LogId, mirror: PartitionMirror) -> int:
        """Return the offset that each replica which may count has reached; -1 if unknown."""
        partition = partition_in(process.image, log)
        assert partition is not None, "judged before"
        isrs = self._fetches.known_isrs(process, log, partition)
        if min(map(len, isrs)) < min(self._most_min_isr(process, log), len(partition.replicas)):
            return -1
        last = self._fetches.of(process, log, partition.leader_epoch).last
        least = mirror.durable_end
        for replica in partition.replicas:
            offset, at_ns = last.get(replica, (-1, -IN_REACH_NS))
            is_member = any(replica in isr for isr in isrs)
            is_far = process.now_ns() - at_ns > IN_REACH_NS and not is_member
            if offset < 0 and process.image.may_lead(NodeId(replica)):
                is_far = False  # a member at the begin of the leadership counts for a while
            if replica != process.node_id and not is_far:
                least = min(least, offset)
        return least

    def _most_min_isr(self, process: ProcessView, log: LogId) -> int:
        """Return the largest min.insync.replicas that may hold for a log, at the leader or now.

        The leader's image may be the older one.
        """
        found: list[int] = []
        for image in (self._image, process.image):
            topic = image.topics.get(log.topic_id)
            own = image.configs.get((TOPIC, "" if topic is None else topic.name), NO_CONFIGS)
            brokers = {value or "1" for value in self._of_brokers(MIN_ISR)}
            found += map(int, [own[MIN_ISR]] if MIN_ISR in own else brokers)
        return max(1, *found)
