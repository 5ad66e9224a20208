"""Decide AlterPartitionReassignments and ListPartitionReassignments (KIP-455; 631-70 to 76).

A reassignment adds the new replicas, waits until the target is in sync, and then drops the others:
see change.py for the completion. A target among the present replicas that has a member in sync
needs no wait and is reached by one record (631-72). docs/decisions/0512 has the differences from
Kafka.
"""

from typing import Final

from kraftproof.node.core.base.types import NodeId
from kraftproof.node.core.controller.outcome import Outcome
from kraftproof.node.core.controller.partitions.change import (
    Election,
    Replicas,
    Target,
    change_partition,
)
from kraftproof.node.core.controller.partitions.unclean import election_of
from kraftproof.node.core.controller.refusals import refusal
from kraftproof.node.core.metadata.changed_partition import changed_partition
from kraftproof.node.core.metadata.image import MetadataImage, Partition, PartitionKey
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    alter_partition_reassignments_request,
    alter_partition_reassignments_response,
    list_partition_reassignments_request,
    list_partition_reassignments_response,
)
from kraftproof.node.wire.records.batch import Record

AlterRequest = alter_partition_reassignments_request.AlterPartitionReassignmentsRequest
AlterResult = alter_partition_reassignments_response.ReassignablePartitionResponse
TopicResult = alter_partition_reassignments_response.ReassignableTopicResponse
ListRequest = list_partition_reassignments_request.ListPartitionReassignmentsRequest
Ongoing = list_partition_reassignments_response.OngoingPartitionReassignment
OngoingTopic = list_partition_reassignments_response.OngoingTopicReassignment

MAX_PARTITIONS: Final = 10_000
"""Maximum number of partitions of a request, Kafka's limit on the records."""


class ReassignmentError(Exception):
    """A reassignment is refused; carries the error code and the reason for the client."""

    def __init__(self, error: ErrorCode, reason: str) -> None:
        super().__init__(reason)
        self.error = error
        self.reason = reason


def alter_partition_reassignments(image: MetadataImage, request: AlterRequest) -> Outcome:
    """Begin, replace or cancel reassignments; each partition succeeds or fails alone."""
    count = sum(len(topic.partitions) for topic in request.topics)
    if count > MAX_PARTITIONS:
        reason = f"{count} partitions: {MAX_PARTITIONS} are the most that a request may name"
        return Outcome(reply=refusal(request, ErrorCode.POLICY_VIOLATION, reason))
    changes = _Changes(image, is_resizable=request.allow_replication_factor_change)
    responses = tuple(
        TopicResult(
            name=topic.name,
            partitions=tuple(
                changes.alter(topic.name, entry.partition_index, entry.replicas)
                for entry in topic.partitions
            ),
        )
        for topic in request.topics
    )
    reply = alter_partition_reassignments_response.AlterPartitionReassignmentsResponse(
        responses=responses,
        allow_replication_factor_change=request.allow_replication_factor_change,
    )
    return Outcome(reply=reply, records=tuple(changes.records))


