"""Clusters of containers for tests: one that a module's tests share, each leaving it whole."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any, TypeVar

import pytest

from kraftproof.cluster.docker.docker_cluster import DockerCluster
from kraftproof.cluster.live.scope import LiveScope
from kraftproof.cluster.protocol import Capability, ClusterOptions, nodes_of
from kraftproof.cluster.remote.readiness import wait_until_ready
from kraftproof.cluster.systems.reference.system import ReferenceSystem

T = TypeVar("T")
PATIENCE_S = 20.0
POLL_S = 0.05
READY_NS = 30_000_000_000


class Driver:
    """A cluster, and the loop that its coroutines run on while a test waits."""

    def __init__(self, runner: asyncio.Runner, cluster: DockerCluster) -> None:
        self.runner = runner
        self.cluster = cluster

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


async def make(
    directory: Path,
    controllers: int,
    brokers: int,
    timeouts: str = "chaos",
    needs: frozenset[Capability] = frozenset(),
) -> DockerCluster:
    options = ClusterOptions(
        nodes=nodes_of(controller=controllers, broker=brokers),
        seed=7,
        directory=directory,
        timeouts=timeouts,
        needs=needs,
    )
    return DockerCluster(options, LiveScope(), ReferenceSystem())


@pytest.fixture(scope="module")
def driver(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Driver]:
    """A 3+3 cluster; a module's TIMEOUTS names another profile than chaos."""
    timeouts = getattr(request.module, "TIMEOUTS", "chaos")
    yield from running(make(tmp_path_factory.mktemp("shared"), 3, 3, timeouts))


def running(made: Coroutine[Any, Any, DockerCluster]) -> Iterator[Driver]:
    """Yield the driver of a new cluster, and take the cluster down."""
    with asyncio.Runner() as runner:
        cluster = runner.run(made)
        try:
            runner.run(cluster.start())
            yield Driver(runner, cluster)
        finally:
            runner.run(cluster.stop())
