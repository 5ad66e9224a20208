"""The invariant of a broker's start: the image first, then the clients (KIP-631)."""

from typing_extensions import override

from kraftproof.cluster.simulated.committed.committed_log import CommittedLog
from kraftproof.cluster.simulated.invariants.invariant import Invariant, ProcessView
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.types import NodeId
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.wire.records.batch import Batch
from kraftproof.node.wire.records.metadata import RegisterBrokerRecord


class BrokersServeAfterCatchUp(Invariant):
    """A starting broker serves clients only after catching up (KIP-631 "Broker State Machine")."""

    statement = (
        "A broker opens its listeners after its image holds the process's registration, or a later "
        "removal of the registration."
    )

    def __init__(self, committed_log: CommittedLog) -> None:
        super().__init__()
        self._committed_log = committed_log
        self._committed: dict[int, int] = {}
        self._shown: dict[int, tuple[int, MetadataImage]] = {}
        self._registered: dict[int, int] = {}
        """The newest committed epoch of each broker, which may be unregistered again."""
        committed_log.subscribers.append(self._on_committed)

    def _on_committed(self, batch: Batch, time_ns: int) -> None:
        for record in batch.records:
            if isinstance(record, RegisterBrokerRecord):
                self._registered[record.broker_id] = record.broker_epoch

    @override
    def on_started(self, process: ProcessView, durable: QuorumState) -> None:
        self._committed[process.node_id] = self._committed_log.end_offset
        self._shown.pop(process.node_id, None)

    @override
    def on_published(self, process: ProcessView, offset: int, image: MetadataImage) -> None:
        self._shown[process.node_id] = (offset, image)

    @override
    def on_listeners_opened(self, process: ProcessView) -> None:
        """Check that the registration follows every record committed at the process start."""
        committed = self._committed[process.node_id]
        epoch: int | None = None
        if process.node_id in self._shown:
            offset, image = self._shown[process.node_id]
            ours = image.brokers.get(NodeId(process.node_id))
            newest = self._registered.get(process.node_id, offset)
            if ours is not None:
                epoch = ours.epoch
            elif newest < offset:  # the image has seen the registration come and go
                epoch = newest
        if epoch is None or epoch < committed:
            detail = f"the image has epoch {epoch}, but the log had {committed} at the start"
            self.monitor.report_violation(self, process, detail)
