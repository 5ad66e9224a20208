"""Decide AlterPartition: the leader of a partition proposes a new ISR (KIP-497, KIP-903).

The checks are in the order of Kafka, since the leader acts on the error: see the state machine of
node/core/partition. Versions 2 and 3 are served, as in Kafka 4.3. See change.py for the
effect of a new ISR on a reassignment and on the leader.
"""

from typing import Final

from msgspec import Struct

from kraftproof.node.core.base.types import NodeId
from kraftproof.node.core.controller.outcome import Outcome
from kraftproof.node.core.controller.partitions.change import (
    RECOVERED,
    RECOVERING,
    Target,
    change_partition,
)
from kraftproof.node.core.controller.partitions.unclean import election_of
from kraftproof.node.core.controller.refusals import refusal
from kraftproof.node.core.metadata.changed_partition import changed_partition
from kraftproof.node.core.metadata.image import MetadataImage, Partition, PartitionKey
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import alter_partition_request, alter_partition_response
from kraftproof.node.wire.records.batch import Record
from kraftproof.node.wire.types import Uuid

Request = alter_partition_request.AlterPartitionRequest
Proposal = alter_partition_request.PartitionData
Result = alter_partition_response.PartitionData
MOST_PARTITIONS: Final = 10_000
"""Maximum number of partitions that a request changes; a leader repeats the others, since the
answer has no result for them."""
NO_EPOCH: Final = -1
"""The broker epoch of a member that the leader does not know."""


class Member(Struct, frozen=True):
    """A proposed member of an ISR, with the broker epoch of its last Fetch."""

    broker_id: NodeId
    broker_epoch: int = NO_EPOCH


def alter_partition(image: MetadataImage, request: Request) -> Outcome:
    """Change ISRs as their leaders propose; each partition succeeds or fails alone."""
    broker = image.brokers.get(NodeId(request.broker_id))
    if broker is None or broker.epoch != request.broker_epoch:
        return Outcome(reply=refusal(request, ErrorCode.STALE_BROKER_EPOCH))
    changes = _Changes(image, broker.broker_id)
    topics: list[alter_partition_response.TopicData] = []
    left = MOST_PARTITIONS
    for topic in request.topics:
        results = tuple(
            changes.alter(topic.topic_id, proposal) for proposal in topic.partitions[:left]
        )
        left -= len(results)
        topics.append(
            alter_partition_response.TopicData(topic_id=topic.topic_id, partitions=results)
        )
    reply = alter_partition_response.AlterPartitionResponse(topics=tuple(topics))
    return Outcome(reply=reply, records=tuple(changes.records))


class _Changes:
    """The records of a request, and the partitions after the records."""

    def __init__(self, image: MetadataImage, caller: NodeId) -> None:
        self.records: list[Record] = []
        self._image = image
        self._caller = caller
        self._changed: dict[PartitionKey, Partition] = {}
        """A later entry of the request may name the same partition again."""

    def alter(self, topic_id: Uuid, proposal: Proposal) -> Result:
        """Return the result of a proposal, and keep the record if the partition changes."""
        image, index = self._image, proposal.partition_index
        if topic_id not in image.topics:
            return _refused(index, ErrorCode.UNKNOWN_TOPIC_ID)
        was = self._changed.get((topic_id, index)) or image.partitions[topic_id].get(index)
        if was is None:
            return _refused(index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        error = _error_of_epochs(was, self._caller, proposal)
        error = error or _error_of_members(image, was, proposal)
        if error is not None:
            return _refused(index, error)
        isr = tuple(member.broker_id for member in _members(proposal))
        target = Target(
            isr=isr,
            recovery_state=proposal.leader_recovery_state,
            election=election_of(image, was),
        )
        record = change_partition(image, was, image.may_lead, target)
        if record is None:
            return _state(was)
        self.records.append(record)
        now = self._changed[was.key] = changed_partition(was, record)
        is_led_on = now.leader == self._caller
        return _state(now) if is_led_on else _refused(index, ErrorCode.NEW_LEADER_ELECTED)


def _error_of_epochs(was: Partition, caller: NodeId, proposal: Proposal) -> ErrorCode | None:
    """Return the error of a caller that knows another state of the partition.

    A larger epoch than the controller's own shows a newer controller.
    """
    epochs = (proposal.leader_epoch, proposal.partition_epoch)
    if epochs[0] > was.leader_epoch or epochs[1] > was.partition_epoch:
        return ErrorCode.NOT_CONTROLLER
    if epochs[0] < was.leader_epoch:
        return ErrorCode.FENCED_LEADER_EPOCH
    if caller != was.leader:
        return ErrorCode.INVALID_REQUEST
    if epochs[1] < was.partition_epoch:
        return ErrorCode.INVALID_UPDATE_VERSION
    return None


def _error_of_members(image: MetadataImage, was: Partition, proposal: Proposal) -> ErrorCode | None:
    """Return the error of an ISR that the partition must not have."""
    members = _members(proposal)
    ids = [member.broker_id for member in members]
    if len(set(ids)) != len(ids) or not set(ids) <= set(was.replicas) or was.leader not in ids:
        return ErrorCode.INVALID_REQUEST
    state = proposal.leader_recovery_state
    if state not in {RECOVERED, RECOVERING} or (state == RECOVERING and len(ids) > 1):
        return ErrorCode.INVALID_REQUEST
    if state == RECOVERING and was.recovery_state == RECOVERED:
        return ErrorCode.INVALID_REQUEST
    if not all(_is_eligible(image, member) for member in members):
        return ErrorCode.INELIGIBLE_REPLICA
    return None


def _members(proposal: Proposal) -> tuple[Member, ...]:
    """Return the proposed members; version 2 has no broker epochs."""
    return (
        *(Member(NodeId(broker_id)) for broker_id in proposal.new_isr),
        *(
            Member(NodeId(entry.broker_id), entry.broker_epoch)
            for entry in proposal.new_isr_with_epochs
        ),
    )


def _is_eligible(image: MetadataImage, member: Member) -> bool:
    """Return whether a broker may be in an ISR; a restarted broker has another epoch (KIP-903)."""
    broker = image.brokers.get(member.broker_id)
    return (
        broker is not None and broker.may_lead and member.broker_epoch in {NO_EPOCH, broker.epoch}
    )


def _refused(index: int, error: ErrorCode) -> Result:
    return Result(partition_index=index, error_code=error)


def _state(partition: Partition) -> Result:
    return Result(
        partition_index=partition.index,
        leader_id=partition.leader,
        leader_epoch=partition.leader_epoch,
        isr=partition.isr,
        leader_recovery_state=partition.recovery_state,
        partition_epoch=partition.partition_epoch,
    )
