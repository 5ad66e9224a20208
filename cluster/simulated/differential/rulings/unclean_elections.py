"""Let configurations allow unclean elections of partitions whose in-sync replicas are all dead."""

from random import Random

from kraftproof.cluster.simulated.differential.core.deciding_node import DecidingNode
from kraftproof.node.core.base.types import NO_NODE
from kraftproof.node.core.controller.partitions.fencing import fence
from kraftproof.node.core.metadata.image import Partition
from kraftproof.node.wire.messages import (
    Message,
    alter_configs_request,
    alter_partition_request,
    incremental_alter_configs_request,
)

UNCLEAN = "unclean.leader.election.enable"
TOPIC, BROKER = 2, 4
TRIALS = 4


def allow_unclean_elections(node: DecidingNode, random: Random) -> None:
    """Kill the in-sync replicas of a partition, and allow, or only validate, its unclean election.

    Raises:
        DifferenceError: the specification does not allow the records or the answer.
    """
    for _ in range(TRIALS):
        partition = _led(node, random)
        if partition is None:
            return
        proposal = _alone_in_sync(node, partition)
        node.ask(proposal, proposal.MAX_VERSION)
        dead = node.image.brokers[partition.leader]
        node.write_own("a fencing", fence(node.image, dead))
        topic = node.image.topics[partition.topic_id].name
        kind, name = random.choice(((TOPIC, topic), (TOPIC, topic), (BROKER, "")))
        change = random.choice((_change, _change_of_older_clients))(random, kind, name)
        node.ask(change, change.MAX_VERSION)


def _change(random: Random, kind: int, name: str) -> Message:
    module = incremental_alter_configs_request
    config = module.AlterableConfig(
        name=UNCLEAN, config_operation=0, value=random.choice(("true", "true", "false"))
    )
    resource = module.AlterConfigsResource(
        resource_type=kind, resource_name=name, configs=(config,)
    )
    return module.IncrementalAlterConfigsRequest(
        resources=(resource,), validate_only=random.random() < 0.5
    )


def _change_of_older_clients(random: Random, kind: int, name: str) -> Message:
    """Return a request that replaces all configurations of the resource."""
    module = alter_configs_request
    config = module.AlterableConfig(name=UNCLEAN, value=random.choice(("true", "true", "false")))
    resource = module.AlterConfigsResource(
        resource_type=kind, resource_name=name, configs=(config,)
    )
    return module.AlterConfigsRequest(resources=(resource,), validate_only=random.random() < 0.5)


def _led(node: DecidingNode, random: Random) -> Partition | None:
    """Return a partition with a leader and another living replica; None without one."""
    image = node.image
    found = [
        one
        for topic in image.sorted_topics()
        for one in image.partitions_of(topic.topic_id)
        if one.leader != NO_NODE
        and any(image.may_lead(each) for each in one.replicas if each != one.leader)
    ]
    return random.choice(found) if found else None


def _alone_in_sync(
    node: DecidingNode, partition: Partition
) -> alter_partition_request.AlterPartitionRequest:
    """Return the leader's proposal of an ISR without the other replicas."""
    module, leader = alter_partition_request, node.image.brokers[partition.leader]
    member = module.BrokerState(broker_id=leader.broker_id, broker_epoch=leader.epoch)
    proposed = module.PartitionData(
        partition_index=partition.index,
        leader_epoch=partition.leader_epoch,
        partition_epoch=partition.partition_epoch,
        new_isr_with_epochs=(member,),
    )
    topic = module.TopicData(topic_id=partition.topic_id, partitions=(proposed,))
    return module.AlterPartitionRequest(
        broker_id=leader.broker_id, broker_epoch=leader.epoch, topics=(topic,)
    )
