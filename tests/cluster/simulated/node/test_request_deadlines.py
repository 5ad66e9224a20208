"""A client of a controller whose disk stands still is answered within the request's time."""

import pytest

from kraftproof.cluster.capabilities import DiskFault
from kraftproof.cluster.protocol import ClusterOptions, nodes_of
from kraftproof.cluster.simulated.simulated_cluster import SimulatedCluster
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.core.effects import Append
from kraftproof.node.wire.errors import ErrorCode
from tests.cluster.simulated.test_conditions import SECOND_NS
from tests.node.core.controller.desk import unregistration

REQUEST_NS = milliseconds(1000)
"""The request time-out of the chaos profile."""
BROKER = 2
STALLED = DiskFault(slow_ns=600 * SECOND_NS)
"""An fsync takes up to this long; the seeds' first draws are far above the request time-out."""


def sole_controller(directory, seed):
    """A controller that commits when its own disk has; it cleans no log meanwhile."""
    never = ("metadata.log.max.record.bytes.between.snapshots", str(1 << 40))
    return SimulatedCluster(
        ClusterOptions(
            nodes=nodes_of(controller=1, broker=1),
            seed=seed,
            directory=directory,
            node_config=(never,),
        )
    )


def stall_before_the_leader_change(machine):
    """Let the disk stall once the election is on it, so that only the claim waits."""

    def on_effect(effect):
        if isinstance(effect, Append):
            machine.set_disk_fault(lambda health: health.faults.append(STALLED))
            machine.env.on_effect = None

    machine.env.on_effect = on_effect


async def ask(cluster, message, version):
    """Return the error of an answer and how long that took."""
    connection = await cluster.connect(1, SECOND_NS)
    asked_ns = cluster.scope.now()
    answer = await connection.call(message, version, 60 * SECOND_NS)
    return answer.error_code, cluster.scope.now() - asked_ns


@pytest.mark.simulation
@pytest.mark.parametrize("seed", range(4))
def test_an_answer_that_no_majority_confirms_ends_within_the_request_time_out(tmp_path, seed):
    cluster = sole_controller(tmp_path, seed)

    async def main():
        await cluster.start()
        await cluster.add_disk_fault(1, STALLED)
        return await ask(cluster, unregistration(BROKER), 0)

    error, took_ns = cluster.run(main())
    assert error == ErrorCode.REQUEST_TIMED_OUT
    assert REQUEST_NS <= took_ns < 1.1 * REQUEST_NS


@pytest.mark.simulation
@pytest.mark.parametrize("seed", range(4))
def test_a_new_leader_that_can_not_claim_refuses_within_the_request_time_out(tmp_path, seed):
    cluster = sole_controller(tmp_path, seed)

    async def main():
        await cluster.start()
        await cluster.kill(1)
        stall_before_the_leader_change(cluster.world.machines[1])
        await cluster.start_node(1)
        return await ask(cluster, unregistration(7), 0)

    error, took_ns = cluster.run(main())
    assert error == ErrorCode.NOT_CONTROLLER
    assert REQUEST_NS <= took_ns < 1.1 * REQUEST_NS
