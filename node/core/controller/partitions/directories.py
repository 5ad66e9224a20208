"""Decide AssignReplicasToDirs: brokers tell in which log directory a replica is (KIP-858).

A replica in a directory that its broker has not registered, or has lost, is offline: the broker
leaves the ISR and the leadership of the partition.
"""

from typing import Final

from kraftproof.node.core.base.directory_ids import MIGRATING, UNASSIGNED
from kraftproof.node.core.base.types import NodeId
from kraftproof.node.core.controller.outcome import Outcome
from kraftproof.node.core.controller.partitions.change import Target, change_partition
from kraftproof.node.core.controller.partitions.unclean import election_of
from kraftproof.node.core.controller.refusals import refusal
from kraftproof.node.core.metadata.changed_partition import changed_partition
from kraftproof.node.core.metadata.image import (
    BrokerRegistration,
    MetadataImage,
    Partition,
    PartitionKey,
)
from kraftproof.node.core.metadata.version import DIRECTORIES_FROM, METADATA_VERSION
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    assign_replicas_to_dirs_request,
    assign_replicas_to_dirs_response,
)
from kraftproof.node.wire.records.batch import Record
from kraftproof.node.wire.types import Uuid

Request = assign_replicas_to_dirs_request.AssignReplicasToDirsRequest
Response = assign_replicas_to_dirs_response.AssignReplicasToDirsResponse
DirectoryResult = assign_replicas_to_dirs_response.DirectoryData
TopicResult = assign_replicas_to_dirs_response.TopicData
Result = assign_replicas_to_dirs_response.PartitionData

MAX_ASSIGNMENTS: Final = 2_250
"""Kafka's limit on the assignments of a request."""


def assign_replicas_to_dirs(image: MetadataImage, request: Request) -> Outcome:
    """Keep the directories of a broker's replicas; each replica succeeds or fails alone."""
    broker = image.brokers.get(NodeId(request.broker_id))
    if broker is None or broker.epoch != request.broker_epoch:
        return Outcome(reply=refusal(request, ErrorCode.STALE_BROKER_EPOCH))
    if image.features.get(METADATA_VERSION, 0) < DIRECTORIES_FROM:
        return Outcome(reply=refusal(request, ErrorCode.UNSUPPORTED_VERSION))
    count = sum(len(topic.partitions) for entry in request.directories for topic in entry.topics)
    if count > MAX_ASSIGNMENTS:
        return Outcome(reply=refusal(request, ErrorCode.INVALID_REQUEST))
    changes = _Changes(image, broker)
    directories = tuple(
        DirectoryResult(
            id=entry.id,
            topics=tuple(
                TopicResult(
                    topic_id=topic.topic_id,
                    partitions=tuple(
                        Result(
                            partition_index=one.partition_index,
                            error_code=changes.assign(
                                topic.topic_id, one.partition_index, entry.id
                            ),
                        )
                        for one in topic.partitions
                    ),
                )
                for topic in entry.topics
            ),
        )
        for entry in request.directories
    )
    return Outcome(reply=Response(directories=directories), records=tuple(changes.records))


class _Changes:
    """The records of a request, and the partitions after the records."""

    def __init__(self, image: MetadataImage, broker: BrokerRegistration) -> None:
        self.records: list[Record] = []
        self._image = image
        self._broker = broker
        self._changed: dict[PartitionKey, Partition] = {}

    def assign(self, topic_id: Uuid, index: int, directory: Uuid) -> ErrorCode:
        """Return the error of an assignment, and keep the record if the partition changes."""
        image, broker_id = self._image, self._broker.broker_id
        if topic_id not in image.topics:
            return ErrorCode.UNKNOWN_TOPIC_ID
        was = self._changed.get((topic_id, index)) or image.partitions[topic_id].get(index)
        if was is None:
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        if broker_id not in was.replicas:
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        is_online = directory in {MIGRATING, UNASSIGNED, *self._broker.log_dirs}
        known = was.directories or (MIGRATING,) * len(was.replicas)
        target = Target(
            directories=tuple(
                directory if node == broker_id else place
                for node, place in zip(was.replicas, known, strict=False)
            ),
            isr=was.isr if is_online else tuple(node for node in was.isr if node != broker_id),
            election=election_of(image, was),
        )

        def may_lead(node: NodeId) -> bool:
            return (is_online or node != broker_id) and image.may_lead(node)

        record = change_partition(image, was, may_lead, target)
        if record is not None:
            self.records.append(record)
            self._changed[was.key] = changed_partition(was, record)
        return ErrorCode.NONE
