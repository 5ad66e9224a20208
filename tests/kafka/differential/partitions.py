"""Changes of partitions, configurations and features, and requests of nodes. No tests here."""

from collections.abc import Callable
from typing import Any, Final

from kraftproof.node.wire.messages import (
    allocate_producer_ids_request,
    alter_configs_request,
    alter_partition_reassignments_request,
    alter_partition_request,
    assign_replicas_to_dirs_request,
    controller_registration_request,
    create_partitions_request,
    elect_leaders_request,
    incremental_alter_configs_request,
    list_partition_reassignments_request,
)
from kraftproof.node.wire.schema import Message
from tests.kafka.differential.brokers import an_id
from tests.kafka.differential.case import CONTROLLER, Case, Context, every_version
from tests.kafka.differential.data import TOPIC, UNKNOWN_ID

CreatePartitionsRequest = create_partitions_request.CreatePartitionsRequest
ElectLeadersRequest = elect_leaders_request.ElectLeadersRequest
ReassignRequest = alter_partition_reassignments_request.AlterPartitionReassignmentsRequest
ListRequest = list_partition_reassignments_request.ListPartitionReassignmentsRequest
AlterConfigsRequest = alter_configs_request.AlterConfigsRequest
IncrementalRequest = incremental_alter_configs_request.IncrementalAlterConfigsRequest
AlterPartitionRequest = alter_partition_request.AlterPartitionRequest
AllocateRequest = allocate_producer_ids_request.AllocateProducerIdsRequest
AssignRequest = assign_replicas_to_dirs_request.AssignReplicasToDirsRequest
RegisterRequest = controller_registration_request.ControllerRegistrationRequest
WORDS: Final = frozenset({"error_message"})
TOPIC_RESOURCE: Final = 2
METRICS: Final = 16
SET: Final = 0
APPEND: Final = 2


def grow(name: str, count: int, *, to: str = TOPIC, versions: tuple[int, ...] = (3,)) -> Case:
    """Return the case of a CreatePartitions."""
    asked = create_partitions_request.CreatePartitionsTopic(
        name=to,
        count=count,
        assignments=(create_partitions_request.CreatePartitionsAssignment(broker_ids=(1,)),)
        if count == 2
        else None,
    )
    return Case(
        name=f"grow: {name}",
        message=CreatePartitionsRequest(topics=(asked,), timeout_ms=20_000, validate_only=True),
        versions=versions,
        drawn=WORDS,
    )


def elect(name: str, *, to: str = TOPIC, index: int = 0, kind: int = 0) -> Case:
    """Return the case of an ElectLeaders."""
    asked = elect_leaders_request.TopicPartitions(topic=to, partitions=(index,))
    message = ElectLeadersRequest(topic_partitions=(asked,), election_type=kind)
    return Case(name=f"elect: {name}", message=message, versions=(1, 2), drawn=WORDS)


def reassign(name: str, replicas: tuple[int, ...] | None, *, to: str = TOPIC) -> Case:
    """Return the case of an AlterPartitionReassignments."""
    asked = alter_partition_reassignments_request.ReassignablePartition(replicas=replicas)
    named = alter_partition_reassignments_request.ReassignableTopic(name=to, partitions=(asked,))
    return Case(
        name=f"reassign: {name}",
        message=ReassignRequest(topics=(named,)),
        versions=every_version(ReassignRequest),
        drawn=WORDS,
    )


def alter(name: str, key: str, value: str | None, *, to: str = TOPIC) -> Case:
    """Return the case of an AlterConfigs that only validates."""
    asked = alter_configs_request.AlterableConfig(name=key, value=value)
    resource = alter_configs_request.AlterConfigsResource(
        resource_type=TOPIC_RESOURCE, resource_name=to, configs=(asked,)
    )
    return Case(
        name=f"alter: {name}",
        message=AlterConfigsRequest(resources=(resource,), validate_only=True),
        versions=every_version(AlterConfigsRequest),
        drawn=WORDS,
    )


def increment(
    name: str,
    key: str,
    value: str | None,
    *,
    operation: int = SET,
    to: str = TOPIC,
    kind: int = TOPIC_RESOURCE,
) -> Case:
    """Return the case of an IncrementalAlterConfigs that only validates."""
    asked = incremental_alter_configs_request.AlterableConfig(
        name=key, value=value, config_operation=operation
    )
    resource = incremental_alter_configs_request.AlterConfigsResource(
        resource_type=kind, resource_name=to, configs=(asked,)
    )
    return Case(
        name=f"increment: {name}",
        message=IncrementalRequest(resources=(resource,), validate_only=True),
        versions=every_version(IncrementalRequest),
        drawn=WORDS,
    )


