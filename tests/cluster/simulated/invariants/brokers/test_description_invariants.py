"""Descriptions of topics, resources, producers and coordinators are judged by image and log."""

from random import Random

import pytest
from msgspec.structs import replace

from kraftproof.cluster.protocol import ClusterOptions, nodes_of
from kraftproof.cluster.simulated.background.operators import describers
from kraftproof.cluster.simulated.invariants.brokers.descriptions import DescriptionsAreTrue
from kraftproof.cluster.simulated.simulated_cluster import SimulatedCluster
from kraftproof.node.core.broker.topic_pages import describe_topic_partitions
from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    describe_producers_request,
    describe_producers_response,
    describe_topic_partitions_request,
    find_coordinator_request,
    find_coordinator_response,
    list_config_resources_request,
    list_config_resources_response,
    offset_fetch_request,
    offset_fetch_response,
)
from kraftproof.node.wire.principal import ANONYMOUS
from tests.cluster.simulated.invariants.invariant_harness import CONFIG
from tests.cluster.simulated.invariants.partition_case import PartitionCase
from tests.support.node.raw_batches import raw

SECOND_NS = 1_000_000_000


def received(request, version=0):
    return Received(
        request=1,
        message=request,
        version=version,
        on_controller_listener=False,
        principal=ANONYMOUS,
        client_host="h",
    )


def judged(request, answer, version=0, *, data=False):
    """Return the reports of an answer of broker 1, which leads the only partition of topic t."""
    case = PartitionCase(DescriptionsAreTrue(CONFIG))
    case.append(1, raw(0, epoch=0, producer_id=7, producer_epoch=1, base_sequence=3))
    if data:
        case.answer(1, request, answer, version)
        return case.reported
    case.nodes[1].replies(received(request, version), answer)
    return case.reported


def page(**fields):
    request = describe_topic_partitions_request.DescribeTopicPartitionsRequest(**fields)
    image = PartitionCase(DescriptionsAreTrue(CONFIG)).image
    return request, describe_topic_partitions(image, received(request), request, None, "")


def test_pages_are_compared_with_the_image():
    request, answer = page(response_partition_limit=5)
    assert judged(request, answer) == []
    (topic,) = answer.topics
    (partition,) = topic.partitions
    other = replace(topic, partitions=(replace(partition, leader_id=2),))
    (wrong,) = judged(request, replace(answer, topics=(other,)))
    assert "partition t-0 is described as (2, 0, (1, 2), (1, 2))" in wrong
    wrongs = judged(request, replace(answer, topics=()))
    assert [wrong.partition(": ")[2] for wrong in wrongs] == [
        "0 partitions from [] are described, not [('t', 0)]",
        "the page is called the last, ('t', 0) is left",
    ]
    assert len(judged(request, replace(answer, topics=(topic, topic)))) == 1


def test_an_answer_is_judged_before_its_step_publishes_the_next_image():
    """The simulation showed this at seed 207860038: a broker applied 509 records in pieces."""
    request, answer = page()
    case = PartitionCase(DescriptionsAreTrue(CONFIG))
    node, monitor = case.nodes[1], case.harness.monitor
    for hook in monitor.on_replying[type(request)]:
        hook(node, received(request), answer)
    node.image = EMPTY_IMAGE
    for hook in monitor.on_replied[type(request)]:
        hook(node, received(request), answer)
    assert case.reported == []


def test_a_cursor_names_the_next_topic():
    named = tuple(
        describe_topic_partitions_request.TopicRequest(name=name) for name in ("t", "u", "v")
    )
    request, answer = page(topics=named, response_partition_limit=1)
    assert (answer.next_cursor.topic_name, answer.next_cursor.partition_index) == ("u", 0)
    assert judged(request, answer) == []
    later = replace(answer, next_cursor=replace(answer.next_cursor, topic_name="v"))
    (wrong,) = judged(request, later)
    assert wrong.endswith("the next page begins at v-0")


