"""Decide ElectLeaders: preferred and unclean elections at the wish of a client (KIP-183, KIP-460).

A preferred election makes the first replica the leader if the replica is in sync. An unclean
election gives a leader to a partition without a leader, even from outside the ISR, whatever the
topic's configuration.
"""

from collections.abc import Iterator
from typing import Final

from kraftproof.node.core.base.types import NO_NODE
from kraftproof.node.core.controller.outcome import Outcome
from kraftproof.node.core.controller.partitions.change import Election, Target, change_partition
from kraftproof.node.core.controller.refusals import refusal
from kraftproof.node.core.metadata.changed_partition import changed_partition
from kraftproof.node.core.metadata.image import MetadataImage, Partition, PartitionKey
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import elect_leaders_request, elect_leaders_response
from kraftproof.node.wire.records.batch import Record

Request = elect_leaders_request.ElectLeadersRequest
PartitionResult = elect_leaders_response.PartitionResult
TopicResult = elect_leaders_response.ReplicaElectionResult

MAX_PARTITIONS: Final = 10_000
"""Maximum number of partitions of a request, Kafka's limit on the records."""
_TYPES: Final = {0: Election.PREFERRED, 1: Election.UNCLEAN}
_IMPOSSIBLE: Final = {
    Election.PREFERRED: ErrorCode.PREFERRED_LEADER_NOT_AVAILABLE,
    Election.UNCLEAN: ErrorCode.ELIGIBLE_LEADERS_NOT_AVAILABLE,
}


def elect_leaders(image: MetadataImage, request: Request) -> Outcome:
    """Elect leaders of the named partitions, or wherever an election is needed."""
    election = _TYPES.get(request.election_type)
    if election is None:
        reason = f"there is no election type {request.election_type}"
        return Outcome(reply=refusal(request, ErrorCode.INVALID_REQUEST, reason))
    elections = _Elections(image, election)
    if request.topic_partitions is None:
        results = tuple(elections.all_needed())
    else:
        if sum(len(entry.partitions) for entry in request.topic_partitions) > MAX_PARTITIONS:
            reason = f"{MAX_PARTITIONS} partitions are the most that a request may name"
            return Outcome(reply=refusal(request, ErrorCode.POLICY_VIOLATION, reason))
        results = tuple(
            TopicResult(
                topic=entry.topic,
                partition_result=tuple(
                    _result(index, elections.elect_named(entry.topic, index))
                    for index in entry.partitions
                ),
            )
            for entry in request.topic_partitions
        )
    reply = elect_leaders_response.ElectLeadersResponse(replica_election_results=results)
    return Outcome(reply=reply, records=tuple(elections.records))


def _result(index: int, error: ErrorCode) -> PartitionResult:
    return PartitionResult(
        partition_id=index,
        error_code=error,
        error_message=None if error == ErrorCode.NONE else error.name,
    )


class _Elections:
    """The records of a request, and the partitions after the records."""

    def __init__(self, image: MetadataImage, election: Election) -> None:
        self.records: list[Record] = []
        self._image = image
        self._election = election
        self._changed: dict[PartitionKey, Partition] = {}

    def all_needed(self) -> Iterator[TopicResult]:
        """Elect leaders of all partitions, and yield the results of needed elections."""
        for topic in self._image.sorted_topics():
            results = []
            for partition in self._image.partitions_of(topic.topic_id):
                if len(self.records) >= MAX_PARTITIONS:
                    break  # a client asks again for the rest
                error = self._elect(partition)
                if error != ErrorCode.ELECTION_NOT_NEEDED:
                    results.append(_result(partition.index, error))
            if results:
                yield TopicResult(topic=topic.name, partition_result=tuple(results))

    def elect_named(self, name: str, index: int) -> ErrorCode:
        """Elect the leader of a partition, and return the error of its result."""
        topic = self._image.topic_named(name)
        partition = None
        if topic is not None:
            partition = self._changed.get((topic.topic_id, index))
            partition = partition or self._image.partitions[topic.topic_id].get(index)
        if partition is None:
            return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        return self._elect(partition)

    def _elect(self, partition: Partition) -> ErrorCode:
        leader = partition.leader
        if self._election is Election.UNCLEAN:
            is_needed = leader == NO_NODE
        else:
            is_needed = partition.replicas[:1] != (leader,)
        if not is_needed:
            return ErrorCode.ELECTION_NOT_NEEDED
        target = Target(election=self._election)
        record = change_partition(self._image, partition, self._image.may_lead, target)
        if record is None:
            return _IMPOSSIBLE[self._election]
        self.records.append(record)
        self._changed[partition.key] = changed_partition(partition, record)
        return ErrorCode.NONE
