"""A leader that the controllers do not hear serves on, and its records go after the heal."""

import pytest

from kraftproof.cluster.protocol import ClusterOptions, Link, nodes_of
from kraftproof.cluster.simulated.background.operators import former_leaders
from kraftproof.cluster.simulated.background.partition_clients import NAME
from kraftproof.cluster.simulated.simulated_cluster import SimulatedCluster
from kraftproof.node.core.effects import Append, Truncate

SECOND_NS = 1_000_000_000
CONTROLLER, BROKERS = 1, (2, 3, 4)


@pytest.mark.simulation
def test_a_former_leader_appends_and_truncates_again(tmp_path, monkeypatch):
    monkeypatch.setattr(former_leaders, "SHARE", 1.0)
    options = ClusterOptions(
        nodes=nodes_of(controller=1, broker=3), seed=5, directory=tmp_path, has_data=True
    )
    cluster = SimulatedCluster(options)
    world, appended, truncated = cluster.world, set(), set()

    def on_changed(process, log, effect):
        mirror = process.partitions.get(log)
        if mirror is None or mirror.topic != NAME:
            return
        node = process.node_id
        is_cut = world.links.is_cut(Link(node, CONTROLLER))
        if isinstance(effect, Append) and is_cut and b"zombie" in effect.batch.data:
            appended.add(node)
        elif isinstance(effect, Truncate) and node in appended:
            truncated.add(node)

    world.monitor.on_partition_changed.append(on_changed)

    async def main():
        await cluster.start()
        for _ in range(60):
            await cluster.scope.sleep(SECOND_NS)
            if truncated:
                return

    cluster.run(main())
    assert truncated, "a former leader has given up its records"
    assert cluster.violations == []
