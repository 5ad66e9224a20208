"""A node that is asked for its clock over the network is moved on local and docker alike."""

import asyncio
import os
import platform
import time

import pytest

from kraftproof.cluster.docker.docker_cluster import DockerCluster
from kraftproof.cluster.docker.machines import Machines, State
from kraftproof.cluster.http import asked_date
from kraftproof.cluster.live.scope import LiveScope
from kraftproof.cluster.local.hosts import LocalHost
from kraftproof.cluster.local.local_cluster import LocalCluster
from kraftproof.cluster.plugin import PluginError
from kraftproof.cluster.protocol import CLOCKS, Capability, ClusterError, ClusterOptions, nodes_of
from kraftproof.cluster.remote.clocks import node_clock
from kraftproof.cluster.remote.clocks.node_clock import NodeClock
from kraftproof.cluster.remote.clocks.vdso import node_processes
from kraftproof.cluster.systems.system import Deployment, System, SystemUnavailableError

SECOND_NS = 1_000_000_000
HOUR_NS = 3600 * SECOND_NS
ASK_S = 2.0
DEADLINE_S = 20
needs_x86_64 = pytest.mark.skipif(platform.machine() != "x86_64", reason="the code is of x86_64")
BACKENDS = [
    pytest.param((LocalCluster, "local"), id="local"),
    pytest.param((DockerCluster, "docker"), id="docker", marks=pytest.mark.docker),
]


class Served(System):
    """One node: the web server of Python, which dates its answers."""

    name = "served"
    nodes = "1"
    clock_step_s = 1.0

    def deployment(self, site):
        at = site.address("client")
        serve = (site.python, "-m", "http.server", str(at.port), "--bind", at.host)
        return Deployment(command=serve)

    async def wall_clock(self, cluster, node_id):
        return await asked_date(cluster.address(node_id, "client"), "/", ASK_S)

    def client(self, cluster, workload, random):
        raise AssertionError


class Silent(Served):
    """The same node, which nobody asks for its clock."""

    wall_clock = System.wall_clock

    def capabilities(self, can):
        return can


def cluster_of(kind, directory, system, needs=frozenset({Capability.CLOCK})):
    made, backend = kind
    options = ClusterOptions(
        nodes=nodes_of(server=1), seed=1, directory=directory, backend=backend, needs=needs
    )
    return made(options, LiveScope(), system)


def run(kind, directory, steps, system=None):
    async def whole():
        cluster = cluster_of(kind, directory, system or Served())
        try:
            await cluster.start()
            await steps(cluster)
        finally:
            await cluster.stop()

    asyncio.run(whole())


async def is_at(cluster, offset_ns):
    """Wait for a report that is near an offset."""
    deadline = time.monotonic() + DEADLINE_S
    while True:
        found_ns = await cluster.wall_clock_offset(1)
        if found_ns is not None and abs(found_ns - offset_ns) < SECOND_NS:
            return
        assert time.monotonic() < deadline, found_ns
        await asyncio.sleep(0.02)


@needs_x86_64
@pytest.mark.parametrize("kind", BACKENDS)
def test_a_shift_outlives_a_kill_and_a_pause_and_is_healed(kind, tmp_path):
    async def steps(cluster):
        assert cluster.capabilities >= CLOCKS
        await is_at(cluster, 0)
        await cluster.shift_clock(1, HOUR_NS)
        await is_at(cluster, HOUR_NS)
        await cluster.kill(1)
        assert await cluster.wall_clock_offset(1) is None
        await cluster.start_node(1)
        await is_at(cluster, HOUR_NS)
        await cluster.shift_clock(1, 0)
        await is_at(cluster, 0)
        await cluster.kill(1)
        await cluster.start_node(1)
        await cluster.pause(1)
        await cluster.shift_clock(1, -HOUR_NS)
        assert await cluster.is_paused(1)
        await cluster.resume(1)
        await is_at(cluster, -HOUR_NS)

    run(kind, tmp_path, steps)


