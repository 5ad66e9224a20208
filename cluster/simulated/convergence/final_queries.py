"""What every node is asked at the end of a run: what it says by itself of brokers and topics.

The answers are judged where they leave (broker_answer_invariants.py, quorum_answer_invariants.py),
among them those to questions that no workload puts. Not: whether anything is answered at all.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice

from kraftproof.cluster.connection import ConnectionFailed, OutcomeUnknown
from kraftproof.cluster.protocol import NodeInfo
from kraftproof.cluster.simulated.kernel.scope import SimulatedScope
from kraftproof.cluster.simulated.network.connection import connect
from kraftproof.cluster.simulated.world import World
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.wire.messages import (
    Message,
    describe_cluster_request,
    describe_configs_request,
    describe_quorum_request,
    metadata_request,
)

ANSWER_TIMEOUT_NS = milliseconds(500)
MAX_TOPICS = 30
"""So many are asked for by name; all of them only where there are no more, for speed."""
BROKERS, CONTROLLERS = 1, 2
"""The types of endpoints that DescribeCluster may be asked for."""
TOPICS = 2
"""The type of resources that are topics."""
Question = tuple[Message, int]
"""A request, and the version that it is asked in."""


async def ask_final_queries(scope: SimulatedScope, world: World, nodes: Sequence[int]) -> None:
    """Ask each of these nodes in turn; who does not answer is left."""
    for node_id in nodes:
        machine = world.machines[node_id]
        if machine.process is None:
            continue
        with suppress(ConnectionFailed, OutcomeUnknown):
            connection = await connect(scope, world.network, node_id, ANSWER_TIMEOUT_NS)
            for request, version in _questions(machine.info, machine.process.image):
                await connection.call(request, version, ANSWER_TIMEOUT_NS)
            connection.close()


def _questions(node: NodeInfo, image: MetadataImage) -> Iterator[Question]:
    """Return what a node can say, by the listener that it has."""
    if node.has("controller"):
        yield describe_cluster_request.DescribeClusterRequest(endpoint_type=CONTROLLERS), 1
        partition = describe_quorum_request.PartitionData(partition_index=0)
        topic = describe_quorum_request.TopicData(
            topic_name="__cluster_metadata", partitions=(partition,)
        )
        yield describe_quorum_request.DescribeQuorumRequest(topics=(topic,)), 2
        return
    for fenced_too in (False, True):
        yield (
            describe_cluster_request.DescribeClusterRequest(
                endpoint_type=BROKERS, include_fenced_brokers=fenced_too
            ),
            2,
        )
    names = [*islice(sorted(image.topic_ids), MAX_TOPICS), "__no-such-topic"]
    named = tuple(metadata_request.MetadataRequestTopic(name=name) for name in names)
    yield metadata_request.MetadataRequest(topics=named, allow_auto_topic_creation=False), 12
    if len(image.topic_ids) <= MAX_TOPICS:
        yield metadata_request.MetadataRequest(topics=None, allow_auto_topic_creation=False), 12
    resources = tuple(
        describe_configs_request.DescribeConfigsResource(
            resource_type=TOPICS, resource_name=name, configuration_keys=None
        )
        for name in names
    )
    yield describe_configs_request.DescribeConfigsRequest(resources=resources), 4
