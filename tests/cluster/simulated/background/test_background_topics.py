"""Topics of nobody's lie on all brokers there are, and come and go."""

from random import Random

import pytest

from kraftproof.cluster.protocol import ClusterOptions, nodes_of
from kraftproof.cluster.simulated.background import background_topics
from kraftproof.cluster.simulated.simulated_cluster import SimulatedCluster

SECOND_NS = 1_000_000_000


@pytest.mark.simulation
@pytest.mark.parametrize("seed", range(4))
def test_a_cluster_without_brokers_has_no_such_topics(tmp_path, seed):
    """Of four seeds two at least would have them."""
    options = ClusterOptions(nodes=nodes_of(controller=3, broker=0), seed=seed, directory=tmp_path)
    cluster = SimulatedCluster(options)

    async def main():
        await cluster.start()
        await cluster.scope.sleep(10 * SECOND_NS)
        return cluster.world.machines[1].process.status.role

    assert cluster.run(main()) in {"leader", "follower"}


@pytest.mark.simulation
def test_a_few_topics_with_several_replicas_are_there(tmp_path):
    cluster = SimulatedCluster(
        ClusterOptions(nodes=nodes_of(controller=3, broker=3), seed=3, directory=tmp_path)
    )
    scope = cluster.scope

    async def main():
        await cluster.start()
        brokers = {node_id: cluster.world.machines[node_id] for node_id in (4, 5, 6)}
        task = scope.spawn(
            background_topics.create_and_delete_topics(
                scope, cluster.world.network, Random(1), brokers
            )
        )
        await scope.sleep(90 * SECOND_NS)
        task.cancel()
        return cluster.world.machines[4].process.image

    image = cluster.run(main())
    names = {name for name in image.topic_ids if name.startswith("__tenant-")}
    assert 0 < len(names) <= background_topics.MAX_TOPICS
    assert "__tenant-1" not in names
    factors = {len(image.partitions[image.topic_ids[name]][0].replicas) for name in names}
    assert max(factors) > 1
    assert {broker.rack for broker in image.sorted_brokers()} == {"east", "west", None}
