"""Each fault of the docker backend bites, as seen by the node or the network, and heals."""

import os
import subprocess
import sys
from pathlib import Path

import docker
import pytest

from kraftproof.cluster.docker.docker_cluster import DockerCluster
from kraftproof.cluster.docker.engine import Threads
from kraftproof.cluster.docker.hosts import PodShell
from kraftproof.cluster.docker.namespace import PodNetwork
from kraftproof.cluster.live.scope import LiveScope
from kraftproof.cluster.protocol import Capability, ClusterError, ClusterOptions, Link, nodes_of
from kraftproof.cluster.remote.firewall import Firewall
from kraftproof.cluster.remote.probe import Probe, answers
from kraftproof.cluster.systems.kafka.connection import PORT
from kraftproof.cluster.systems.kafka.probe import api_versions
from kraftproof.cluster.systems.reference.system import ReferenceSystem
from tests.cluster.docker.conftest import Driver

pytestmark = pytest.mark.docker

ROOT = Path(__file__).resolve().parents[3]
SECOND_NS = 1_000_000_000


def test_a_killed_node_is_down_and_comes_back_as_another_process_with_its_data(driver: Driver):
    cluster = driver.cluster
    stored = cluster.node_files(1) / "data/__cluster_metadata-0/quorum-state"

    async def has_voted() -> bool:
        return stored.exists()  # two other voters suffice for a cluster that is ready

    assert driver.until(has_voted)
    before = driver.run(cluster.process_id(1))
    driver.run(cluster.kill(1))
    assert driver.run(cluster.process_id(1)) is None
    assert not driver.run(cluster.round_trip(Link(2, 1)))
    state = stored.read_text()
    driver.run(cluster.kill(1))
    driver.run(cluster.start_node(1))
    assert driver.run(cluster.process_id(1)) not in {None, before}
    assert driver.until(lambda: cluster.round_trip(Link(2, 1)))
    assert '"leaderEpoch":' in state
    driver.until_ready()


def test_a_paused_node_accepts_connections_and_answers_nothing_until_resumed(driver: Driver):
    cluster = driver.cluster
    before = driver.run(cluster.process_id(2))
    driver.run(cluster.pause(2))
    assert driver.run(cluster.is_paused(2))
    assert not driver.run(cluster.round_trip(Link(1, 2)))
    driver.run(cluster.resume(2))
    assert not driver.run(cluster.is_paused(2))
    assert driver.until(lambda: cluster.round_trip(Link(1, 2)))
    assert driver.run(cluster.process_id(2)) == before


def test_a_paused_node_can_be_killed(driver: Driver):
    cluster = driver.cluster
    driver.run(cluster.pause(5))
    driver.run(cluster.kill(5))
    assert driver.run(cluster.process_id(5)) is None
    assert not driver.run(cluster.is_paused(5))
    driver.run(cluster.start_node(5))
    driver.until_ready()


def test_a_stopped_node_leaves_in_order_and_starts_again(driver: Driver):
    cluster = driver.cluster
    before = driver.run(cluster.process_id(4))
    driver.run(cluster.stop_node(4))
    assert driver.run(cluster.process_id(4)) is None
    assert not driver.run(cluster.round_trip(Link(1, 4)))
    driver.run(cluster.start_node(4))
    driver.until_ready()
    assert driver.run(cluster.process_id(4)) != before


def test_a_cut_is_one_way_and_counts_what_it_withholds(driver: Driver):
    cluster = driver.cluster
    link = frozenset({Link(4, 2)})
    driver.run(cluster.cut(link))
    assert not driver.run(cluster.round_trip(Link(4, 2)))
    # Connections need both ways, so the other direction fails by silence as well; others do not.
    assert not driver.run(cluster.round_trip(Link(2, 4)))
    assert driver.until(lambda: cluster.round_trip(Link(5, 2)))
    assert driver.run(cluster.withheld(link)) > 0
    assert driver.run(cluster.withheld(frozenset({Link(2, 4)}))) == 0
    driver.run(cluster.heal(link))
    assert driver.until(lambda: cluster.round_trip(Link(4, 2)))
    assert driver.run(cluster.withheld(link)) == 0
    driver.run(cluster.heal(link))


def test_a_cut_outlives_the_death_of_its_node(driver: Driver):
    cluster = driver.cluster
    links = frozenset({Link(1, 3), Link(2, 3)})
    driver.run(cluster.cut(links))
    driver.run(cluster.kill(3))
    driver.run(cluster.start_node(3))
    assert driver.until(lambda: cluster.round_trip(Link(4, 3)))
    assert not driver.run(cluster.round_trip(Link(1, 3)))
    driver.run(cluster.heal(links))
    assert driver.until(lambda: cluster.round_trip(Link(1, 3)))
    assert driver.until(lambda: cluster.round_trip(Link(2, 3)))


