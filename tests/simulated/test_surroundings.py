"""Chance, clocks and the moments at which faults strike."""

from random import Random

import pytest

from cluster.protocol import ClusterOptions
from cluster.simulated import final_checks
from cluster.simulated.chance import NodeRandom, Ties
from cluster.simulated.clock import START_OF_TIME_NS, SimulatedClock
from cluster.simulated.scheduler import Scheduler
from cluster.simulated.simulated_cluster import InvariantViolatedError, SimulatedCluster

SECOND_NS = 1_000_000_000


def test_random_waits_tie_in_a_run_of_bad_luck_until_it_is_over():
    ties = Ties(0.8)
    random = NodeRandom.of("seed", ties)
    shortest = sum(random.randint(0, 1_000_000) == 0 for _ in range(1_000))
    assert 700 < shortest < 900
    ties.share = 0.0
    assert all(random.randint(0, 1_000_000) > 0 for _ in range(100))


def test_without_bad_luck_a_node_has_ordinary_chance():
    ours, plain = NodeRandom.of("seed", Ties(0.0)), Random("seed")
    assert [ours.randint(0, 99) for _ in range(50)] == [plain.randint(0, 99) for _ in range(50)]


def test_a_wall_clock_may_run_wrong_and_a_monotonic_one_never():
    scheduler = Scheduler()
    clocks = [SimulatedClock(scheduler, Random(seed), 400_000) for seed in range(20)]
    before = [clock.now() for clock in clocks]
    scheduler.now_ns = 10 * SECOND_NS
    after = [clock.now() for clock in clocks]
    steps = [
        later.monotonic - earlier.monotonic for earlier, later in zip(before, after, strict=True)
    ]
    assert steps == [10 * SECOND_NS] * 20
    walls = [(now.wall - START_OF_TIME_NS) / (10 * SECOND_NS) for now in after]
    assert 0.6 <= min(walls) < 0.8
    assert 1.2 < max(walls) <= 1.4


def test_a_shift_moves_the_wall_clock_alone():
    clock = SimulatedClock(Scheduler(), Random(1), 0)
    before = clock.now()
    clock.wall_offset_ns = -5 * SECOND_NS
    after = clock.now()
    assert (after.wall - before.wall, after.monotonic - before.monotonic) == (-5 * SECOND_NS, 0)
    assert clock.to_virtual(after.monotonic) == 0


def small_cluster(directory, seed=3):
    return SimulatedCluster(
        ClusterOptions(controllers=3, brokers=1, seed=seed, directory=directory)
    )


def led_by(cluster):
    return [
        node_id
        for node_id, machine in sorted(cluster.world.machines.items())
        if machine.process is not None
        and machine.process.status is not None
        and machine.process.status.role == "leader"
    ]


@pytest.mark.simulation
def test_a_leader_that_sleeps_is_woken_when_it_has_a_successor(tmp_path):
    overtaken = 0
    for seed in range(6):
        cluster = small_cluster(tmp_path, seed)

        async def main(cluster=cluster):
            await cluster.start()
            (leader,) = led_by(cluster)
            await cluster.pause(leader)
            await cluster.scope.sleep(int(0.9 * SECOND_NS))
            await cluster.resume(leader)
            return any(node_id != leader for node_id in led_by(cluster))

        overtaken += cluster.run(main())
    assert overtaken >= 2


@pytest.mark.simulation
def test_a_disk_that_no_crash_of_ours_leaves_ends_the_run(tmp_path):
    cluster = small_cluster(tmp_path)

    async def main():
        await cluster.start()
        await cluster.kill(1)
        cluster.world.machines[1].disk.remove("/data/meta.properties")
        await cluster.start_node(1)
        await cluster.scope.sleep(SECOND_NS)

    with pytest.raises(InvariantViolatedError, match="RecoversFromCrashes"):
        cluster.run(main())
    assert cluster.world.machines[1].process is None


@pytest.mark.simulation
def test_an_image_that_is_not_the_logs_is_seen_at_the_end(tmp_path):
    cluster = small_cluster(tmp_path)

    async def main():
        await cluster.start()
        commitments = cluster.world.ledger.commitments
        unfenced = [one for one in commitments if "BrokerRegistrationChange" in repr(one.batch)]
        commitments.remove(unfenced[-1])
        final_checks.judge(cluster.world, elected=True, converged=True)
        await cluster.scope.sleep(SECOND_NS)

    with pytest.raises(InvariantViolatedError, match="ImagesSayWhatTheLogSays"):
        cluster.run(main())
