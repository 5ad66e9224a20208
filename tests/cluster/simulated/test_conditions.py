"""Random choices, clocks and the moments at which faults are injected."""

from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kraftproof.cluster.protocol import ClusterOptions, Link, nodes_of
from kraftproof.cluster.simulated.convergence import final_checks
from kraftproof.cluster.simulated.convergence.final_checks import FinalOutcome
from kraftproof.cluster.simulated.kernel.clock import START_OF_TIME_NS, SimulatedClock
from kraftproof.cluster.simulated.kernel.randomness import ForcedTies, NodeRandom
from kraftproof.cluster.simulated.kernel.scheduler import Scheduler
from kraftproof.cluster.simulated.simulated_cluster import InvariantViolatedError, SimulatedCluster
from kraftproof.node.core.base.types import Monotonic

SECOND_NS = 1_000_000_000


def test_random_waits_tie_in_a_run_of_bad_luck_until_it_is_over():
    ties = ForcedTies(0.8)
    random = NodeRandom.of("seed", ties)
    shortest = sum(random.randint(0, 1_000_000) == 0 for _ in range(1_000))
    assert 700 < shortest < 900
    ties.share = 0.0
    assert all(random.randint(0, 1_000_000) > 0 for _ in range(100))


def test_without_bad_luck_a_node_has_ordinary_chance():
    ours, plain = NodeRandom.of("seed", ForcedTies(0.0)), Random("seed")
    assert [ours.randint(0, 99) for _ in range(50)] == [plain.randint(0, 99) for _ in range(50)]


def test_a_wall_clock_may_run_wrong_and_a_monotonic_one_only_by_faults():
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
        ClusterOptions(nodes=nodes_of(controller=3, broker=1), seed=seed, directory=directory)
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
def test_a_voter_grows_deaf_when_it_has_just_voted(tmp_path):
    waited = []
    for seed in range(8, 14):
        cluster = small_cluster(tmp_path, seed)

        async def main(cluster=cluster):
            await cluster.start()
            (leader,) = led_by(cluster)
            voter = min({1, 2, 3} - {leader})
            process = cluster.world.machines[voter].process
            epoch = process.status.epoch
            await cluster.kill(leader)
            await cluster.scope.sleep(int(0.85 * SECOND_NS))
            asked_ns = cluster.scope.now()
            await cluster.cut(frozenset(Link(other, voter) for other in {1, 2, 3} - {voter}))
            has_waited = cluster.scope.now() > asked_ns
            await cluster.scope.sleep(SECOND_NS // 1000)
            assert process.status.epoch == epoch + has_waited
            return has_waited

        waited.append(cluster.run(main()))
    assert sum(waited) >= 2


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
        commitments = cluster.world.committed_log.commitments
        unfenced = [one for one in commitments if "BrokerRegistrationChange" in repr(one.batch)]
        commitments.remove(unfenced[-1])
        everybody = [node.node_id for node in cluster.nodes]
        final_checks.judge(
            cluster.world, everybody, FinalOutcome(elected=True, created=True, end=0)
        )
        await cluster.scope.sleep(SECOND_NS)

    with pytest.raises(InvariantViolatedError, match="ImagesSayWhatTheLogSays"):
        cluster.run(main())


def test_a_wrong_rate_begins_where_the_clock_stands_and_what_it_gained_stays():
    scheduler = Scheduler()
    clock = SimulatedClock(scheduler, Random(1), 0)
    start = clock.now().monotonic
    shown = []
    for rate_ppm in (50_000, -50_000, 0):
        clock.set_rate(rate_ppm)
        assert clock.rate_ppm == rate_ppm
        shown.append(clock.now().monotonic - start)
        scheduler.now_ns += 10 * SECOND_NS
        shown.append(clock.now().monotonic - start)
    assert [ns / SECOND_NS for ns in shown] == [0, 10.5, 10.5, 20, 20, 30]


@given(
    st.lists(st.tuples(st.integers(-50_000, 50_000), st.integers(0, 5 * SECOND_NS)), max_size=6),
    st.integers(0, 3 * SECOND_NS),
)
def test_a_deadline_comes_when_the_clock_shows_it_and_not_before(changes, ahead_ns):
    scheduler = Scheduler()
    clock = SimulatedClock(scheduler, Random(1), 400_000)
    last = clock.now().monotonic
    for rate_ppm, passed_ns in changes:
        clock.set_rate(rate_ppm)
        scheduler.now_ns += passed_ns
        assert clock.now().monotonic >= last
        last = clock.now().monotonic
    deadline = Monotonic(last + ahead_ns)
    scheduler.now_ns = clock.to_virtual(deadline)
    assert clock.now().monotonic >= deadline
    scheduler.now_ns -= 1
    assert clock.now().monotonic < deadline


def test_wall_clocks_differ_from_the_start_and_a_strobe_moves_them_alone():
    scheduler = Scheduler()
    clock = SimulatedClock(scheduler, Random(1), 0, wall_difference_ns=-3 * SECOND_NS)
    assert clock.now().wall == START_OF_TIME_NS - 3 * SECOND_NS
    assert clock.injected_ns == 0
    clock.strobe(7 * SECOND_NS, 10_000_000)
    before, found = clock.now().monotonic, []
    for _ in range(4):
        found.append(clock.injected_ns // SECOND_NS)
        assert clock.now().wall == START_OF_TIME_NS + scheduler.now_ns + (
            clock.injected_ns - 3 * SECOND_NS
        )
        scheduler.now_ns += 10_000_000
    assert found == [0, 7, 0, 7]
    assert clock.now().monotonic - before == 40_000_000
    clock.repair()
    scheduler.now_ns += 10_000_000
    assert clock.injected_ns == 0


def test_a_run_says_what_its_world_is_like(tmp_path):
    lines = {small_cluster(tmp_path, seed).world.conditions.describe() for seed in range(60)}
    assert len(lines) > 50
    for word in (
        "no link faults",
        "loss",
        "ties",
        "wall clocks",
        "drift",
        "snapshots",
        "segments",
        "codec",
    ):
        assert any(word in line for line in lines), word
        assert word == "no link faults" or not all(word in line for line in lines), word
    again = small_cluster(tmp_path, 7).world.conditions
    assert again == small_cluster(tmp_path, 7).world.conditions
