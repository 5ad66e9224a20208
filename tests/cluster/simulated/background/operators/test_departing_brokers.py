"""Brokers leave by a controlled shutdown, and come back at once."""

import pytest

from kraftproof.cluster.protocol import ClusterOptions, nodes_of
from kraftproof.cluster.simulated.background.operators import departing_brokers
from kraftproof.cluster.simulated.simulated_cluster import SimulatedCluster

SECOND_NS = 1_000_000_000
BROKERS = {2, 3, 4}


@pytest.mark.simulation
def test_each_broker_shuts_down_while_others_lead_and_starts_again(tmp_path, monkeypatch):
    monkeypatch.setattr(departing_brokers, "SHARE", 1.0)
    options = ClusterOptions(
        nodes=nodes_of(controller=1, broker=3), seed=6, directory=tmp_path, has_data=True
    )
    cluster = SimulatedCluster(options)
    leaving = set()

    def on_published(_process, _offset, image):
        leaving.update(
            broker.broker_id
            for broker in image.brokers.values()
            if broker.in_controlled_shutdown and not broker.fenced
        )

    cluster.world.monitor.on_published.append(on_published)

    async def main():
        await cluster.start()
        await cluster.scope.sleep(50 * SECOND_NS)

    cluster.run(main())
    assert leaving == BROKERS
    assert all(cluster.world.machines[each].restart_count > 1 for each in BROKERS)
    assert cluster.violations == []
