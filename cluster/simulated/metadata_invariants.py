"""What must hold of metadata images at every moment (KIP-631).

Not: leases (lease_invariants.py), nor that derived parts are right, which is recomputed at the
end of a run (final_checks.py).
"""

from typing_extensions import override

from cluster.simulated.ledger import Ledger
from cluster.simulated.witness import Observed, Witness
from node.core.metadata.image import MetadataImage
from node.core.types import NO_NODE, NodeId
from node.wire.messages import metadata as records
from node.wire.messages.batch import Batch
from node.wire.types import Uuid


class ImagesAgree(Witness):
    """All nodes at one offset hold one image."""

    sentence = "Images at one offset are equal on all nodes, and no process goes back."

    def __init__(self) -> None:
        super().__init__()
        self._digests: dict[int, int] = {}
        self._offsets: dict[tuple[int, int], int] = {}

    @override
    def published(self, process: Observed, offset: int, image: MetadataImage) -> None:
        digest = self._digests.setdefault(offset, image.digest)
        if digest != image.digest:
            self.jury.object(self, process, f"offset {offset}: {image.digest:032x} {digest:032x}")
        us = (process.node_id, process.life)
        if offset < self._offsets.get(us, 0):
            self.jury.object(self, process, f"offset {offset} after {self._offsets[us]}")
        self._offsets[us] = offset


class FencedBrokersLeadNothing(Witness):
    """What becomes of partitions whose brokers are gone."""

    sentence = "A fenced broker leads nothing, and is in an ISR only alone and without a leader."

    def __init__(self) -> None:
        super().__init__()
        self._looked_at = 0

    @override
    def published(self, process: Observed, offset: int, image: MetadataImage) -> None:
        if offset <= self._looked_at:
            return
        self._looked_at = offset
        for broker_id in sorted(image.by_broker.isr):
            broker = image.brokers.get(broker_id)
            if broker is None or broker.fenced:
                self._look(process, image, broker_id)

    def _look(self, process: Observed, image: MetadataImage, broker_id: NodeId) -> None:
        if image.leads_any(broker_id):
            self.jury.object(self, process, f"broker {broker_id} leads, and is fenced")
        for partition in image.in_isr(broker_id):
            if partition.isr != (broker_id,) or partition.leader != NO_NODE:
                detail = f"broker {broker_id} is fenced: {partition}"
                self.jury.object(self, process, detail)


class LeadersAreInSync(Witness):
    """Partitions as they are created and changed."""

    sentence = "A partition's leader is in its ISR, and the ISR among its replicas, never empty."

    def __init__(self, ledger: Ledger) -> None:
        super().__init__()
        self._changed: list[tuple[Uuid, int]] = []
        ledger.subscribers.append(self._committed)

    def _committed(self, batch: Batch, time_ns: int) -> None:
        for record in batch.records:
            if isinstance(record, records.PartitionRecord | records.PartitionChangeRecord):
                self._changed.append((record.topic_id, record.partition_id))

    @override
    def published(self, process: Observed, offset: int, image: MetadataImage) -> None:
        changed, self._changed = self._changed, []
        for topic_id, index in changed:
            for partition in image.partitions_of(topic_id):
                if partition.index != index:
                    continue
                leads = partition.leader == NO_NODE or partition.leader in partition.isr
                if not leads or not partition.isr or set(partition.isr) - set(partition.replicas):
                    self.jury.object(self, process, f"{partition}")