@pytest.mark.parametrize(
    ("version", "kinds", "listed", "wrong"),
    [
        (1, (2,), [(2, "t")], None),
        (1, (2, 16), [(2, "t")], None),
        (0, (), [], None),
        (1, (2,), [], "0 resources are listed, not 1: [(2, 't')]"),
        (0, (), [(2, "t")], "1 resources are listed, not 0: [(2, 't')]"),
        (1, (3,), [], "unknown types get error 0"),
    ],
)
def test_resources_are_those_of_the_image(version, kinds, listed, wrong):
    request = list_config_resources_request.ListConfigResourcesRequest(resource_types=kinds)
    answer = list_config_resources_response.ListConfigResourcesResponse(
        config_resources=tuple(
            list_config_resources_response.ConfigResource(resource_type=kind, resource_name=name)
            for kind, name in listed
        )
    )
    expected = [] if wrong is None else [f"ListConfigResourcesRequest v{version}: {wrong}"]
    assert judged(request, answer, version) == expected


def test_producers_are_those_of_the_log():
    request = describe_producers_request.DescribeProducersRequest(
        topics=(describe_producers_request.TopicRequest(name="t", partition_indexes=(0,)),)
    )
    right = {"producer_epoch": 1, "last_sequence": 3, "last_timestamp": 1000}
    for fields, is_wrong in ((right, False), (right | {"last_sequence": 2}, True)):
        module = describe_producers_response
        known = module.ProducerState(producer_id=7, **fields)
        part = module.PartitionResponse(partition_index=0, active_producers=(known,))
        topic = module.TopicResponse(name="t", partitions=(part,))
        answer = module.DescribeProducersResponse(topics=(topic,))
        wrong = "producer 7 of t-0 is (1, 2, 1000), not (1, 3, 1000)"
        expected = [f"DescribeProducersRequest v0: {wrong}"] * is_wrong
        assert judged(request, answer, data=True) == expected


@pytest.mark.parametrize(
    ("kind", "version", "error", "node", "is_wrong"),
    [
        (0, 4, ErrorCode.NONE, 1, False),
        (0, 4, ErrorCode.NONE, 2, True),
        (0, 1, ErrorCode.UNSUPPORTED_VERSION, -1, False),
        (2, 6, ErrorCode.NONE, 1, True),
        (5, 4, ErrorCode.INVALID_REQUEST, -1, False),
        (5, 4, ErrorCode.NONE, 1, True),
    ],
)
def test_the_asked_broker_is_the_coordinator(kind, version, error, node, is_wrong):
    module = find_coordinator_response
    request = find_coordinator_request.FindCoordinatorRequest(
        key="k", key_type=kind, coordinator_keys=("k",)
    )
    found = module.Coordinator(key="k", node_id=node, error_code=error)
    answer = module.FindCoordinatorResponse(error_code=error, node_id=node, coordinators=(found,))
    assert len(judged(request, answer, version, data=True)) == is_wrong


@pytest.mark.parametrize(("offset", "index", "is_wrong"), [(-1, 3, 0), (5, 3, 1), (-1, 4, 1)])
def test_a_group_has_no_offset(offset, index, is_wrong):
    module = offset_fetch_response
    topic = offset_fetch_request.OffsetFetchRequestTopic(name="t", partition_indexes=(3,))
    request = offset_fetch_request.OffsetFetchRequest(group_id="g", topics=(topic,))
    part = module.OffsetFetchResponsePartition(partition_index=index, committed_offset=offset)
    found = module.OffsetFetchResponseTopic(name="t", partitions=(part,))
    answer = module.OffsetFetchResponse(topics=(found,))
    assert len(judged(request, answer, 3, data=True)) == is_wrong


@pytest.mark.simulation
def test_a_run_with_describers_is_valid(tmp_path) -> None:
    nodes = nodes_of(controller=1, broker=2)
    cluster = SimulatedCluster(
        ClusterOptions(nodes=nodes, seed=5, directory=tmp_path, has_data=True)
    )
    scope, kinds = cluster.scope, set()
    hooks = cluster.world.monitor.on_data_answered
    hooks[offset_fetch_request.OffsetFetchRequest].append(
        lambda _process, event, _message: kinds.add(type(event.message))
    )

    async def main() -> None:
        await cluster.start()
        asking = describers.describe(scope, cluster.world.network, Random(3), [2, 3], has_data=True)
        task = scope.spawn(asking)
        await scope.sleep(40 * SECOND_NS)
        task.cancel()

    cluster.run(main())
    assert not cluster.violations
    assert kinds == {offset_fetch_request.OffsetFetchRequest}
