"""The pytest plug-in: a cluster of any backend, and whole runs, as fixtures.

    def test_my_cluster(kraftproof_cluster):
        kraftproof_cluster.kill(1)
        ...

    def test_my_run(kraftproof_run):
        result = kraftproof_run(workload="topics", nemeses=("kill",), time_limit_s=20)
        assert result.verdict == "valid", result.why

`--kraftproof-backend` and `--kraftproof-seed` choose for all fixtures. A live cluster has an
event loop of its own, which each call drives until the call is done. Not: assertions.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import pytest

if TYPE_CHECKING:
    from cluster.protocol import Cluster, ClusterOptions, NodeInfo
    from kraftproof.runner import RunResult

T = TypeVar("T")
BACKEND_OPTION = "--kraftproof-backend"
SEED_OPTION = "--kraftproof-seed"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("kraftproof", "clusters that are broken on purpose")
    group.addoption(BACKEND_OPTION, default="local", help="local (default), docker or simulated")
    group.addoption(SEED_OPTION, type=int, default=0, help="the seed of clusters and runs")


class SyncCluster:
    """A live cluster for tests that are plain functions."""

    def __init__(self, make: Callable[[], Coroutine[Any, Any, Cluster]]) -> None:
        self._runner = asyncio.Runner()
        self._cluster = self.drive(make())

    @property
    def cluster(self) -> Cluster:
        """The cluster itself; its coroutines go through `drive`."""
        return self._cluster

    @property
    def nodes(self) -> tuple[NodeInfo, ...]:
        """All nodes, by id."""
        return self._cluster.nodes

    def drive(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run a coroutine of the cluster to its end."""
        return self._runner.run(coroutine)

    def bootstrap(self) -> str:
        """host:port list of the brokers for ordinary clients."""
        return self._cluster.bootstrap()

    def kill(self, node_id: int) -> None:
        """End a node's process with SIGKILL."""
        self.drive(self._cluster.kill(node_id))

    def start_node(self, node_id: int) -> None:
        """Start a node that is down."""
        self.drive(self._cluster.start_node(node_id))

    def pause(self, node_id: int) -> None:
        """Stop a node's process where it stands."""
        self.drive(self._cluster.pause(node_id))

    def resume(self, node_id: int) -> None:
        """Let a paused node go on."""
        self.drive(self._cluster.resume(node_id))

    def wait_until_ready(self, timeout_s: float = 30.0) -> None:
        """Wait until every broker shows all brokers as unfenced."""
        from cluster.live.readiness import wait_until_ready

        self.drive(wait_until_ready(self._cluster, int(timeout_s * 1e9)))

    def close(self) -> None:
        """Take all down."""
        try:
            self.drive(self._cluster.stop())
        finally:
            self._runner.close()


@pytest.fixture
def kraftproof_backend(request: pytest.FixtureRequest) -> str:
    """The backend that the command line names."""
    return str(request.config.getoption(BACKEND_OPTION))


@pytest.fixture
def kraftproof_seed(request: pytest.FixtureRequest) -> int:
    """The seed that the command line names."""
    return int(request.config.getoption(SEED_OPTION))


@pytest.fixture
def kraftproof_cluster(
    kraftproof_backend: str, kraftproof_seed: int, tmp_path: Path
) -> Iterator[SyncCluster]:
    """A live cluster of 3 controllers and 3 brokers that is up, taken down after the test."""
    from cluster.protocol import ClusterOptions

    options = ClusterOptions(
        controllers=3, brokers=3, seed=kraftproof_seed, directory=tmp_path / "cluster"
    )
    options.directory.mkdir()
    cluster = SyncCluster(lambda: make_live(kraftproof_backend, options))
    try:
        cluster.drive(cluster.cluster.start())
        yield cluster
    finally:
        cluster.close()


async def make_live(backend: str, options: ClusterOptions) -> Cluster:
    """Make a live cluster on the loop that runs this.

    Raises:
        UsageError: the backend has no live clusters.
    """
    from cluster.live.scope import LiveScope
    from kraftproof.errors import UsageError

    if backend == "local":
        from cluster.local.local_cluster import LocalCluster

        return LocalCluster(options, LiveScope())
    if backend == "docker":
        from cluster.docker.docker_cluster import DockerCluster

        return DockerCluster(options, LiveScope())
    raise UsageError(f"{BACKEND_OPTION} {backend}: a cluster fixture takes local or docker")


@pytest.fixture
def kraftproof_run(
    kraftproof_backend: str, kraftproof_seed: int, tmp_path: Path
) -> Callable[..., RunResult]:
    """A function that does a whole run; it takes the fields of RunOptions as keywords."""

    def run(**fields: Any) -> RunResult:  # noqa: ANN401 - the fields of RunOptions, checked there
        from kraftproof.backends import make_backend
        from kraftproof.options import RunOptions
        from kraftproof.progress import Silence
        from kraftproof.report.junit import write_junit
        from kraftproof.report.page import write_page
        from kraftproof.run_directory import make_run_directory
        from kraftproof.runner import execute, plan_spaced, refuse_impossible

        given = {"backend": kraftproof_backend, "seed": kraftproof_seed, "engine": "inline"}
        options = RunOptions(**{**given, "store": tmp_path / "store", **fields})
        schedule = plan_spaced(options)
        refuse_impossible(options, make_backend(options.backend), schedule)
        result = execute(options, make_run_directory(options), schedule, Silence())
        write_page(result)
        write_junit(result)
        return result

    return run
