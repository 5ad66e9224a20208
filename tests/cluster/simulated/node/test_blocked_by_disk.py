"""Time in which a process waits for its disk is no running time, as a pause is none."""

from random import Random

import pytest

from kraftproof.cluster.capabilities import DiskFault
from kraftproof.cluster.protocol import ClusterOptions, nodes_of
from kraftproof.cluster.simulated.invariants.brokers.sessions import LOOK_EACH_NS, FencedInTime
from kraftproof.cluster.simulated.kernel.scheduler import Scheduler
from kraftproof.cluster.simulated.node.suspension import Suspension
from kraftproof.cluster.simulated.simulated_cluster import SimulatedCluster
from kraftproof.node.core.effects import PersistQuorumState
from tests.cluster.simulated.invariants.brokers.test_lease_invariants import (
    FENCES,
    SESSION_NS,
    Leasing,
    in_time,
)
from tests.cluster.simulated.invariants.invariant_harness import CONFIG, FETCH_NS, broker, image_of
from tests.cluster.simulated.network.test_network import raises
from tests.cluster.simulated.test_conditions import led_by

MS = 1_000_000
SECOND_NS = 1000 * MS


def test_a_wait_for_the_disk_is_no_running_time():
    scheduler = Scheduler()
    suspension = Suspension(scheduler, Random(1), raises)
    scheduler.now_ns = 100 * MS
    suspension.is_blocked = True
    scheduler.now_ns = 350 * MS
    assert suspension.running_ns() == 100 * MS
    suspension.is_blocked = False
    scheduler.now_ns = 400 * MS
    assert suspension.running_ns() == 150 * MS


def test_a_pause_and_a_wait_for_the_disk_at_one_time_count_once():
    scheduler = Scheduler()
    suspension = Suspension(scheduler, Random(1), raises)
    suspension.is_blocked = True
    scheduler.now_ns = 100 * MS
    suspension.pause()
    scheduler.now_ns = 200 * MS
    suspension.is_blocked = False
    scheduler.now_ns = 300 * MS
    suspension.resume()
    scheduler.now_ns = 450 * MS
    assert suspension.running_ns() == 150 * MS


@pytest.mark.simulation
@pytest.mark.parametrize("seed", range(4))
def test_a_leader_that_waited_for_its_disk_is_not_accused(tmp_path, seed):
    """Leases ran out meanwhile, and no Fetch was read: the step that waited ends before others."""
    options = ClusterOptions(nodes=nodes_of(controller=3, broker=1), seed=seed, directory=tmp_path)
    cluster = SimulatedCluster(options)

    async def main():
        await cluster.start()
        (leader,) = led_by(cluster)
        process = cluster.world.machines[leader].process
        await cluster.add_disk_fault(leader, DiskFault(slow_ns=30 * SECOND_NS))
        before_ns = process.now_ns() - process.running_ns()
        shell = process._shell
        shell._executor.add([PersistQuorumState(process._node._raft.durable)])
        shell._execute(process._clock.now())
        await cluster.remove_disk_fault(leader, DiskFault(slow_ns=30 * SECOND_NS))
        await cluster.scope.sleep(31 * SECOND_NS)
        return process.now_ns() - process.running_ns() - before_ns

    assert cluster.run(main()) > SESSION_NS + FETCH_NS


def test_a_fencing_that_is_written_may_wait_for_slow_disks():
    leasing = Leasing(in_time)
    leasing.process.publishes(1, image_of(broker(4, 0)))
    leasing.harness.now_ns += SESSION_NS
    leasing.process.appends(FENCES)
    leasing.process.moves(log_end=2)
    leasing.harness.now_ns += 10 * SESSION_NS
    leasing.process.steps()
    assert leasing.reported == []
    leasing.process.moves(high_watermark=2)
    leasing.harness.now_ns += LOOK_EACH_NS
    leasing.process.steps()
    assert leasing.reported == ["broker 4: unfenced after 22.250 s"]


def test_a_fencing_that_another_leader_wrote_excuses_nobody():
    leasing = Leasing(lambda registry: FencedInTime(CONFIG, registry))
    leasing.process.publishes(1, image_of(broker(4, 0)))
    leasing.harness.now_ns += SESSION_NS
    leasing.process.appends(FENCES)
    leasing.process.moves(role="follower", epoch=2)
    leasing.process.leads(3, log_end=9, high_watermark=9)
    leasing.harness.now_ns += 2 * SESSION_NS
    leasing.process.steps()
    assert len(leasing.reported) == 1
