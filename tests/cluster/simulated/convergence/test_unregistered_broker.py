"""A living broker that is unregistered returns, and a broker that does not return goes red."""

from random import Random

import pytest
from msgspec.structs import replace

from kraftproof.cluster.protocol import ClusterOptions, nodes_of
from kraftproof.cluster.simulated.convergence import unregistered_broker
from kraftproof.cluster.simulated.convergence.unregistered_broker import (
    draw_broker,
    judge_return,
    longest_return_ns,
)
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


RETURN = [(60, "fenced"), (70, None), (140, "fenced"), (160, "unfenced")]
"""What the broker's image tells, from this percentage of the longest time on: seed 7000561."""
LOST = [(60, "fenced"), (70, None)]
AGAIN_AND_AGAIN = [(10 * n, (None, "fenced")[n % 2]) for n in range(100)]


@pytest.mark.simulation
@pytest.mark.parametrize(("told", "is_red"), [(RETURN, False), (LOST, True), ([], True)])
def test_a_broker_that_a_client_removes_once_more_has_the_whole_time_again(
    tmp_path, monkeypatch, told, is_red
):
    assert is_return_missed(tmp_path, monkeypatch, told) == is_red


@pytest.mark.simulation
def test_of_a_broker_that_clients_remove_again_and_again_nothing_is_said(tmp_path, monkeypatch):
    assert not is_return_missed(tmp_path, monkeypatch, AGAIN_AND_AGAIN)


def is_return_missed(tmp_path, monkeypatch, told):
    """Judge the return of a broker whose image tells this; return whether the check is red."""
    cluster = SimulatedCluster(
        ClusterOptions(nodes=nodes_of(controller=1, broker=2), seed=3, directory=tmp_path)
    )
    scope, asked, first = cluster.scope, [], None

    def registration(world, broker):
        asked.append(scope.now())
        percent = 100 * (asked[-1] - asked[0]) // longest_return_ns(world.timeouts, 0)
        state = next((state for begins, state in reversed(told) if percent >= begins), None)
        if len(asked) == 1:
            return first
        return state and replace(first, epoch=first.epoch + percent, fenced=state == "fenced")

    async def main():
        nonlocal first
        await cluster.start()
        first = cluster.world.machines[2].process.image.brokers[2]
        monkeypatch.setattr(unregistered_broker, "_registration", registration)
        await judge_return(scope, cluster.world, CORE, 2)

    try:
        cluster.run(main())
    except InvariantViolatedError as violated:
        assert "UnregisteredBrokersReturn" in str(violated)  # noqa: PT017
        return True
    return False


def test_half_of_the_runs_unregister_a_broker_of_the_core(tmp_path):
    cluster = SimulatedCluster(
        ClusterOptions(nodes=nodes_of(controller=1, broker=2), seed=3, directory=tmp_path)
    )
    drawn = [draw_broker(cluster.world, (1, 3), Random(seed)) for seed in range(100)]
    assert set(drawn) == {None, 3}
