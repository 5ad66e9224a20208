"""A process that does not exit after the request to stop is found; a slow or dead one is not."""

import pytest

from kraftproof.cluster.protocol import ClusterOptions, nodes_of
from kraftproof.cluster.simulated.simulated_cluster import InvariantViolatedError, SimulatedCluster
from kraftproof.node.core.broker.membership import Membership
from kraftproof.node.core.node import Node

NODES = nodes_of(controller=3, broker=2)
SECOND_NS = 1_000_000_000


@pytest.fixture
def cluster(tmp_path):
    return SimulatedCluster(ClusterOptions(nodes=NODES, seed=6, directory=tmp_path))


def stop(cluster: SimulatedCluster, node_id: int, *, without_controllers: bool = False) -> int:
    """Stop a node, and return the milliseconds until the exit."""

    async def main() -> int:
        await cluster.start()
        if without_controllers:
            for controller in (1, 2, 3):
                await cluster.kill(controller)
        began_ns = cluster.scope.now()
        await cluster.stop_node(node_id)
        assert cluster.world.machines[node_id].process is None
        return (cluster.scope.now() - began_ns) // 1_000_000

    return cluster.run(main())


def test_a_node_exits_soon_and_without_controllers_within_a_session(cluster) -> None:
    heartbeat_ms = cluster.world.timeouts.heartbeat_interval_ns // 1_000_000
    assert stop(cluster, 4) < 500 + heartbeat_ms  # the other brokers have to see the moves


def test_without_controllers_a_broker_exits_within_a_session(cluster) -> None:
    session_ms = cluster.world.timeouts.session_ns // 1_000_000
    assert session_ms - 200 < stop(cluster, 5, without_controllers=True) < session_ms + 1_500


@pytest.mark.parametrize(
    ("node_id", "kind", "name"),
    [(1, Node, "_schedule_exit"), (4, Membership, "stop")],
    ids=["controller", "broker"],
)
def test_a_process_that_does_not_exit_is_found(cluster, monkeypatch, node_id, kind, name) -> None:
    monkeypatch.setattr(kind, name, lambda *_: None)
    with pytest.raises(InvariantViolatedError):
        stop(cluster, node_id)
    assert {violation.invariant for violation in cluster.violations} == {"ShutdownsEnd"}
