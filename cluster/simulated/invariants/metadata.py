"""Invariants of metadata images (KIP-631).

See leases.py for leases; final_checks.py rebuilds the derived parts of images at the end of a run.
"""

from collections.abc import Mapping

from typing_extensions import override

from kraftproof.cluster.simulated.committed.committed_log import CommittedLog, drop_below
from kraftproof.cluster.simulated.committed.reference_image import UNCHANGED
from kraftproof.cluster.simulated.invariants.invariant import Invariant, ProcessView
from kraftproof.node.core.base.directory_ids import MIGRATING, UNASSIGNED
from kraftproof.node.core.base.types import NO_NODE, NodeId
from kraftproof.node.core.metadata.image import MetadataImage, Partition
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Batch, Record
from kraftproof.node.wire.types import Uuid

OF_PARTITIONS = (records.PartitionRecord, records.PartitionChangeRecord)


class ImagesAgree(Invariant):
    """Nodes with equal offsets have equal images."""

    statement = "Images at an offset are equal on every node, and an image never goes back."

    def __init__(self) -> None:
        super().__init__()
        self._digests: dict[int, int] = {}
        self._offsets: dict[tuple[int, int], int] = {}

    @override
    def on_published(self, process: ProcessView, offset: int, image: MetadataImage) -> None:
        digest = self._digests.setdefault(offset, image.digest)
        if digest != image.digest:
            self.monitor.report_violation(
                self,
                process,
                f"the image at offset {offset} differs from others (digest {image.digest:032x})",
            )
        us = (process.node_id, process.incarnation)
        if offset < self._offsets.get(us, 0):
            self.monitor.report_violation(
                self, process, f"the image went back from offset {self._offsets[us]} to {offset}"
            )
        self._offsets[us] = offset

    @override
    def on_pruned(self, below: int) -> None:
        drop_below(self._digests, below)


class FencedBrokersLeadNothing(Invariant):
    """Partitions of fenced brokers get other leaders."""

    statement = "A fenced broker leads nothing, and an ISR with it has no other member or leader."

    def __init__(self) -> None:
        super().__init__()
        self._looked_at = 0

    @override
    def on_published(self, process: ProcessView, offset: int, image: MetadataImage) -> None:
        if offset <= self._looked_at:
            return
        self._looked_at = offset
        for broker_id in sorted(image.by_broker.isr):
            broker = image.brokers.get(broker_id)
            if broker is None or broker.fenced:
                self._look(process, image, broker_id)

    def _look(self, process: ProcessView, image: MetadataImage, broker_id: NodeId) -> None:
        if image.leads_any(broker_id):
            self.monitor.report_violation(self, process, f"broker {broker_id} is fenced, but leads")
        for partition in image.in_isr(broker_id):
            if partition.isr != (broker_id,) or partition.leader != NO_NODE:
                detail = f"broker {broker_id} is fenced: {partition}"
                self.monitor.report_violation(self, process, detail)


class LeadersAreInSync(Invariant):
    """Leader and ISR of partitions, at their creation and changes and when brokers return."""

    statement = (
        "A partition's ISR is a non-empty subset of its replicas; its leader is an ISR member that "
        "is active and has the replica's directory, and there is a leader if a member qualifies."
    )

    def __init__(self, committed_log: CommittedLog) -> None:
        super().__init__()
        self._changed: list[tuple[Uuid, int]] = []
        self._back: list[NodeId] = []
        self._committed_log = committed_log
        committed_log.subscribers.append(self._committed)

    def _committed(self, batch: Batch, time_ns: int) -> None:
        if batch.base_offset < self._committed_log.inherited_end:
            return  # no controller of the run chose these leaders
        for record in batch.records:
            if isinstance(record, OF_PARTITIONS):
                self._changed.append((record.topic_id, record.partition_id))
            elif isinstance(record, records.BrokerRegistrationChangeRecord) and record.fenced < 0:
                self._back.append(NodeId(record.broker_id))

    @override
    def on_published(self, process: ProcessView, offset: int, image: MetadataImage) -> None:
        changed, self._changed = self._changed, []
        back, self._back = self._back, []
        for topic_id, index in changed:
            for partition in image.partitions_of(topic_id):
                if partition.index == index:
                    self._look(process, image, partition)
        for broker_id in back:
            for partition in image.in_isr(broker_id):
                self._look(process, image, partition)

    def _look(self, process: ProcessView, image: MetadataImage, partition: Partition) -> None:
        isr = partition.isr
        disks = dict(zip(partition.replicas, partition.directories, strict=False))
        may_lead = [one for one in isr if _may_lead(image, one) and _has(image, one, disks)]
        leads = partition.leader in may_lead or (partition.leader == NO_NODE and not may_lead)
        if not leads or not isr or set(isr) - set(partition.replicas):
            self.monitor.report_violation(
                self, process, f"{partition}: the brokers that may lead are {may_lead}"
            )


def _has(image: MetadataImage, broker_id: NodeId, disks: Mapping[NodeId, Uuid]) -> bool:
    """Return whether a broker has the directory of its replica, or has not told one (KIP-858)."""
    told = disks.get(broker_id, UNASSIGNED)
    return told in {MIGRATING, UNASSIGNED, *image.brokers[broker_id].log_dirs}