def of_node(
    name: str, make: Callable[[Context], Message], versions: tuple[int, ...] = (0,), **fields: Any
) -> Case:
    """Return the case of a request of a node to the controller."""
    return Case(name=name, message=make, versions=versions, to=CONTROLLER, **fields)


def isr(name: str, *, by: int = 0, known: bool = True) -> Case:
    """Return the case of an AlterPartition of broker 2, which is no replica."""

    def make(context: Context) -> Message:
        asked = alter_partition_request.PartitionData(
            leader_epoch=0, new_isr=(2,) if context.version < 3 else (),
            new_isr_with_epochs=(alter_partition_request.BrokerState(broker_id=2),)
            if context.version >= 3 else (),
        )  # fmt: skip
        topic_id = context.topic_id(TOPIC) if known else UNKNOWN_ID
        return AlterPartitionRequest(
            broker_id=2,
            broker_epoch=context.broker_epochs.get(2, -1) + by,
            topics=(alter_partition_request.TopicData(topic_id=topic_id, partitions=(asked,)),),
        )

    return of_node(f"isr: {name}", make, every_version(AlterPartitionRequest))


def ids(name: str, *, by: int) -> Case:
    """Return the case of an AllocateProducerIds of broker 2."""

    def make(context: Context) -> Message:
        return AllocateRequest(broker_id=2, broker_epoch=context.broker_epochs.get(2, -1) + by)

    return of_node(f"ids: {name}", make, drawn=frozenset({"producer_id_start"}))


def assign(name: str, *, by: int = 0) -> Case:
    """Return the case of an AssignReplicasToDirs of broker 2, which has no replica of the topic."""

    def make(context: Context) -> Message:
        partition = assign_replicas_to_dirs_request.PartitionData()
        topic = assign_replicas_to_dirs_request.TopicData(
            topic_id=context.topic_id(TOPIC), partitions=(partition,)
        )
        directory = assign_replicas_to_dirs_request.DirectoryData(id=an_id(2002), topics=(topic,))
        return AssignRequest(
            broker_id=2,
            broker_epoch=context.broker_epochs.get(2, -1) + by,
            directories=(directory,),
        )

    return of_node(f"assign: {name}", make)


CHANGING: Final = (
    grow("each version", 2, versions=every_version(CreatePartitionsRequest)),
    grow("as many", 1),
    grow("fewer", 0),
    grow("an unknown topic", 2, to="no-such-topic"),
    elect("the preferred leader leads"),
    elect("unclean, with a leader", kind=1),
    elect("an unknown kind", kind=7),
    elect("an unknown topic", to="no-such-topic"),
    elect("an unknown partition", index=7),
    reassign("to an unknown broker", (99,)),
    reassign("to nobody", ()),
    reassign("twice the same", (1, 1)),
    reassign("a negative broker", (-1,)),
    reassign("cancel nothing", None),
    reassign("an unknown topic", (1,), to="no-such-topic"),
    Case(name="reassignments: all", message=ListRequest(topics=None), versions=(0,)),
    alter("a number", "retention.ms", "7000"),
    alter("no number", "retention.ms", "x"),
    alter("an unknown key", "no.such.key", "1"),
    alter("an unknown topic", "retention.ms", "1", to="no-such-topic"),
    increment("a number", "retention.ms", "7000"),
    increment("no value", "retention.ms", None),
    increment("append to a number", "retention.ms", "1", operation=APPEND),
    increment("append to a list", "cleanup.policy", "compact", operation=APPEND),
    increment("an unknown key", "no.such.key", "1"),
    increment("an unknown topic", "retention.ms", "1", to="no-such-topic"),
    increment("client metrics", "interval.ms", "5000", to="m", kind=METRICS),
)
NODES: Final = (
    isr("no replica"),
    isr("an old epoch", by=-1),
    isr("an unknown topic", known=False),
    ids("an old epoch", by=-1),
    ids("a block", by=0),
    assign("no replica"),
    assign("an old epoch", by=-1),
    of_node("controllers: an unknown one", lambda _: RegisterRequest(controller_id=77)),
)