class _Changes:
    """The records of a request, and the partitions after the records."""

    def __init__(self, image: MetadataImage, *, is_resizable: bool) -> None:
        self.records: list[Record] = []
        self._image = image
        self._is_resizable = is_resizable
        self._changed: dict[PartitionKey, Partition] = {}

    def alter(self, name: str, index: int, replicas: tuple[int, ...] | None) -> AlterResult:
        """Return the result of a partition, and keep the record if the partition changes."""
        image = self._image
        try:
            was = self._find(name, index)
            if replicas is None:
                target = cancelled(image, was)
            else:
                target = self._checked(was, tuple(map(NodeId, replicas)))
        except ReassignmentError as refused:
            return AlterResult(
                partition_index=index, error_code=refused.error, error_message=refused.reason
            )
        record = change_partition(image, was, image.may_lead, target)
        if record is not None:
            self.records.append(record)
            self._changed[was.key] = changed_partition(was, record)
        return AlterResult(partition_index=index)

    def _find(self, name: str, index: int) -> Partition:
        topic = self._image.topic_named(name)
        found = None
        if topic is not None:
            found = self._changed.get((topic.topic_id, index))
            found = found or self._image.partitions[topic.topic_id].get(index)
        if found is None:
            reason = f"there is no partition {index} of topic {name[:260]}"
            raise ReassignmentError(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, reason)
        return found

    def _checked(self, was: Partition, target: Replicas) -> Target:
        """Return the change towards the replicas of the request.

        Raises:
            ReassignmentError: the replicas are illegal.
        """
        problem = None
        if not target:
            problem = "the list of replicas is empty"
        elif len(set(target)) != len(target):
            problem = "a broker is named twice"
        elif not all(node in self._image.brokers for node in target):
            problem = "a broker is not registered"
        if problem is not None:
            raise ReassignmentError(ErrorCode.INVALID_REPLICA_ASSIGNMENT, problem)
        size = len(set(was.replicas) - set(was.adding))
        if not self._is_resizable and len(target) != size:
            reason = f"{len(target)} replicas in place of {size}"
            raise ReassignmentError(ErrorCode.INVALID_REPLICATION_FACTOR, reason)
        return moved(was, target)


def moved(was: Partition, replicas: Replicas) -> Target:
    """Return the change that begins the reassignment to the replicas (631-72, 631-73)."""
    present = set(was.replicas) - set(was.adding)
    adding = tuple(sorted(set(replicas) - present))
    removing = tuple(sorted(set(was.replicas) - set(replicas)))
    in_sync = tuple(node for node in was.isr if node in replicas)
    if not adding and in_sync:
        return Target(replicas=replicas, isr=in_sync, adding=(), removing=())
    return Target(replicas=(*replicas, *removing), adding=adding, removing=removing)


def cancelled(image: MetadataImage, was: Partition) -> Target:
    """Return the change back to the replicas before the reassignment.

    Raises:
        ReassignmentError: no reassignment is under way, or no old replica is in sync.
    """
    if not was.is_moving:
        raise ReassignmentError(
            ErrorCode.NO_REASSIGNMENT_IN_PROGRESS, "no reassignment is under way"
        )
    replicas = tuple(node for node in was.replicas if node not in was.adding)
    isr = tuple(node for node in was.isr if node not in was.adding)
    election = election_of(image, was)
    if not replicas or (not isr and election is not Election.UNCLEAN):
        raise ReassignmentError(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            "no replica of before is in sync, and the topic allows no unclean election",
        )
    return Target(
        replicas=replicas, isr=isr or replicas[:1], adding=(), removing=(), election=election
    )


def list_partition_reassignments(image: MetadataImage, request: ListRequest) -> Outcome:
    """List the reassignments under way, of all partitions or of the named partitions."""
    if request.topics is None:
        by_topic: dict[str, list[Ongoing]] = {}
        for partition in image.reassigned():
            name = image.topics[partition.topic_id].name
            by_topic.setdefault(name, []).append(_ongoing(partition))
        topics = tuple(
            OngoingTopic(name=name, partitions=tuple(by_topic[name])) for name in sorted(by_topic)
        )
    else:
        named = ((entry.name, _named(image, entry)) for entry in request.topics)
        topics = tuple(OngoingTopic(name=name, partitions=found) for name, found in named if found)
    reply = list_partition_reassignments_response.ListPartitionReassignmentsResponse(topics=topics)
    return Outcome(reply=reply)


def _named(
    image: MetadataImage,
    entry: list_partition_reassignments_request.ListPartitionReassignmentsTopics,
) -> tuple[Ongoing, ...]:
    topic = image.topic_named(entry.name)
    if topic is None:
        return ()
    partitions = image.partitions[topic.topic_id]
    found = (partitions.get(index) for index in entry.partition_indexes)
    return tuple(_ongoing(one) for one in found if one is not None and one.is_moving)


def _ongoing(partition: Partition) -> Ongoing:
    return Ongoing(
        partition_index=partition.index,
        replicas=partition.replicas,
        adding_replicas=partition.adding,
        removing_replicas=partition.removing,
    )
