"""Each fault of the ssh backend bites on machines, as the node or the network shows, and heals."""

import asyncio

import pytest

from kraftproof.cluster.capabilities import LinkFault
from kraftproof.cluster.protocol import Capability, ClusterError, ContaminatedError, Link
from kraftproof.cluster.remote.firewall import Firewall
from kraftproof.cluster.ssh.facts import facts_of
from kraftproof.cluster.ssh.hosts_file import read_hosts
from kraftproof.cluster.ssh.machine import Machine
from kraftproof.cluster.ssh.preflight import check_hosts, lacking
from kraftproof.cluster.systems.kafka.connection import PORT
from tests.cluster.ssh.conftest import Driver, make

pytestmark = pytest.mark.docker

SECOND_NS = 1_000_000_000
QUORUM_STATE = "node/data/__cluster_metadata-0/quorum-state"


def entries(driver: Driver):
    return read_hosts(driver.machines.folder / "hosts.toml")


def test_a_killed_node_is_down_and_comes_back_as_another_process_with_its_data(driver: Driver):
    cluster = driver.cluster
    before = driver.run(cluster.process_id(1))
    driver.run(cluster.kill(1))
    assert driver.run(cluster.process_id(1)) is None
    assert not driver.run(cluster.round_trip(Link(2, 1)))
    state = driver.machines.run(0, "sh", "-c", f"cat /home/kraft/.kraftproof/runs/*/{QUORUM_STATE}")
    assert '"leaderEpoch":' in state
    driver.run(cluster.start_node(1))
    assert driver.run(cluster.process_id(1)) not in {None, before}
    driver.until_ready()


def test_a_paused_node_answers_nothing_until_resumed(driver: Driver):
    cluster = driver.cluster
    before = driver.run(cluster.process_id(2))
    driver.run(cluster.pause(2))
    assert driver.run(cluster.is_paused(2))
    assert not driver.run(cluster.round_trip(Link(1, 2)))
    driver.run(cluster.resume(2))
    assert not driver.run(cluster.is_paused(2))
    assert driver.until(lambda: cluster.round_trip(Link(1, 2)))
    assert driver.run(cluster.process_id(2)) == before


def test_a_paused_node_can_be_killed_and_a_stopped_one_starts_again(driver: Driver):
    cluster = driver.cluster
    driver.run(cluster.pause(3))
    driver.run(cluster.kill(3))
    assert driver.run(cluster.process_id(3)) is None
    with pytest.raises(ClusterError, match="host gamma: pause: not running, no SIGSTOP"):
        driver.run(cluster.pause(3))
    driver.run(cluster.start_node(3))
    driver.until_ready()
    driver.run(cluster.stop_node(3))
    assert driver.run(cluster.process_id(3)) is None
    driver.run(cluster.start_node(3))
    driver.until_ready()


def test_a_cut_is_one_way_and_counts_what_it_withholds(driver: Driver):
    cluster = driver.cluster
    link = frozenset({Link(3, 1)})
    driver.run(cluster.cut(link))
    assert not driver.run(cluster.round_trip(Link(3, 1)))
    assert driver.until(lambda: cluster.round_trip(Link(2, 1)))
    assert driver.run(cluster.withheld(link)) > 0
    assert driver.run(cluster.withheld(frozenset({Link(1, 3)}))) == 0
    driver.run(cluster.heal(link))
    assert driver.until(lambda: cluster.round_trip(Link(3, 1)))
    driver.until_ready()


@pytest.mark.long
def test_a_lossy_link_loses_a_share(driver: Driver):
    cluster = driver.cluster
    link, fault = frozenset({Link(2, 1)}), LinkFault(loss=0.5)

    async def has_effect() -> bool:
        await cluster.round_trip(Link(2, 1))
        return await cluster.link_fault_effect(link, fault, 0) is not None

    driver.run(cluster.add_link_fault(link, fault))
    assert driver.until(has_effect)
    driver.run(cluster.remove_link_fault(link, fault))
    driver.until_ready()


def test_no_cut_reaches_the_connection_of_the_harness(driver: Driver):
    """The harness is cut off like a node: its packets to the node are lost, and ssh goes on."""
    cluster = driver.cluster
    host = cluster._hosts[1]
    (trusted,) = host.trusted
    harness = trusted.split()[1]
    firewall = Firewall({1: host}, {9: harness}, {1: host.trusted})

    async def reached() -> bool:
        address = cluster.address(1, PORT)
        try:
            async with asyncio.timeout(1):
                _, writer = await asyncio.open_connection(address.host, address.port)
        except TimeoutError:
            return False
        writer.close()
        return True

    assert driver.run(reached())
    driver.run(firewall.cut(frozenset({Link(9, 1)})))
    assert not driver.run(reached())
    status, output = driver.run(host.run(("iptables-save", "-t", "filter")))
    assert status == 0
    rules = [line for line in output.splitlines() if line.startswith("-A KRAFTPROOF")]
    assert rules[0].endswith("--dport 22 -j ACCEPT")
    driver.run(firewall.heal(frozenset({Link(9, 1)})))
    assert driver.run(reached())


