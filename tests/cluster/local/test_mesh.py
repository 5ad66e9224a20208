"""Cuts and faults of links between processes of this machine, through proxies of our own."""

import asyncio
import time

import pytest

from kraftproof.cluster.capabilities import LinkFault
from kraftproof.cluster.live.scope import LiveScope
from kraftproof.cluster.local.hosts import MESHED
from kraftproof.cluster.local.local_cluster import LocalCluster
from kraftproof.cluster.protocol import ClusterError, ClusterOptions, Link, nodes_of
from kraftproof.cluster.systems.registry import make_system
from tests.support.long_cases import mostly_long

MS_NS = 1_000_000
THERE, BACK = frozenset({Link(1, 2)}), frozenset({Link(2, 1)})
FAULTS = {
    "an answer took": LinkFault(slow_ns=300 * MS_NS),
    "bytes per second passed": LinkFault(bandwidth=500),
    "the end took": LinkFault(close_ns=400 * MS_NS),
    "connections broke after": LinkFault(limit=100),
    "of 10 connections broke": LinkFault(reset=1.0),
    "pieces of data delayed": LinkFault(loss=0.9),
}
QUICK = ("an answer took", "the end took", "of 10 connections broke")


@pytest.fixture(scope="module")
def mesh(tmp_path_factory):
    options = ClusterOptions(
        nodes=nodes_of(server=3), seed=7, directory=tmp_path_factory.mktemp("mesh"), needs=MESHED
    )

    async def make():
        return LocalCluster(options, LiveScope(), make_system("examples/kv/system.py:KV"))

    with asyncio.Runner() as runner:
        cluster = runner.run(make())
        try:
            runner.run(cluster.start())
            yield runner, cluster
        finally:
            runner.run(cluster.stop())


def test_a_cut_is_one_way_and_spares_clients_and_other_links(mesh):
    runner, cluster = mesh
    run = runner.run
    assert run(cluster.round_trip(Link(1, 2)))
    run(cluster.cut(THERE))
    assert not run(cluster.round_trip(Link(1, 2)))
    assert run(cluster.withheld(THERE)) > 0
    assert run(cluster.withheld(BACK)) == 0
    assert run(cluster.round_trip(Link(3, 2)))
    assert run(cluster.lacks()) is None
    run(cluster.heal(THERE))
    assert run(cluster.round_trip(Link(1, 2)))
    run(cluster.cut(BACK))  # the answer is withheld, on a connection that node 1 opened
    assert not run(cluster.round_trip(Link(1, 2)))
    assert run(cluster.withheld(BACK)) > 0
    run(cluster.heal(BACK))
    run(cluster.heal(BACK))
    assert run(cluster.round_trip(Link(1, 2)))


@pytest.mark.parametrize(
    ("said", "fault"), mostly_long([(said, (said, fault)) for said, fault in FAULTS.items()], QUICK)
)
def test_a_fault_of_a_link_is_measured_and_ends(mesh, said, fault):
    runner, cluster = mesh
    run = runner.run
    before = run(cluster.link_fault_count(THERE))
    run(cluster.add_link_fault(THERE, fault))
    try:
        run(cluster.round_trip(Link(1, 2)))
        effect = run(cluster.link_fault_effect(THERE, fault, before))
    finally:
        run(cluster.remove_link_fault(THERE, fault))
    assert effect is not None
    assert said in effect
    began = time.monotonic()
    assert run(cluster.round_trip(Link(1, 2)))
    assert time.monotonic() - began < 30
    after = run(cluster.link_fault_count(THERE))
    run(cluster.round_trip(Link(1, 2)))
    assert run(cluster.link_fault_count(THERE)) == after


def test_a_cluster_without_proxies_never_touches_the_firewall_of_the_machine(tmp_path):
    options = ClusterOptions(nodes=nodes_of(server=2), seed=7, directory=tmp_path)

    async def attempt():
        cluster = LocalCluster(options, LiveScope(), make_system("examples/kv/system.py:KV"))
        assert not MESHED & cluster.capabilities
        try:
            await cluster.start()
            with pytest.raises(ClusterError, match="the local backend can't cut links"):
                await cluster.cut(THERE)
            with pytest.raises(ClusterError, match="node 2 has no firewall of its own"):
                await cluster.add_link_fault(THERE, LinkFault(loss=0.5))
        finally:
            await cluster.stop()

    asyncio.run(attempt())


def test_the_node_that_opens_a_connection_is_known_after_a_restart(mesh):
    runner, cluster = mesh
    run = runner.run
    run(cluster.kill(1))
    run(cluster.start_node(1))
    run(cluster.cut(THERE))
    key = next(str(n) for n in range(99) if sum(str(n).encode()) % 3 == 1)  # of the second node
    address = cluster.address(1, "client")

    async def ask():
        reader, writer = await asyncio.open_connection(address.host, address.port)
        writer.write(b'{"f": "read", "key": "%s", "value": null}\n' % key.encode())
        try:
            async with asyncio.timeout(1):
                return await reader.readline()
        except TimeoutError:
            return None
        finally:
            writer.close()

    async def ask_when_up():
        async with asyncio.timeout(20):
            while True:
                try:
                    return await ask()
                except OSError:
                    await asyncio.sleep(0.05)

    assert run(ask_when_up()) is None
    run(cluster.heal(THERE))
    assert run(ask()) == b'{"value": null}\n'