@needs_x86_64
@pytest.mark.parametrize("kind", BACKENDS)
def test_a_strobe_and_a_drift_of_less_than_a_second_are_seen(kind, tmp_path):
    async def until(cluster, holds):
        deadline = time.monotonic() + DEADLINE_S
        while not holds(await cluster.wall_clock_offset(1)):
            assert time.monotonic() < deadline

    async def steps(cluster):
        for offset_ns in (-SECOND_NS // 5, SECOND_NS // 5):
            await cluster.strobe_clock(1, offset_ns, 20_000_000)
            half_ns = offset_ns // 2
            await until(cluster, lambda found, half_ns=half_ns: found / half_ns >= 1)
            await cluster.strobe_clock(1, 0, 1)
        await cluster.drift_clock(1, 400_000)
        await until(cluster, lambda found: found > SECOND_NS // 20)
        await cluster.drift_clock(1, 0)
        assert await cluster.wall_clock_offset(1) == 0

    run(kind, tmp_path, steps)


def refused(kind, directory, system):
    with pytest.raises(SystemUnavailableError) as refusal:
        run(kind, directory, lambda _: pytest.fail("it has started"), system)
    (line,) = str(refusal.value).splitlines()
    return line


def test_a_node_that_does_not_report_its_clock_is_refused(tmp_path):
    assert refused(BACKENDS[0].values[0], tmp_path, Silent()) == (
        "--nemesis clock: node 1: the node does not report its wall clock; see the faults of "
        "clocks in systems.md"
    )


def test_a_node_on_another_host_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(node_clock, "ProcessHost", Silent)  # no host is one, as behind ssh
    assert refused(BACKENDS[0].values[0], tmp_path, Served()) == (
        "--nemesis clock: node 1: the processes of the node are not on this machine"
    )


@needs_x86_64
def test_an_answer_that_is_no_number_names_the_system(tmp_path):
    class Wrong(Served):
        clock_step_s = 0.0

        async def wall_clock(self, cluster, node_id):
            return "noon"

    with pytest.raises(PluginError, match=r"Wrong.*: wall_clock returned 'noon'; a whole number"):
        run(BACKENDS[0].values[0], tmp_path, lambda cluster: is_at(cluster, 0), Wrong())


def test_a_clock_that_can_not_be_moved_is_refused_at_the_start(tmp_path, monkeypatch):
    monkeypatch.setattr(node_processes, "lack_of", lambda pid: "the clock can't be moved: why")
    assert refused(BACKENDS[0].values[0], tmp_path, Served()) == (
        "--nemesis clock: node 1: the clock can't be moved: why"
    )


def test_an_engine_on_another_machine_is_told_by_the_cgroup_of_the_process(monkeypatch):
    machines = Machines("far", [1])
    machines._containers[1] = "c0ffee"
    state = State(pid=os.getpid(), is_paused=False)
    monkeypatch.setattr(Machines, "state", lambda *_: state)
    with pytest.raises(ClusterError) as refusal:
        machines.processes(1)
    assert str(refusal.value) == (
        "docker: the processes of its container are not on this machine, but on that of the engine"
    )
    states = iter([state, State(pid=0, is_paused=False)])
    monkeypatch.setattr(Machines, "state", lambda *_: next(states))
    assert machines.processes(1) == []  # it has ended meanwhile


def test_a_preloaded_node_elsewhere_has_libfaketimes_clock_only(tmp_path, monkeypatch):
    async def elsewhere(_):
        raise ClusterError("docker: elsewhere")

    monkeypatch.setattr(LocalHost, "local_processes", elsewhere)

    async def whole():
        clock = NodeClock(LocalHost(tmp_path, {}), writes_file=True)
        assert await clock.lack() is None
        await clock.shift(-1_500_000_000)
        await clock.still()

    asyncio.run(whole())
    assert (tmp_path / "clock" / "offset").read_text() == "-1.500000\n"