def test_without_root_the_firewall_works_through_the_pods_themselves(driver: Driver):
    cluster = driver.cluster
    engine = docker.from_env()
    pods = {
        number: PodNetwork(engine, pod, from_host=False)
        for number, pod in cluster.pods.items()
        if number in {1, 6}
    }
    addresses = {number: cluster.address(number, PORT) for number in (1, 6)}
    hosts = {number: address.host for number, address in addresses.items()}
    request = Probe(api_versions())
    link = frozenset({Link(6, 1)})

    async def cut_and_heal() -> tuple[bool, int, bool]:
        threads = Threads()
        shells = {number: PodShell(threads, pod) for number, pod in pods.items()}
        firewall = Firewall(shells, hosts)
        await firewall.cut(link)
        cut = await answers(shells[6], addresses[1], request)
        withheld = await firewall.withheld(link)
        await firewall.heal(link)
        tries = [await answers(shells[6], addresses[1], request) for _ in range(5)]
        healed = any(tries)
        await threads.finish()
        return cut, withheld, healed

    cut, withheld, healed = driver.run(cut_and_heal())
    engine.close()
    assert not cut
    assert withheld > 0
    assert healed


async def is_near(cluster: DockerCluster, node_id: int, offset_ns: int) -> bool:
    """Whether a node reports an offset of its wall clock, up to a tenth of a second."""
    reported = await cluster.wall_clock_offset(node_id)
    return reported is not None and abs(reported - offset_ns) < SECOND_NS // 10


def test_a_shifted_clock_is_reported_by_the_node_itself_and_by_no_other(driver: Driver):
    cluster = driver.cluster
    for offset_ns in (-45 * SECOND_NS, 12_500_000_000):
        driver.run(cluster.shift_clock(3, offset_ns))
        assert driver.until(lambda offset_ns=offset_ns: is_near(cluster, 3, offset_ns))
        assert driver.run(is_near(cluster, 2, 0))
    driver.run(cluster.shift_clock(3, 0))
    assert driver.until(lambda: is_near(cluster, 3, 0))


def test_what_the_backend_can_not_do_it_does_not_declare_and_refuses(driver: Driver):
    cluster = driver.cluster
    assert Capability.WIPE not in cluster.capabilities
    with pytest.raises(ClusterError, match="the docker backend can't wipe node 1"):
        driver.run(cluster.wipe(1))


def test_a_run_whose_faults_need_no_disk_has_none(driver: Driver):
    cluster = driver.cluster
    assert Capability.LOSE_UNSYNCED in cluster.capabilities
    assert not list(cluster.node_files(2).glob("disk.jsonl"))
    with pytest.raises(ClusterError, match="node 2: no disk that can have faults is mounted"):
        driver.run(cluster.disk_fault_count(2))


def test_pausing_a_node_that_is_down_is_one_clear_line(driver: Driver):
    cluster = driver.cluster
    driver.run(cluster.kill(6))
    with pytest.raises(ClusterError, match=r"pause of node 6: .* is not running") as refusal:
        driver.run(cluster.pause(6))
    assert "\n" not in str(refusal.value)
    driver.run(cluster.start_node(6))
    driver.until_ready()


def test_no_engine_is_one_clear_line(tmp_path: Path):
    command = [sys.executable, "-m", "tests.cluster.docker.harness", str(tmp_path)]
    environment = {**os.environ, "DOCKER_HOST": f"unix://{tmp_path}/nobody.sock"}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 1
    cause = f"DOCKER_HOST=unix://{tmp_path}/nobody.sock can't be used: No such file or directory"
    assert done.stderr == f"harness: docker: {cause}\n"


def test_a_node_that_ends_at_once_is_told_with_its_last_words(driver: Driver, tmp_path: Path):
    options = ClusterOptions(
        nodes=nodes_of(controller=1, broker=1), seed=1, directory=tmp_path, mutant="no-such-mutant"
    )

    async def start() -> None:
        cluster = DockerCluster(
            options, LiveScope(), ReferenceSystem(), ready_timeout_ns=3 * SECOND_NS
        )
        try:
            await cluster.start()
        finally:
            await cluster.stop()

    # What the cluster lacks comes first if that was known before the node ended.
    said = r"not become ready: (.*; )?node \d ended with status \d+: .*no-such-mutant"
    with pytest.raises(ClusterError, match=said):
        driver.run(start())
