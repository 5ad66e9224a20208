"""The pytest plug-in: a cluster of any backend, and whole runs, as fixtures.

    def test_my_cluster(kraftproof_cluster):
        kraftproof_cluster.kill(1)
        ...

    def test_my_run(kraftproof_run):
        run = kraftproof_run(workload="topics", nemesis="kill", time_limit_s=20)
        assert run.verdict == "valid", run.why

`--kraftproof-backend` and `--kraftproof-seed` choose for all fixtures. Time passes for a cluster
while one of its calls is being made, on an event loop of its own or in simulation; a live node
goes on meanwhile. Not: assertions.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import pytest

from kraftproof.options import BACKENDS, RunOptions, parse_nemeses, parse_nodes

if TYPE_CHECKING:
    from cluster.live.scope import LiveScope
    from cluster.protocol import Cluster, ClusterOptions, NodeInfo
    from kraftproof.runner import RunResult

T = TypeVar("T")
BACKEND_OPTION = "--kraftproof-backend"
SEED_OPTION = "--kraftproof-seed"
READY_TIMEOUT_S = 30.0
OUTPUT_NAME = "output.log"
LINES_TOLD = 5


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the options."""
    group = parser.getgroup("kraftproof", "clusters that are broken on purpose")
    group.addoption(
        BACKEND_OPTION,
        choices=BACKENDS,
        default=BACKENDS[0],
        help="what fixtures run on: local (the default), docker or simulated",
    )
    group.addoption(SEED_OPTION, type=int, default=0, help="the seed of clusters and runs")


class Drive(Protocol):
    """Runs a coroutine of a cluster to its end."""

    def __call__(self, coroutine: Coroutine[Any, Any, T], /) -> T:
        """Return what the coroutine returns, or raise what it raises."""
        ...


class SyncCluster:
    """A cluster for tests that are plain functions."""

    def __init__(self, cluster: Cluster, drive: Drive) -> None:
        self._cluster = cluster
        self._drive = drive

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
        return self._drive(coroutine)

    def bootstrap(self) -> str:
        """host:port list of the brokers for ordinary clients; empty in simulation."""
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

    def wait_until_ready(self, timeout_s: float = READY_TIMEOUT_S) -> None:
        """Wait until every broker shows all brokers as unfenced.

        Raises:
            ClusterError: one does not in time; notes say what each node printed last.
        """
        from cluster.live.readiness import wait_until_ready
        from cluster.protocol import ClusterError

        try:
            self.drive(wait_until_ready(self._cluster, int(timeout_s * 1e9)))
        except ClusterError as error:
            for node in self.nodes:
                error.add_note(f"node {node.node_id}: {self._last_said(node.node_id)}")
            raise

    def _last_said(self, node_id: int) -> str:
        try:
            text = (self._cluster.node_files(node_id) / OUTPUT_NAME).read_text(errors="replace")
        except OSError as error:
            return f"no output ({error.strerror})"
        return " / ".join(text.splitlines()[-LINES_TOLD:]) or "nothing printed"


@contextmanager
def cluster_of(backend: str, options: ClusterOptions) -> Iterator[SyncCluster]:
    """A cluster that is up, and is taken down whatever happens meanwhile."""
    if backend == "simulated":
        from cluster.simulated.simulated_cluster import SimulatedCluster

        simulated = SimulatedCluster(options)
        simulated.run(simulated.start())
        yield SyncCluster(simulated, simulated.run)
        return
    with asyncio.Runner() as runner:
        scope = runner.run(_live_scope())
        cluster = _live_cluster(backend, options, scope)
        try:
            runner.run(cluster.start())
            yield SyncCluster(cluster, runner.run)
        finally:
            runner.run(cluster.stop())
            runner.run(scope.cancel_rest())


async def _live_scope() -> LiveScope:
    """Made on the loop that it is for."""
    from cluster.live.scope import LiveScope

    return LiveScope()


def _live_cluster(backend: str, options: ClusterOptions, scope: LiveScope) -> Cluster:
    if backend == "docker":
        from cluster.docker.docker_cluster import DockerCluster

        return DockerCluster(options, scope)
    from cluster.local.local_cluster import LocalCluster

    return LocalCluster(options, scope)


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
    """A cluster of 3 controllers and 3 brokers that is up, taken down after the test."""
    from cluster.protocol import ClusterOptions

    directory = tmp_path / "cluster"
    directory.mkdir()
    options = ClusterOptions(controllers=3, brokers=3, seed=kraftproof_seed, directory=directory)
    with cluster_of(kraftproof_backend, options) as cluster:
        yield cluster


@pytest.fixture
def kraftproof_run(
    kraftproof_backend: str, kraftproof_seed: int, tmp_path: Path
) -> Callable[..., RunResult]:
    """A function that does a whole run and returns its verdict, with the reasons.

    It takes the fields of RunOptions as keywords, and `nemesis` and `nodes` as the command does.
    """

    def run(**fields: Any) -> RunResult:  # noqa: ANN401 - the fields of RunOptions, checked there
        given = {"backend": kraftproof_backend, "seed": kraftproof_seed, "engine": "inline"}
        options = _options({**given, "store": tmp_path / "store", **fields})
        return _run(options)

    return run


def _options(fields: dict[str, Any]) -> RunOptions:
    nodes, nemesis = fields.pop("nodes", None), fields.pop("nemesis", None)
    if nodes is not None:
        fields["controllers"], fields["brokers"] = parse_nodes(nodes)
    if nemesis is not None:
        fields["nemeses"] = parse_nemeses(nemesis)
    return RunOptions(**fields)


def _run(options: RunOptions) -> RunResult:
    from kraftproof.diagram_recorder import DiagramRecorder, diagram_of
    from kraftproof.mutation import install_mutant
    from kraftproof.planning import plan
    from kraftproof.progress import Silence
    from kraftproof.report import write_reports
    from kraftproof.run_directory import make_run_directory
    from kraftproof.runner import execute

    # In simulation a mutant comes too late for a node that an earlier test has imported.
    mutant_hash = install_mutant(options.mutant, options.backend)
    schedule = plan(options)
    recorder = DiagramRecorder() if options.backend == "simulated" else None
    directory = make_run_directory(options)
    result = execute(
        options, directory, schedule, Silence(), mutant_hash=mutant_hash, watch=recorder
    )
    write_reports(result, diagram_of(recorder, result))
    return result
