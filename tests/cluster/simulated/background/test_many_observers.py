"""Ever new replica ids do not fill a leader's memory; a leader that keeps them all is found."""

from random import Random

import pytest

from kraftproof.cluster.protocol import ClusterOptions, nodes_of
from kraftproof.cluster.simulated.background import many_observers, random_requests
from kraftproof.cluster.simulated.background.many_observers import fetch_from_leader
from kraftproof.cluster.simulated.invariants.resources import bounds
from kraftproof.cluster.simulated.simulated_cluster import InvariantViolatedError, SimulatedCluster
from kraftproof.node.core.raft import replicas

pytestmark = pytest.mark.simulation

NODES = nodes_of(controller=1, broker=1)


@pytest.fixture
def cluster(tmp_path, monkeypatch):
    for load in (many_observers, random_requests):
        monkeypatch.setattr(load, "SHARE", 0.0)
    return SimulatedCluster(ClusterOptions(nodes=NODES, seed=5, directory=tmp_path))


def observers_after(cluster: SimulatedCluster) -> int:
    """Return how many observers the leader remembers after the Fetches."""

    async def main() -> int:
        await cluster.start()
        assert await fetch_from_leader(cluster.scope, cluster.world, NODES, Random(1)) == []
        await cluster.scope.sleep(2 * bounds.LOOK_NS)
        process = cluster.world.machines[1].process
        assert process is not None
        return dict(process.table_sizes())["Replicas.observers"]

    return cluster.run(main())


def test_a_leader_remembers_some_of_many_observers(cluster) -> None:
    assert observers_after(cluster) == replicas.OBSERVERS_KEPT
    assert not cluster.violations


def test_a_leader_that_remembers_all_is_found(cluster, monkeypatch) -> None:
    monkeypatch.setattr(replicas, "OBSERVERS_KEPT", 1 << 30)
    with pytest.raises(InvariantViolatedError):
        observers_after(cluster)
    [violation] = cluster.violations
    assert violation.invariant == "TablesAreBounded"
    assert "Replicas.observers" in violation.detail
