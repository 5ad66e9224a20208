"""The pytest plug-in: fixtures for clusters of any backend and for complete runs (docs/pytest.md).

    def test_my_cluster(kraftproof_cluster):
        cluster = kraftproof_cluster(nodes="3+3")
        cluster.kill(1)
        ...

    def test_my_run(kraftproof_run):
        run = kraftproof_run(workload="topics", nemesis="kill", time_limit_s=20)
        assert run.verdict == "valid", run.why

`--kraftproof-backend` and `--kraftproof-seed` apply to all fixtures. The report of a failed test
names the run directories, the reports and the next command.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from kraftproof.cluster.compose_reference import absolute_system
from kraftproof.options import BACKENDS, RunOptions, parse_nemeses, parse_node_config
from kraftproof.spelling import nearest
from kraftproof.sync_cluster import SyncCluster, cluster_of

if TYPE_CHECKING:
    from kraftproof.run.runner import RunResult

BACKEND_OPTION = "--kraftproof-backend"
SEED_OPTION = "--kraftproof-seed"
HOSTS_OPTION = "--kraftproof-hosts"
SECTION = "kraftproof"
_RUNS: pytest.StashKey[list[DoneRun]] = pytest.StashKey()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the command-line options."""
    group = parser.getgroup("kraftproof", "fault injection in clusters")
    group.addoption(
        BACKEND_OPTION,
        choices=BACKENDS,
        default=BACKENDS[0],
        help="backend of all fixtures: local (the default), docker, ssh or simulated",
    )
    group.addoption(HOSTS_OPTION, type=Path, help="file of hosts of the ssh backend (docs/ssh.md)")
    group.addoption(SEED_OPTION, type=int, default=0, help="seed of clusters and runs")


class DoneRun:
    """A run of a test, with the warnings that the command line would print before the run."""

    def __init__(self, result: RunResult, warnings: tuple[str, ...]) -> None:
        self.result = result
        self.warnings = warnings

    def summary(self) -> str:
        """Return the verdict, the reasons, the run's directory and the next command."""
        from kraftproof.run.summary import last_line, reasons

        directory = self.result.directory
        lines = [
            f"{self.result.verdict.value}{last_line(self.result)}",
            *(f"  {sentence}" for sentence in (*reasons(self.result), *self.warnings)),
            f"  run directory: {directory.path}",
            f"  report:        {directory.report}",
            f"  to see why:    kraftproof explain {directory.path}",
        ]
        return "\n".join(lines)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """Add the summaries of the test's runs to the report of a failed test."""
    outcome = yield
    report = outcome.get_result()  # type: ignore[attr-defined]
    runs = item.stash.get(_RUNS, [])
    if report.when == "call" and report.failed and runs:
        report.sections.append((SECTION, "\n".join(run.summary() for run in runs)))


class ClusterFactory:
    """Starts clusters that live as long as the fixture.

    `kraftproof_cluster(nodes="1+1")` starts a cluster and returns the cluster. A method of a
    cluster, such as `kraftproof_cluster.kill(1)`, uses a default cluster of 3 controllers and 3
    brokers, which starts at the first use.
    """

    def __init__(
        self, stack: ExitStack, directory: Path, backend: str, seed: int, hosts: Path | None
    ) -> None:
        self._stack = stack
        self._hosts = hosts
        self._directory = directory
        self._backend = backend
        self._seed = seed
        self._made: list[SyncCluster] = []
        self._default: SyncCluster | None = None

    def __call__(
        self,
        *,
        nodes: str = "",
        system: str = "reference",
        system_version: str | None = None,
        backend: str | None = None,
        seed: int | None = None,
        timeouts: str = "chaos",
        node_config: tuple[str, ...] = (),
    ) -> SyncCluster:
        """Start a cluster and wait until it is ready.

        Args:
            nodes: Nodes by role, as in 3+3, 5 or controller=3,broker=3; otherwise as the system has
                them.
            system: A name, or path/to/file.py:Class.
            system_version: Release of the system; otherwise the system's default release.
            backend: local, docker, ssh or simulated; otherwise the one of --kraftproof-backend.
            seed: Draws the ids and, in simulation, everything; otherwise that of the command line.
            timeouts: chaos (failures show within seconds) or default (the KIPs').
            node_config: KEY=VALUE for every node's server.properties.

        Raises:
            UsageError: an option is out of its range; one line.
            ClusterError: the cluster does not become ready.
        """
        from kraftproof.cluster.systems.registry import make_system
        from kraftproof.run.planning import (
            cluster_options,
            preflight,
            refuse_system,
            with_default_workload,
        )

        directory = self._directory / f"cluster-{len(self._made) + 1}"
        options = RunOptions(
            backend=self._backend if backend is None else backend,
            seed=self._seed if seed is None else seed,
            nodes=nodes,
            system=absolute_system(system),
            system_version=system_version,
            timeouts=timeouts,
            node_config=parse_node_config(node_config),
            store=directory,
            hosts=self._hosts if backend in {None, self._backend} else None,
        )
        options = with_default_workload(options)
        chosen = make_system(options.system)
        requested = cluster_options(options, None, chosen)
        refuse_system(options, chosen, requested)
        preflight(options)
        directory.mkdir(parents=True)
        made = cluster_of(options.backend, requested, chosen)
        self._made.append(self._stack.enter_context(made))
        return self._made[-1]

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever a cluster has
        """Return an attribute of the default cluster, which starts at the first use."""
        if name.startswith("_"):
            raise AttributeError(name)
        if self._default is None:
            self._default = self()
        return getattr(self._default, name)


