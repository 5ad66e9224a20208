"""Machines that the tests of a module share, and a cluster on them."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from kraftproof.cluster.live.scope import LiveScope
from kraftproof.cluster.protocol import ClusterOptions, nodes_of
from kraftproof.cluster.remote.readiness import wait_until_ready
from kraftproof.cluster.ssh.ssh_cluster import SshCluster
from kraftproof.cluster.systems.reference.system import ReferenceSystem
from tests.cluster.ssh.machines import MachineSet, machines

T = TypeVar("T")
PATIENCE_S = 20.0
POLL_S = 0.05
READY_NS = 30_000_000_000


class Driver:
    """A cluster on machines, and the loop that its coroutines run on while a test waits."""

    def __init__(self, runner: asyncio.Runner, cluster: SshCluster, made: MachineSet) -> None:
        self.runner = runner
        self.cluster = cluster
        self.machines = made

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(coroutine)

    def until(self, holds: Callable[[], Coroutine[Any, Any, bool]]) -> bool:
        """Whether a condition came to hold in time."""

        async def poll() -> bool:
            async with asyncio.timeout(PATIENCE_S):
                while not await holds():  # noqa: ASYNC110 - it is the world that changes
                    await asyncio.sleep(POLL_S)
            return True

        return self.runner.run(poll())

    def until_ready(self) -> None:
        self.run(wait_until_ready(self.cluster, ReferenceSystem(), READY_NS))


@pytest.fixture(scope="module")
def hosts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MachineSet]:
    """Three machines for the tests of a module."""
    with machines(tmp_path_factory.mktemp("machines")) as made:
        yield made


@pytest.fixture(scope="module")
def driver(hosts: MachineSet, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driver]:
    """A controller and two brokers on the machines."""
    with asyncio.Runner() as runner:
        cluster = runner.run(make(hosts.write_hosts(), tmp_path_factory.mktemp("run")))
        try:
            runner.run(cluster.start())
            yield Driver(runner, cluster, hosts)
        finally:
            runner.run(cluster.stop())


async def make(hosts: Path, directory: Path) -> SshCluster:
    options = ClusterOptions(
        nodes=nodes_of(controller=1, broker=2), seed=7, directory=directory, hosts=hosts
    )
    return SshCluster(options, LiveScope(), ReferenceSystem())
