"""Faults of links through real Toxiproxy processes: measured, ended, and one that hangs."""

import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kraftproof.cluster.capabilities import LinkFault
from kraftproof.cluster.protocol import PROXIED, ClusterError, Link
from kraftproof.cluster.remote.toxiproxy.mesh import ToxicMesh
from kraftproof.cluster.systems.reference.system import ReferenceSystem
from kraftproof.run.health.health import Health
from tests.cluster.docker.conftest import Driver, make, running

pytestmark = pytest.mark.docker

MS_NS = 1_000_000
LINKS = frozenset({Link(1, 2)})
MOST_TRIES = 4
"""A measurement without the fault may be as slow as with the fault while the machine is busy."""
FAULTS = {
    "an answer took": LinkFault(slow_ns=300 * MS_NS),
    "bytes per second passed": LinkFault(bandwidth=1_000),
    "the end took": LinkFault(close_ns=400 * MS_NS),
    "connections broke after": LinkFault(limit=100),
    "of 10 connections broke": LinkFault(reset=1.0),
}


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    yield from running(make(tmp_path_factory.mktemp("toxic"), 1, 1, needs=PROXIED))


@pytest.mark.parametrize(("said", "fault"), FAULTS.items(), ids=lambda value: str(value)[:20])
def test_a_fault_of_a_link_is_measured_and_ends(driver: Driver, said: str, fault: LinkFault):
    cluster = driver.cluster
    for _ in range(MOST_TRIES):
        driver.run(cluster.add_link_fault(LINKS, fault))
        effect = driver.run(cluster.link_fault_effect(LINKS, fault, 0))
        if effect is not None:
            break
        driver.run(cluster.remove_link_fault(LINKS, fault))
    assert effect is not None
    assert effect.startswith("link 1>2: ")
    assert said in effect
    driver.run(cluster.remove_link_fault(LINKS, fault))
    measured = (driver.run(cluster.link_fault_effect(LINKS, fault, 0)) for _ in range(MOST_TRIES))
    assert any(effect is None for effect in measured)
    driver.until_ready()


def stop(pid: int) -> None:
    """Stop a process, and wait until each of its threads has stopped and can answer no more."""
    os.kill(pid, signal.SIGSTOP)
    deadline = time.monotonic() + 5
    while {state_of_thread(task) for task in Path(f"/proc/{pid}/task").iterdir()} != {"T"}:
        assert time.monotonic() < deadline, "the process does not stop"
        time.sleep(0.01)


def state_of_thread(task: Path) -> str:
    """Return the state of a thread as /proc names it."""
    return (task / "stat").read_text().rpartition(")")[2].split()[0]


def test_a_proxy_that_hangs_is_replaced_and_named(driver: Driver):
    cluster = driver.cluster
    mesh = cluster._proxies
    assert isinstance(mesh, ToxicMesh)
    before = mesh.pid(Link(1, 2))
    assert before is not None
    stop(before)
    slow = LinkFault(slow_ns=200 * MS_NS)
    driver.run(mesh.add(LINKS, slow))
    assert mesh.pid(Link(1, 2)) not in {None, before}
    assert mesh.replaced == ["1>2"]
    assert not Path(f"/proc/{before}").exists()
    driver.run(mesh.remove(LINKS, slow))
    driver.until_ready()


def test_a_proxy_that_ends_by_itself_ends_the_run(driver: Driver, tmp_path: Path):
    cluster, failed = driver.cluster, list[Exception]()
    mesh = cluster._proxies
    assert isinstance(mesh, ToxicMesh)
    assert driver.run(cluster.link_failure()) is None
    pid = mesh.pid(Link(1, 2))
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    health = Health(cluster, ReferenceSystem(), cluster._options, failed.append)
    health.start()

    async def has_failed() -> bool:
        return bool(failed)

    driver.until(has_failed)
    driver.run(health.stop())
    assert [type(one) for one in failed] == [ClusterError]
    assert str(failed[0]).startswith("toxiproxy of link 1>2 ended with status -9: ")
    assert health.violations(tmp_path / "faults.jsonl") == ()
    driver.run(mesh._servers[Link(1, 2)]._replace())
    driver.until_ready()


def test_a_proxy_that_hangs_says_so_in_one_line(driver: Driver):
    mesh = driver.cluster._proxies
    assert isinstance(mesh, ToxicMesh)
    server = mesh._servers[Link(2, 1)]
    assert server.pid is not None
    stop(server.pid)
    try:
        with pytest.raises(ClusterError) as refusal:
            driver.run(server._call("get", "/version"))
    finally:
        os.kill(server.pid, signal.SIGCONT)
    assert str(refusal.value) == "toxiproxy of link 2>1: no answer in 2 s"
