"""An operator opens a topic for unclean elections, amid other settings of the same request."""

from random import Random

import pytest

from kraftproof.cluster.protocol import ClusterOptions, nodes_of
from kraftproof.cluster.simulated.background.operators.unclean_topic import (
    NAMES,
    UNCLEAN,
    change_settings,
    draw_change,
)
from kraftproof.cluster.simulated.invariants.partitions.replicas import TOPIC
from kraftproof.cluster.simulated.simulated_cluster import SimulatedCluster

SECOND_NS = 1_000_000_000


def test_requests_have_the_setting_alone_and_beside_others():
    sizes = set()
    for seed in range(100):
        for resource in draw_change(Random(seed)).resources:
            names = [config.name for config in resource.configs]
            assert len(names) == len(set(names)) > 0
            values = {config.name: config.value for config in resource.configs}
            if resource.resource_name == NAMES[0]:
                sizes.add(len(names))
                assert UNCLEAN in names
            else:
                assert values.get(UNCLEAN) != "true"
    assert sizes == {1, 2, 3}


@pytest.mark.simulation
def test_the_setting_comes_and_goes(tmp_path) -> None:
    nodes = nodes_of(controller=1, broker=2)
    cluster = SimulatedCluster(ClusterOptions(nodes=nodes, seed=5, directory=tmp_path))
    scope, values = cluster.scope, set()

    def on_published(_process, _offset, image) -> None:
        values.add(image.configs.get((TOPIC, NAMES[0]), {}).get(UNCLEAN))

    cluster.world.monitor.on_published.append(on_published)

    async def main() -> None:
        await cluster.start()
        load = change_settings(scope, cluster.world.network, Random(2), (2, 3))
        task = scope.spawn(load)
        await scope.sleep(40 * SECOND_NS)
        task.cancel()

    cluster.run(main())
    assert not cluster.violations
    assert {"true", None} <= values
