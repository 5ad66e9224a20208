"""Strobes, drifts, losses and limits bite at nodes of a shared cluster, and end."""

import asyncio

import pytest

from kraftproof.cluster.capabilities import LinkFault
from kraftproof.cluster.docker.docker_cluster import DockerCluster
from kraftproof.cluster.docker.limits import LEAST_MEMORY
from kraftproof.cluster.protocol import Link
from kraftproof.nemesis.fault import FaultContext
from kraftproof.nemesis.limits import MemoryLimit
from tests.cluster.docker.conftest import Driver
from tests.support.command import call

pytestmark = pytest.mark.docker

SECOND_NS = 1_000_000_000


async def is_near(cluster: DockerCluster, node_id: int, offset_ns: int) -> bool:
    """Whether a node reports an offset of its wall clock, up to a tenth of a second."""
    reported = await cluster.wall_clock_offset(node_id)
    return reported is not None and abs(reported - offset_ns) < SECOND_NS // 10


@pytest.mark.long
def test_a_strobed_clock_jumps_to_and_fro_until_healed(driver: Driver):
    cluster = driver.cluster
    seen: set[int] = set()

    async def has_jumped_both_ways() -> bool:
        reported = await cluster.wall_clock_offset(1)
        assert reported is not None
        seen.add(round(reported / SECOND_NS))
        return seen >= {0, 30}

    driver.run(cluster.strobe_clock(1, 30 * SECOND_NS, 70_000_000))
    assert driver.until(has_jumped_both_ways)
    driver.run(cluster.strobe_clock(1, 0, 1))
    seen.clear()
    driver.run(asyncio.sleep(0.6))
    assert driver.until(lambda: is_near(cluster, 1, 0))
    assert seen == set()


def test_a_drifting_clock_runs_away_and_returns(driver: Driver):
    cluster = driver.cluster

    async def is_away() -> bool:
        reported = await cluster.wall_clock_offset(2)
        return reported is not None and reported < -SECOND_NS // 10

    driver.run(cluster.drift_clock(2, -500_000))
    assert driver.until(is_away)
    assert driver.run(is_near(cluster, 3, 0))
    driver.run(cluster.drift_clock(2, 0))
    assert driver.until(lambda: is_near(cluster, 2, 0))


def test_a_lossy_link_loses_its_share_of_the_packets_and_no_others(driver: Driver):
    cluster = driver.cluster
    links, other = frozenset({Link(4, 1), Link(1, 4)}), frozenset({Link(5, 1)})
    half = LinkFault(loss=0.5)

    said: list[str] = []

    async def loses_some() -> bool:
        await cluster.round_trip(Link(4, 1))
        effect = await cluster.link_fault_effect(links, half, 0)
        said.append(effect or "0 of 0")
        lost, seen = map(int, said[-1].replace(" of ", " ").split()[:2])
        return 3 <= lost < seen

    driver.run(cluster.add_link_fault(links, half))
    driver.run(cluster.add_link_fault(links, half))
    assert driver.until(loses_some)
    lost = int(said[-1].split()[0])
    assert driver.run(cluster.link_fault_count(other)) == 0
    driver.run(cluster.remove_link_fault(links, half))
    assert driver.run(cluster.link_fault_count(links)) >= lost
    driver.run(cluster.remove_link_fault(links, half))
    driver.run(cluster.remove_link_fault(links, half))
    assert driver.run(cluster.link_fault_count(links)) == 0
    assert driver.until(lambda: cluster.round_trip(Link(4, 1)))


def test_a_node_with_little_processor_time_is_throttled_until_healed(driver: Driver):
    cluster = driver.cluster
    before = driver.run(cluster.usage(1))
    assert before is not None
    driver.run(cluster.limit_cpu(1, 0.01))

    async def is_throttled() -> bool:
        usage = await cluster.usage(1)
        return usage is not None and usage.throttled > before.throttled

    assert driver.until(is_throttled)
    driver.run(cluster.limit_cpu(1, None))
    driver.until_ready()
    calm = driver.run(cluster.usage(1))
    assert calm is not None
    assert driver.until(lambda: cluster.round_trip(Link(2, 1)))
    after = driver.run(cluster.usage(1))
    assert after is not None
    assert after.throttled == calm.throttled


def test_an_idle_node_meets_its_memory_limit_until_healed(driver: Driver):
    cluster = driver.cluster
    context, fault = FaultContext(cluster), MemoryLimit(target=4)
    before = driver.run(fault.baseline(context))
    free = driver.run(cluster.usage(4))
    assert free is not None
    driver.run(fault.apply(context))

    async def bitten() -> bool:
        return await fault.observed_effect(context, before) is not None

    assert driver.until(bitten)
    driver.run(fault.heal(context))
    healed = driver.run(cluster.usage(4))
    assert healed is not None
    assert healed.memory_limit == free.memory_limit
    driver.until_ready()


def test_a_node_that_is_down_gets_the_least_limit_of_the_engine(driver: Driver):
    cluster = driver.cluster
    driver.run(cluster.kill(4))
    assert driver.run(cluster.limit_memory(4, -(1 << 20))) == LEAST_MEMORY
    driver.run(cluster.limit_memory(4, None))
    driver.run(cluster.start_node(4))
    driver.until_ready()


def test_names_of_peers_do_not_resolve_until_restored(driver: Driver):
    cluster = driver.cluster
    assert cluster.names_in_use(5) == ("node-1", "node-2", "node-3")
    assert driver.run(cluster.unresolved(5)) == ()
    driver.run(cluster.hide_names(5))
    driver.run(cluster.hide_names(5))
    assert driver.run(cluster.unresolved(5)) == ("node-1", "node-2", "node-3")
    driver.run(cluster.restore_names(5))
    assert driver.run(cluster.unresolved(5)) == ()


def test_a_system_without_names_loses_none(tmp_path):
    done = call(
        *("test", "--system", "examples/kv/system.py:KV", "--backend", "docker"),
        *("--workload", "register", "--nemesis", "lost-name", "--store", tmp_path),
    )
    assert done.returncode == 3
    assert done.stderr.splitlines()[-1] == (
        "kraftproof: --nemesis lost-name: the nodes of the system kv know each other by address"
    )
