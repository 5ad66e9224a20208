"""A living broker that is unregistered returns, and a broker that does not return goes red."""

from random import Random

import pytest

from kraftproof.cluster.protocol import ClusterOptions, nodes_of
from kraftproof.cluster.simulated.convergence.unregistered_broker import draw_broker, judge_return
from kraftproof.cluster.simulated.simulated_cluster import InvariantViolatedError, SimulatedCluster

CORE = (1, 2, 3)


@pytest.mark.simulation
@pytest.mark.parametrize("is_paused", [False, True])
def test_an_unregistered_broker_has_to_return(tmp_path, is_paused):
    cluster = SimulatedCluster(
        ClusterOptions(nodes=nodes_of(controller=1, broker=2), seed=3, directory=tmp_path)
    )
    before = []

    async def main():
        await cluster.start()
        before.append(cluster.world.machines[2].process.image.brokers[2].epoch)
        if is_paused:
            await cluster.pause(2)
        await judge_return(cluster.scope, cluster.world, CORE, 2)

    if is_paused:
        with pytest.raises(InvariantViolatedError, match="UnregisteredBrokersReturn"):
            cluster.run(main())
        return
    cluster.run(main())
    broker = cluster.world.machines[2].process.image.brokers[2]
    assert not broker.fenced
    assert broker.epoch > before[0]


def test_half_of_the_runs_unregister_a_broker_of_the_core(tmp_path):
    cluster = SimulatedCluster(
        ClusterOptions(nodes=nodes_of(controller=1, broker=2), seed=3, directory=tmp_path)
    )
    drawn = [draw_broker(cluster.world, (1, 3), Random(seed)) for seed in range(100)]
    assert set(drawn) == {None, 3}
