"""The invariant of replicas in failed log directories: these replicas alone are offline."""

from typing import ClassVar

from typing_extensions import override

from kraftproof.cluster.simulated.invariants.invariant import Events, ProcessView, Requests
from kraftproof.cluster.simulated.invariants.partitions.leaders import DATA_REQUESTS
from kraftproof.cluster.simulated.invariants.partitions.replicas import NewestImage, Replicas
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.events import DirectoryFailed, Received, TimestampFound
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import Message
from kraftproof.node.wire.types import Uuid


class OnlyFailedAreOffline(Replicas):
    """A failed log directory takes its own replicas offline, and no others (KIP-112)."""

    statement = (
        "KAFKA_STORAGE_ERROR is the answer for the replicas of failed log directories, and for no "
        "other replica."
    )
    requests: ClassVar[Requests] = DATA_REQUESTS
    step_events: ClassVar[Events] = (DirectoryFailed,)

    def __init__(self, newest: NewestImage | None = None) -> None:
        super().__init__(newest)
        self._known: dict[int, frozenset[Uuid]] = {}
        """By node: the failed directories that its process has heard of."""

    @override
    def on_started(self, process: ProcessView, durable: QuorumState) -> None:
        super().on_started(process, durable)
        self._known[process.node_id] = process.partitions.failed

    @override
    def on_step(self, process: ProcessView) -> None:
        if isinstance(process.event, DirectoryFailed):
            self._known[process.node_id] |= {process.event.directory}

    @override
    def on_data_answered(self, process: ProcessView, event: Received, message: Message) -> None:
        look_up = process.event if isinstance(process.event, TimestampFound) else None
        if look_up is not None and look_up.has_failed:
            return  # the disk failed under a worker's read; the broker hears of the directory next
        failed, known = process.partitions.failed, self._known_of(process)
        for log, _, error in self._newest.results(event.message, message):
            if not error and not known:
                continue
            mirror = None if log is None else process.partitions.get(log)
            is_offline = error == ErrorCode.KAFKA_STORAGE_ERROR
            if is_offline and mirror is not None and mirror.directory not in failed:
                detail = f"log {log}: offline, but its directory works"
                self.monitor.report_violation(self, process, detail)
            elif is_offline and not failed:
                detail = f"log {log}: offline, but no log directory has failed"
                self.monitor.report_violation(self, process, detail)
            elif look_up is not None:
                continue  # the look-up in the files may have begun before the directory failed
            elif not error and mirror is not None and mirror.directory in known:
                detail = f"log {log}: served, but its directory has failed"
                self.monitor.report_violation(self, process, detail)

    def _known_of(self, process: ProcessView) -> frozenset[Uuid]:
        return self._known.get(process.node_id, frozenset())
