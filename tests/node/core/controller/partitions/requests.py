"""Requests of clients about partitions. No tests here."""

from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.wire.messages import (
    alter_partition_reassignments_request,
    create_partitions_request,
    elect_leaders_request,
    list_partition_reassignments_request,
)
from kraftproof.node.wire.records import metadata as records
from tests.node.core.controller.desk import Desk

Replicas = tuple[int, ...] | None


def reassignment(
    *targets: Replicas, name: str = "t", first: int = 0, may_resize: bool = True
) -> alter_partition_reassignments_request.AlterPartitionReassignmentsRequest:
    """The wanted replicas of the partitions from `first` on; None cancels."""
    module = alter_partition_reassignments_request
    partitions = tuple(
        module.ReassignablePartition(partition_index=first + place, replicas=replicas)
        for place, replicas in enumerate(targets)
    )
    return module.AlterPartitionReassignmentsRequest(
        topics=(module.ReassignableTopic(name=name, partitions=partitions),),
        allow_replication_factor_change=may_resize,
    )


def listing(
    *names: str, indexes: tuple[int, ...] = (0,)
) -> list_partition_reassignments_request.ListPartitionReassignmentsRequest:
    module = list_partition_reassignments_request
    topics = tuple(
        module.ListPartitionReassignmentsTopics(name=name, partition_indexes=indexes)
        for name in names
    )
    return module.ListPartitionReassignmentsRequest(topics=topics or None)


def election(
    *indexes: int, name: str = "t", unclean: bool = False
) -> elect_leaders_request.ElectLeadersRequest:
    """An election of the named partitions; of all partitions if none is named."""
    module = elect_leaders_request
    named = (module.TopicPartitions(topic=name, partitions=indexes),) if indexes else None
    return module.ElectLeadersRequest(topic_partitions=named, election_type=int(unclean))


def growth(
    count: int,
    *assigned: tuple[int, ...],
    names: tuple[str, ...] = ("t",),
    validate_only: bool = False,
) -> create_partitions_request.CreatePartitionsRequest:
    module = create_partitions_request
    assignments = tuple(module.CreatePartitionsAssignment(broker_ids=one) for one in assigned)
    return module.CreatePartitionsRequest(
        topics=tuple(
            module.CreatePartitionsTopic(name=name, count=count, assignments=assignments or None)
            for name in names
        ),
        timeout_ms=1000,
        validate_only=validate_only,
    )


def codes(answer) -> list[int]:
    """The error codes of the partitions of an answer, or of its topics."""
    if hasattr(answer, "responses"):
        return [entry.error_code for topic in answer.responses for entry in topic.partitions]
    if hasattr(answer, "replica_election_results"):
        topics = answer.replica_election_results
        return [entry.error_code for topic in topics for entry in topic.partition_result]
    return [result.error_code for result in answer.results]


def allow_unclean(desk: Desk) -> None:
    """Another leader has written the configuration, before anybody was fenced."""
    record = records.ConfigRecord(
        resource_type=2, resource_name="t", name="unclean.leader.election.enable", value="true"
    )
    assert apply_all(desk.image, (record,)).configs
    desk.lose()
    desk.raft.replicate((record,))
    desk.raft.high_watermark = desk.raft.log.end_offset
    desk.win()
