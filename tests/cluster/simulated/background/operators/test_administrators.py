"""Administrators ask about topics that exist, and the controller decides each kind of request."""

from random import Random

import pytest
from immutables import Map
from msgspec.structs import replace

from kraftproof.cluster.protocol import ClusterOptions, nodes_of
from kraftproof.cluster.simulated.background.operators.administrative_requests import (
    NAMES,
    SERVED,
    draw_request,
    topics_to_create,
)
from kraftproof.cluster.simulated.background.operators.administrators import administrate
from kraftproof.cluster.simulated.background.operators.cluster_requests import update_features
from kraftproof.cluster.simulated.background.operators.moving_partitions import (
    draw_of_partitions,
)
from kraftproof.cluster.simulated.simulated_cluster import SimulatedCluster
from kraftproof.cluster.systems.reference.requests.vocabulary import Vocabulary
from kraftproof.node.core.controller.decisions import DECISIONS
from kraftproof.node.core.metadata.image import EMPTY_IMAGE, Partition, Topic
from kraftproof.node.wire.codec import encode_request
from kraftproof.node.wire.messages import (
    alter_partition_reassignments_request,
    broker_heartbeat_request,
    unregister_broker_request,
)
from kraftproof.node.wire.types import Uuid

SECOND_NS = 1_000_000_000
WORDS = Vocabulary(cluster_id="c", brokers=(4, 5))


def test_requests_fit_into_a_version_that_the_asked_listener_serves():
    random = Random(1)
    drawn = [draw_request(random, WORDS, None) for _ in range(500)]
    asked = [one for one in drawn if one is not None]
    assert len(asked) > len(drawn) / 2
    for one in asked:
        oldest, newest = SERVED[one.at_controller][one.message.API_KEY]
        assert oldest <= one.version <= newest
        encode_request(one.message, one.version)


def test_most_names_are_those_of_the_topics_that_exist():
    random, names = Random(1), []
    for _ in range(300):
        asked = draw_request(random, WORDS, None)
        if asked and isinstance(
            asked.message,
            alter_partition_reassignments_request.AlterPartitionReassignmentsRequest,
        ):
            names += [topic.name for topic in asked.message.topics]
    known = sum(name in NAMES for name in names)
    assert len(names) / 2 < known < len(names)
    created = topics_to_create(random, WORDS).message.topics
    assert tuple(topic.name for topic in created) == NAMES


def test_no_partition_moves_without_a_registered_broker():
    topic = Topic(topic_id=Uuid(bytes(16)), name=NAMES[0])
    partition = Partition(topic_id=topic.topic_id, index=0, replicas=(4,), isr=(4,))
    image = replace(
        EMPTY_IMAGE,
        topics=Map({topic.topic_id: topic}),
        topic_ids=Map({topic.name: topic.topic_id}),
        partitions=Map({topic.topic_id: Map({0: partition})}),
    )
    drawn = [draw_of_partitions(Random(seed), (topic.name,), image) for seed in range(100)]
    kinds = {type(one).__name__ for one in drawn if one is not None}
    assert kinds
    assert "AlterPartitionReassignmentsRequest" not in kinds


def test_features_only_validate():
    assert all(update_features(Random(seed), WORDS).validate_only for seed in range(50))


@pytest.mark.simulation
def test_each_kind_of_request_is_decided(tmp_path) -> None:
    nodes = nodes_of(controller=1, broker=3)
    cluster = SimulatedCluster(ClusterOptions(nodes=nodes, seed=5, directory=tmp_path))
    scope, seen = cluster.scope, set()
    for request in DECISIONS:
        cluster.world.monitor.on_received[request].append(
            lambda _process, event: seen.add(type(event.message))
        )

    async def main() -> None:
        await cluster.start()
        task = scope.spawn(administrate(scope, cluster.world, Random(2), nodes))
        await scope.sleep(100 * SECOND_NS)
        task.cancel()

    cluster.run(main())
    assert not cluster.violations
    others = {
        broker_heartbeat_request.BrokerHeartbeatRequest,
        unregister_broker_request.UnregisterBrokerRequest,
    }
    missing = set(DECISIONS) - seen - others
    assert {one.__name__ for one in missing} <= {"AllocateProducerIdsRequest"}
