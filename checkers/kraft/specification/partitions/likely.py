"""Guess the request of a broker from its records, for logs without requests.

The result is the request that explains the records best: the state of the partition afterwards is
still checked, and only the wish is taken from the records.
"""

from collections.abc import Iterator, Sequence

from kraftproof.checkers.kraft.specification.ids import Id
from kraftproof.checkers.kraft.specification.image import Image, Partition
from kraftproof.checkers.kraft.specification.rows import PartitionChangeRecord, Row
from kraftproof.checkers.kraft.specification.rows.partitions import (
    AllocateProducerIdsRequest,
    AlterPartitionRequest,
    ProducerIdsRecord,
    Proposal,
    ProposedTopic,
)

Change = tuple[PartitionChangeRecord, Partition]
"""A record, and the partition before the batch."""


def likely_brokers_request(image: Image, written: Sequence[Row]) -> Row | None:
    """Return the request of a broker that explains the records, or None."""
    match written[0]:
        case ProducerIdsRecord() as record:
            return AllocateProducerIdsRequest(
                broker_id=record.broker_id, broker_epoch=record.broker_epoch
            )
        case PartitionChangeRecord():
            return _alteration(image, written)
        case _:
            return None


def _alteration(image: Image, written: Sequence[Row]) -> AlterPartitionRequest | None:
    changes = list(_changes(image, written))
    leaders = {was.leader for _, was in changes}
    if len(changes) != len(written) or len(leaders) != 1:
        return None
    broker = image.brokers.get(leaders.pop())
    if broker is None:
        return None
    topics: dict[Id, list[Proposal]] = {}
    for record, was in changes:
        topics.setdefault(record.topic_id, []).append(_proposal(record, was))
    return AlterPartitionRequest(
        broker_id=broker.broker_id,
        broker_epoch=broker.epoch,
        topics=tuple(
            ProposedTopic(topic_id=topic_id, partitions=tuple(proposals))
            for topic_id, proposals in topics.items()
        ),
    )


def _changes(image: Image, written: Sequence[Row]) -> Iterator[Change]:
    for record in written:
        if isinstance(record, PartitionChangeRecord):
            topic = image.topics.get(record.topic_id)
            was = None if topic is None else topic.partitions.get(record.partition_id)
            if was is not None:
                yield record, was


def _proposal(record: PartitionChangeRecord, was: Partition) -> Proposal:
    """Return the ISR that the leader may have proposed, before a reassignment was completed."""
    isr = was.isr if record.isr is None else record.isr
    if record.replicas is not None:
        isr = (*isr, *(node for node in was.isr if node in was.removing and node not in isr))
    state = record.leader_recovery_state
    return Proposal(
        partition_index=record.partition_id,
        leader_epoch=was.leader_epoch,
        partition_epoch=was.partition_epoch,
        leader_recovery_state=was.recovery_state if state < 0 else state,
        new_isr=isr,
    )
