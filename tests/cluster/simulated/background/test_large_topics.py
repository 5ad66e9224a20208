"""Large topics are created and deleted, in batches that a controller applies in several steps."""

from random import Random

import pytest

from kraftproof.cluster.protocol import ClusterOptions, nodes_of
from kraftproof.cluster.simulated.background.large_topics import create_and_delete_large_topics
from kraftproof.cluster.simulated.simulated_cluster import SimulatedCluster
from kraftproof.node.core.metadata.slices import RECORDS_A_STEP

SECOND_NS = 1_000_000_000


@pytest.mark.simulation
def test_large_topics_come_and_go(tmp_path) -> None:
    nodes = nodes_of(controller=1, broker=1)
    cluster = SimulatedCluster(ClusterOptions(nodes=nodes, seed=5, directory=tmp_path))
    scope, partitions = cluster.scope, set()

    def on_published(_process, _offset, image) -> None:
        large = [topic for name, topic in image.topic_ids.items() if name.startswith("__large-")]
        partitions.add(sum(len(image.partitions_of(topic_id)) for topic_id in large))

    cluster.world.monitor.on_published.append(on_published)

    async def main() -> None:
        await cluster.start()
        load = create_and_delete_large_topics(scope, cluster.world.network, Random(2), (2,))
        task = scope.spawn(load)
        await scope.sleep(60 * SECOND_NS)
        task.cancel()

    cluster.run(main())
    assert not cluster.violations
    assert 0 in partitions
    assert max(partitions) > RECORDS_A_STEP