def _may_lead(image: MetadataImage, broker_id: NodeId) -> bool:
    broker = image.brokers.get(broker_id)
    return broker is not None and not broker.fenced and not broker.in_controlled_shutdown


class IsrMembersAreActive(Invariant):
    """ISR members at their entry, checked per record: an image may have a newer broker state."""

    statement = (
        "A broker that enters an ISR, also at the creation of the partition, is registered and "
        "neither fenced nor shutting down."
    )

    def __init__(self, committed_log: CommittedLog) -> None:
        super().__init__()
        self._brokers: dict[int, tuple[bool, bool]] = {}
        """By id of a registered broker: whether the broker is fenced, and is shutting down."""
        self._isrs: dict[tuple[Uuid, int], tuple[int, ...]] = {}
        self._wrong: list[str] = []
        """Violations to report with the next published image."""
        self._committed_log = committed_log
        committed_log.subscribers.append(self._committed)

    @override
    def on_published(self, process: ProcessView, offset: int, image: MetadataImage) -> None:
        if self._wrong:
            wrong, self._wrong = self._wrong, []
            for detail in wrong:
                self.monitor.report_violation(self, process, detail)

    def _committed(self, batch: Batch, time_ns: int) -> None:
        for record in batch.records:
            if isinstance(record, OF_PARTITIONS):
                if record.isr is not None:
                    self._enter(record, record.isr)
                if batch.base_offset < self._committed_log.inherited_end:
                    self._wrong.clear()  # no controller of the run chose this ISR
            elif isinstance(record, records.RemoveTopicRecord):
                self._forget(record.topic_id)
            else:
                self._follow(record)

    def _forget(self, topic_id: Uuid) -> None:
        index = 0
        while self._isrs.pop((topic_id, index), None) is not None:
            index += 1

    def _enter(
        self,
        record: records.PartitionRecord | records.PartitionChangeRecord,
        isr: tuple[int, ...],
    ) -> None:
        key = (record.topic_id, record.partition_id)
        before = self._isrs.get(key, ())
        self._isrs[key] = isr
        for broker_id in isr:
            if broker_id not in before and self._brokers.get(broker_id) != (False, False):
                self._wrong.append(f"broker {broker_id}, {self._reported(broker_id)}: {record}")

    def _reported(self, broker_id: int) -> str:
        fenced, leaving = self._brokers.get(broker_id, (None, None))
        return "not registered" if fenced is None else f"{fenced=} {leaving=}"

    def _follow(self, record: Record) -> None:
        match record:
            case records.RegisterBrokerRecord():
                state = (record.fenced, record.in_controlled_shutdown)
                self._brokers[record.broker_id] = state
            case records.UnregisterBrokerRecord():
                self._brokers.pop(record.broker_id, None)
            case records.BrokerRegistrationChangeRecord():
                fenced, leaving = self._brokers.get(record.broker_id, (True, True))
                self._brokers[record.broker_id] = (
                    record.fenced > 0 if record.fenced else fenced,
                    record.in_controlled_shutdown > 0 if record.in_controlled_shutdown else leaving,
                )
            case _:
                return


class PartitionEpochsRiseByOne(Invariant):
    """Partition and leader epochs count changes (KIP-497), by the first image with a change."""

    statement = "A partition change raises the partition epoch by 1, an election the leader epoch."

    def __init__(self) -> None:
        super().__init__()
        self._looked_at = 0
        self._epochs: dict[tuple[Uuid, int], tuple[int, int]] = {}
        """Partition epoch and leader epoch, by partition."""

    @override
    def on_published(self, process: ProcessView, offset: int, image: MetadataImage) -> None:
        if offset <= self._looked_at:
            return
        start, self._looked_at = self._looked_at, offset
        if process.log.start.end_offset > start:
            self._epochs.clear()  # the skipped records are in a snapshot only
            start = process.log.start.end_offset
        changed: dict[tuple[Uuid, int], None] = {}
        for batch in process.log.between(start, offset):
            for record in batch.records:
                if isinstance(record, OF_PARTITIONS):
                    changed[record.topic_id, record.partition_id] = None
                    self._count(record)
                elif isinstance(record, records.RemoveTopicRecord):
                    self._forget(record.topic_id)
        for topic_id, index in changed:
            partitions = image.partitions.get(topic_id)
            partition = None if partitions is None else partitions.get(index)
            expected = self._epochs.get((topic_id, index))
            if partition is None or expected is None:
                continue  # removed since, or first seen in a snapshot
            found = (partition.partition_epoch, partition.leader_epoch)
            if found != expected:
                self.monitor.report_violation(
                    self, process, f"{partition}, but by the records the epochs are {expected}"
                )

    def _forget(self, topic_id: Uuid) -> None:
        """Remove a deleted topic's partitions, numbered from 0; topic ids are never reused."""
        index = 0
        while self._epochs.pop((topic_id, index), None) is not None:
            index += 1

    def _count(self, record: records.PartitionRecord | records.PartitionChangeRecord) -> None:
        key = (record.topic_id, record.partition_id)
        if isinstance(record, records.PartitionRecord):
            self._epochs[key] = (record.partition_epoch, record.leader_epoch)
        elif key in self._epochs:
            partition_epoch, leader_epoch = self._epochs[key]
            elects = record.leader != UNCHANGED
            self._epochs[key] = (partition_epoch + 1, leader_epoch + elects)
