"""Guess the request of a batch from its records, for logs without requests.

The result is the request that explains the records best: the state of the partition afterwards is
still checked, and only the wish is taken from the records.
"""

from collections.abc import Iterator, Sequence

from kraftproof.checkers.kraft.specification.ids import Id
from kraftproof.checkers.kraft.specification.image import Image, Partition, PartitionKey
from kraftproof.checkers.kraft.specification.rows import (
    ConfigRecord,
    PartitionChangeRecord,
    PartitionRecord,
    Row,
)
from kraftproof.checkers.kraft.specification.rows.clients import (
    AlterPartitionReassignmentsRequest,
    CreatePartitionsRequest,
    ElectLeadersRequest,
    GrownTopic,
    NewAssignment,
    ReassignedTopic,
    Reassignment,
    TopicPartitions,
)
from kraftproof.checkers.kraft.specification.rows.configs import (
    Alteration,
    AlteredResource,
    IncrementalAlterConfigsRequest,
)
from kraftproof.checkers.kraft.specification.rows.partitions import (
    AllocateProducerIdsRequest,
    AlterPartitionRequest,
    ProducerIdsRecord,
    Proposal,
    ProposedTopic,
)
from kraftproof.checkers.kraft.specification.rows.quotas import (
    AlterClientQuotasRequest,
    ClientQuotaRecord,
    EntityPart,
    QuotaEntry,
    QuotaOperation,
)
from kraftproof.checkers.kraft.specification.rows.secrets import (
    DelegationTokenRecord,
    RemoveDelegationTokenRecord,
    RemoveUserScramCredentialRecord,
)
from kraftproof.checkers.kraft.specification.rows.security import (
    AccessControlEntryRecord,
    RemoveAccessControlEntryRecord,
)
from kraftproof.checkers.kraft.specification.security.acls import likely_acl_change
from kraftproof.checkers.kraft.specification.security.scram import likely_scram_change
from kraftproof.checkers.kraft.specification.security.tokens import likely_token_request

SET, DELETE = 0, 1
Change = tuple[PartitionChangeRecord, Partition]
"""A record, and the partition before the record."""


def likely_requests(image: Image, written: Sequence[Row]) -> list[Row]:
    """Return the requests that may explain the records, the most likely first."""
    match written[0]:
        case ProducerIdsRecord() as record:
            allocation = AllocateProducerIdsRequest(
                broker_id=record.broker_id, broker_epoch=record.broker_epoch
            )
            return [allocation]
        case ClientQuotaRecord():
            return [_quota_change(written)]
        case AccessControlEntryRecord() | RemoveAccessControlEntryRecord():
            return [likely_acl_change(image, written)]
        case DelegationTokenRecord() | RemoveDelegationTokenRecord():
            return likely_token_request(image, written)
        case RemoveUserScramCredentialRecord():
            return list(filter(None, (likely_scram_change(written),)))
        case ConfigRecord():
            return [_config_change(written)]
        case PartitionRecord():
            return [_growth(image, written)]
        case PartitionChangeRecord():
            changes = list(_changes(image, written))
            if len(changes) != len(written):
                return []
            alteration = _alteration(image, changes)
            wishes: list[Row] = [*_reassignments(image, changes), *_elections(image, changes)]
            return wishes if alteration is None else [alteration, *wishes]
        case _:
            return []


def _config_change(written: Sequence[Row]) -> IncrementalAlterConfigsRequest:
    resources: dict[tuple[int, str], list[Alteration]] = {}
    for record in written:
        if isinstance(record, ConfigRecord):
            operation = DELETE if record.value is None else SET
            change = Alteration(name=record.name, value=record.value, config_operation=operation)
            resources.setdefault((record.resource_type, record.resource_name), []).append(change)
    return IncrementalAlterConfigsRequest(
        resources=tuple(
            AlteredResource(resource_type=kind, resource_name=name, configs=tuple(changes))
            for (kind, name), changes in resources.items()
        )
    )


def _quota_change(written: Sequence[Row]) -> AlterClientQuotasRequest:
    operations: dict[tuple[EntityPart, ...], list[QuotaOperation]] = {}
    for record in written:
        if isinstance(record, ClientQuotaRecord):
            operation = QuotaOperation(key=record.key, value=record.value, remove=record.remove)
            operations.setdefault(record.entity, []).append(operation)
    return AlterClientQuotasRequest(
        entries=tuple(
            QuotaEntry(entity=entity, ops=tuple(changes)) for entity, changes in operations.items()
        )
    )


def _growth(image: Image, written: Sequence[Row]) -> CreatePartitionsRequest:
    added: dict[Id, list[NewAssignment]] = {}
    for record in written:
        if isinstance(record, PartitionRecord):
            added.setdefault(record.topic_id, []).append(NewAssignment(broker_ids=record.replicas))
    known = {topic_id: image.topics[topic_id] for topic_id in added if topic_id in image.topics}
    return CreatePartitionsRequest(
        topics=tuple(
            GrownTopic(
                name=topic.name,
                count=len(topic.partitions) + len(added[topic_id]),
                assignments=tuple(added[topic_id]),
            )
            for topic_id, topic in known.items()
        )
    )


def _reassignments(image: Image, changes: list[Change]) -> Iterator[Row]:
    """Yield requests: move to the replicas that stay, cancel, or cancel some and move the rest."""
    cancelled = [_is_cancelled(record, was) for record, was in changes]
    choices = ([False] * len(changes), [True] * len(changes), cancelled)
    for choice in choices if 0 < sum(cancelled) < len(changes) else choices[:2]:
        yield AlterPartitionReassignmentsRequest(
            topics=tuple(
                ReassignedTopic(
                    name=image.topics[record.topic_id].name,
                    partitions=(
                        Reassignment(
                            partition_index=record.partition_id,
                            replicas=None if is_cancelled else _target(record, was),
                        ),
                    ),
                )
                for (record, was), is_cancelled in zip(changes, choice, strict=True)
            )
        )


def _is_cancelled(record: PartitionChangeRecord, was: Partition) -> bool:
    """Return whether a change undoes a reassignment: the replicas are those of before."""
    now = was.after(record)
    old = tuple(node for node in was.replicas if node not in was.adding)
    return bool(was.adding or was.removing) and now.replicas == old and not now.adding


def _target(record: PartitionChangeRecord, was: Partition) -> tuple[int, ...]:
    replicas = was.replicas if record.replicas is None else record.replicas
    removing = was.removing if record.removing_replicas is None else record.removing_replicas
    return tuple(node for node in replicas if node not in removing)


def _elections(image: Image, changes: list[Change]) -> Iterator[Row]:
    for election_type in (0, 1):
        yield ElectLeadersRequest(
            topic_partitions=tuple(
                TopicPartitions(
                    topic=image.topics[record.topic_id].name, partitions=(record.partition_id,)
                )
                for record, _ in changes
            ),
            election_type=election_type,
        )


def _alteration(image: Image, changes: list[Change]) -> AlterPartitionRequest | None:
    leaders = {was.leader for _, was in changes}
    if len(leaders) != 1:
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
    """Yield each change; a request may name a partition again, after its change."""
    changed: dict[PartitionKey, Partition] = {}
    for record in written:
        if isinstance(record, PartitionChangeRecord):
            key = (record.topic_id, record.partition_id)
            topic = image.topics.get(record.topic_id)
            known = None if topic is None else topic.partitions.get(record.partition_id)
            was = changed.get(key, known)
            if was is not None:
                changed[key] = was.after(record)
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
