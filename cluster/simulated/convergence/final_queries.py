"""Queries to every node at the end of a run, about brokers, topics and the quorum.

The queries include requests that no workload sends. The invariants check the responses as a node
sends them (invariants/broker_answers.py, invariants/quorum_answers.py); a missing response is no
violation here.
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
    describe_log_dirs_request,
    describe_quorum_request,
    metadata_request,
)

ANSWER_TIMEOUT_NS = milliseconds(500)
MAX_TOPICS = 30
"""Maximum number of topics in a query, for speed; more topics also mean no query of all topics."""
BROKERS, CONTROLLERS = 1, 2
"""The endpoint types of DescribeCluster."""
TOPICS = 2
"""The resource type of a topic in DescribeConfigs."""
Question = tuple[Message, int]
"""A request and its version."""


async def ask_final_queries(scope: SimulatedScope, world: World, nodes: Sequence[int]) -> None:
    """Send the queries to each node in turn; skip a node that does not respond."""
    for node_id in nodes:
        machine = world.machines[node_id]
        if machine.process is None:
            continue
        with suppress(ConnectionFailed, OutcomeUnknown):
            connection = await connect(scope, world.network, node_id, ANSWER_TIMEOUT_NS)
            questions = [*_questions(machine.info, machine.process.image)]
            if world.has_data and machine.info.has("broker"):
                questions += _questions_of_directories(machine.process.image)
            for request, version in questions:
                await connection.call(request, version, ANSWER_TIMEOUT_NS)
            connection.close()


def _questions(node: NodeInfo, image: MetadataImage) -> Iterator[Question]:
    """Return the queries for a node: a controller and a broker support different requests."""
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
    yield (
        describe_configs_request.DescribeConfigsRequest(
            resources=resources, include_synonyms=True, include_documentation=True
        ),
        4,
    )


def _questions_of_directories(image: MetadataImage) -> Iterator[Question]:
    """Return queries about the log directories of a broker: all logs, and those of some topics."""
    module = describe_log_dirs_request
    yield module.DescribeLogDirsRequest(topics=None), 4
    names = [*islice(sorted(image.topic_ids), 1, MAX_TOPICS, 2), "__no-such-topic"]
    topics = tuple(
        module.DescribableLogDirTopic(topic=name, partitions=(0, 2, 99)) for name in names
    )
    yield module.DescribeLogDirsRequest(topics=topics), 3
