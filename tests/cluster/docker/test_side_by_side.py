"""Runs do not disturb each other, and what a dead harness leaves is gone after the next sweep."""

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import docker
import pytest

from kraftproof.cluster.docker.lease import engine_lock, lease_subnet, taken_subnets
from kraftproof.cluster.docker.owner import RUN
from kraftproof.cluster.docker.sweep import remove_run, sweep, sweep_locked
from kraftproof.cluster.protocol import Link
from kraftproof.cluster.remote.run_name import run_name
from kraftproof.cluster.systems.kafka.connection import PORT
from tests.cluster.docker.conftest import Driver, make

pytestmark = pytest.mark.docker

ROOT = Path(__file__).resolve().parents[3]
LEASES = 6
LOCK_S = 250.0
"""Other workers hold the engine's lock while an image is built."""


@pytest.fixture(autouse=True)
def patient_sweep(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kraftproof.cluster.docker.sweep.LOCK_S", LOCK_S)


@pytest.fixture
def engine() -> Iterator[docker.DockerClient]:
    client = docker.from_env()
    yield client
    client.close()


def held(engine: docker.DockerClient, name: str) -> list[str]:
    """Everything at the engine of runs whose directory has this name."""
    containers = engine.containers.list(all=True, filters={"label": RUN}, ignore_removed=True)
    networks = engine.networks.list(filters={"label": RUN})
    runs = [one.labels[RUN] for one in containers]
    runs += [one.attrs["Labels"][RUN] for one in networks]
    return [run for run in runs if run.startswith(f"{name}-")]


@pytest.mark.long
def test_two_clusters_share_the_engine_and_nothing_else(
    driver: Driver, engine: docker.DockerClient, tmp_path: Path
):
    first = driver.cluster
    second = driver.run(make(tmp_path / "second", 1, 2))
    try:
        driver.run(second.start())
        mine = {first.address(node.node_id, PORT).host for node in first.nodes}
        assert mine.isdisjoint(second.address(node.node_id, PORT).host for node in second.nodes)
        before = driver.run(first.process_id(1))
        driver.run(second.kill(1))
        driver.run(second.cut(frozenset({Link(1, 2), Link(2, 3)})))
        assert driver.run(first.process_id(1)) == before
        assert driver.run(first.round_trip(Link(1, 2)))
        assert driver.run(first.withheld(frozenset({Link(1, 2)}))) == 0
        sweep(engine)
        assert driver.run(second.process_id(2)) is not None
    finally:
        driver.run(second.stop())
    assert held(engine, "second") == []
    driver.until_ready()


def test_subnets_that_are_leased_at_the_same_moment_differ(engine: docker.DockerClient):
    """Also without the engine's lock: the threads of one process begin with the same subnet."""
    runs = [run_name(Path("lease")) for _ in range(LEASES)]
    try:
        with ThreadPoolExecutor(LEASES) as threads:
            subnets = list(threads.map(lambda run: lease_subnet(engine, run), runs))
        addresses = {subnet.addresses for subnet in subnets}
        assert len(addresses) == LEASES
        assert addresses <= set(taken_subnets(engine))
    finally:
        for run in runs:
            remove_run(engine, run)
    assert held(engine, "lease") == []


def test_what_a_killed_harness_leaves_is_gone_after_the_next_sweep(
    driver: Driver, engine: docker.DockerClient, tmp_path: Path
):
    command = [sys.executable, "-m", "tests.cluster.docker.harness", str(tmp_path / "doomed")]
    harness = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    assert harness.stdout is not None
    with harness:
        assert ":9092" in harness.stdout.readline()
        sweep(engine)
        assert len(held(engine, "doomed")) == 5, "the living are left alone"
        # Every run that begins sweeps, also one of another worker: none may begin meanwhile.
        with engine_lock(LOCK_S):
            harness.kill()
            harness.wait()
            assert len(held(engine, "doomed")) == 5, "containers outlive their harness"
            lines = sweep_locked(engine)
    assert held(engine, "doomed") == []
    assert any("doomed-" in line and "5 removed" in line for line in lines)
    assert driver.run(driver.cluster.process_id(1)) is not None