def test_a_shifted_clock_is_reported_by_the_node_itself_and_by_no_other(driver: Driver):
    cluster = driver.cluster

    async def is_near(node_id: int, offset_ns: int) -> bool:
        reported = await cluster.wall_clock_offset(node_id)
        return reported is not None and abs(reported - offset_ns) < SECOND_NS // 10

    driver.run(cluster.shift_clock(3, -45 * SECOND_NS))
    assert driver.until(lambda: is_near(3, -45 * SECOND_NS))
    assert driver.run(is_near(2, 0))
    driver.run(cluster.shift_clock(3, 0))
    assert driver.until(lambda: is_near(3, 0))


def test_a_strobing_clock_jumps_and_stops(driver: Driver):
    cluster = driver.cluster

    async def is_off() -> bool:
        reported = await cluster.wall_clock_offset(2)
        return reported is not None and abs(reported) > 10 * SECOND_NS

    async def is_right() -> bool:
        return not await is_off()

    driver.run(cluster.strobe_clock(2, 30 * SECOND_NS, SECOND_NS // 2))
    assert driver.until(is_off)
    assert driver.until(is_right)
    driver.run(cluster.strobe_clock(2, 0, 0))
    assert driver.until(is_right)


def test_the_monotonic_clocks_of_machines_of_one_kernel_are_equal(driver: Driver):
    offsets = [driver.cluster.monotonic_offset_ns(node) for node in (1, 2, 3)]
    assert all(-SECOND_NS // 20 < offset <= 0 for offset in offsets)
    assert any(offsets)


def test_a_second_harness_is_refused_and_told_who_is_there(driver: Driver, tmp_path):
    line = r"host alpha: is used by another harness: run run0.* of .*, heard \d+ s ago"
    with pytest.raises(ContaminatedError, match=line):
        asyncio.run(check_hosts(entries(driver)))
    before = driver.run(driver.cluster.process_id(1))

    async def second() -> None:
        cluster = await make(driver.machines.folder / "hosts.toml", tmp_path)
        try:
            await cluster.start()
        finally:
            await cluster.stop()

    with pytest.raises(ClusterError, match=r"host alpha: is used .*; host beta: is used"):
        asyncio.run(second())
    assert driver.run(driver.cluster.process_id(1)) == before


def test_what_a_host_does_not_allow_is_one_clear_line(driver: Driver):
    """Without sudo, then without iptables: partitions are refused, the rest is not."""
    made = driver.machines
    assert asyncio.run(lacking(entries(driver), Capability.PARTITION)) is None
    assert asyncio.run(lacking(entries(driver), Capability.CLOCK)) is None
    made.run(1, "mv", "/etc/sudoers.d/kraft", "/root/kraft")
    reason = asyncio.run(lacking(entries(driver), Capability.PARTITION))
    made.run(1, "mv", "/root/kraft", "/etc/sudoers.d/kraft")
    assert reason is not None
    assert reason.startswith("host beta: 'sudo -n' is refused: firewall: sudo: ")
    made.run(1, "mv", "/usr/sbin/iptables-save", "/root/iptables-save")
    reason = asyncio.run(lacking(entries(driver), Capability.LOSS))
    made.run(1, "mv", "/root/iptables-save", "/usr/sbin/iptables-save")
    assert reason == "host beta: there is no iptables-save"
    assert asyncio.run(lacking(entries(driver), Capability.KILL)) is None


def test_a_host_without_the_named_python_is_one_clear_line(driver: Driver):
    path = driver.machines.write_hosts("python.toml", extra='python = "python9"')
    with pytest.raises(
        ClusterError, match="there is no python9: install Python 3, or name it by python"
    ):
        asyncio.run(check_hosts(read_hosts(path)))


def test_the_facts_of_a_host_are_those_of_the_machine(driver: Driver):
    async def ask():
        machine = Machine(entries(driver)[0])
        try:
            return await facts_of(machine)
        finally:
            machine.close()

    facts = asyncio.run(ask())
    assert facts.base == "/home/kraft/.kraftproof"
    assert facts.libfaketime is not None
    assert facts.holder is not None
    assert [one.processes for one in facts.runs] == [1]