def _hosts(config: pytest.Config) -> Path | None:
    hosts: Path | None = config.getoption(HOSTS_OPTION)
    return None if hosts is None else hosts.absolute()


@contextmanager
def _factory(config: pytest.Config, directory: Path) -> Iterator[ClusterFactory]:
    """Yield a factory, and stop its clusters at the end, the last cluster first."""
    backend, seed = str(config.getoption(BACKEND_OPTION)), int(config.getoption(SEED_OPTION))
    with ExitStack() as stack:
        yield ClusterFactory(stack, directory, backend, seed, _hosts(config))


@pytest.fixture
def kraftproof_backend(request: pytest.FixtureRequest) -> str:
    """Return the backend of the command line."""
    return str(request.config.getoption(BACKEND_OPTION))


@pytest.fixture
def kraftproof_seed(request: pytest.FixtureRequest) -> int:
    """Return the seed of the command line."""
    return int(request.config.getoption(SEED_OPTION))


@pytest.fixture
def kraftproof_cluster(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[ClusterFactory]:
    """Start clusters that stop after the test: `kraftproof_cluster(nodes="3+3")`."""
    with _factory(request.config, tmp_path) as factory:
        yield factory


@pytest.fixture(scope="module")
def kraftproof_module_cluster(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ClusterFactory]:
    """Start clusters that the tests of a module share."""
    with _factory(request.config, tmp_path_factory.mktemp("kraftproof-module")) as factory:
        yield factory


@pytest.fixture(scope="session")
def kraftproof_session_cluster(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ClusterFactory]:
    """Start clusters that all tests of the session share."""
    with _factory(request.config, tmp_path_factory.mktemp("kraftproof-session")) as factory:
        yield factory


@pytest.fixture
def kraftproof_run(
    request: pytest.FixtureRequest,
    kraftproof_backend: str,
    kraftproof_seed: int,
    tmp_path: Path,
) -> Callable[..., RunResult]:
    """Return a function that executes a complete run and returns the verdict with its reasons.

    The keywords are the fields of RunOptions (kraftproof/options.py), and `nemesis` as
    the command has it.
    """
    runs: list[DoneRun] = request.node.stash.setdefault(_RUNS, [])

    def run(**fields: Any) -> RunResult:  # noqa: ANN401 - the fields of RunOptions, checked there
        given = {"backend": kraftproof_backend, "seed": kraftproof_seed, "engine": "inline"}
        if fields.get("backend") in {None, kraftproof_backend}:
            given["hosts"] = _hosts(request.config)
        options = _options({**given, "store": tmp_path / "store", **fields})
        runs.append(_run(options, has_workload="workload" in fields))
        return runs[-1].result

    return run


def _options(fields: dict[str, Any]) -> RunOptions:
    from kraftproof.errors import UsageError
    from kraftproof.pytest_types import refuse_other_types

    refuse_other_types(fields)
    nemesis = fields.pop("nemesis", None)
    if "system" in fields:
        fields["system"] = absolute_system(fields["system"])
    if nemesis is not None:
        fields["nemeses"] = parse_nemeses(nemesis)
    known = list(RunOptions.__dataclass_fields__)
    unknown = sorted(fields.keys() - known)
    if unknown:
        listed = sorted([*known, "nemesis"])
        raise UsageError(
            f"kraftproof_run: no option {unknown[0]}{nearest(unknown[0], listed)}: one of "
            f"{', '.join(listed)} is expected"
        )
    return RunOptions(**fields)


def _run(options: RunOptions, *, has_workload: bool) -> DoneRun:
    from kraftproof.mutants.installation import install_mutant
    from kraftproof.run.planning import foreseen, plan, with_default_workload
    from kraftproof.running import run_and_report

    # In simulation a mutant comes too late for a node that an earlier test has imported.
    mutant_hash = install_mutant(options.mutant, options.backend)
    if not has_workload:
        options = with_default_workload(options)
    schedule = plan(options)
    result, _ = run_and_report(options, schedule, mutant_hash, is_silent=True)
    return DoneRun(result, foreseen(schedule, options))
