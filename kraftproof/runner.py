"""A whole run: options to verdict. It composes and decides nothing that a part can decide.

Order: refuse what can't be run; write run.json; bring the cluster up; interpret; take it down;
collect; write outcome.json; check; report. The verdict is that of `checkers` on the run directory.
Ctrl-C heals, keeps what there is, and leaves the verdict unknown.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from checkers import check_run
from checkers.guards.figures import Figures
from checkers.verdict import Finding, RunVerdict, Verdict
from cluster.profiles import timeouts
from cluster.protocol import Cluster, ClusterError
from cluster.systems.system import System, make_system
from kraftproof.backends import ViolationError, make_backend
from kraftproof.collector import collect
from kraftproof.history import FaultRecorder, HistoryRecorder
from kraftproof.interpreter import Interpreted, Interpreter
from kraftproof.options import RunOptions
from kraftproof.outcome import CLUSTER, INTERRUPTED, OutcomeRecorder
from kraftproof.planning import cluster_options
from kraftproof.progress import Progress
from kraftproof.run_directory import RunDirectory
from nemesis.schedule import Schedule
from workloads.catalogue import make_workload
from workloads.workload import Load

if TYPE_CHECKING:
    from cluster.simulated.witness import Violation

__all__ = ("RunResult", "Simulation", "cluster_options", "execute", "quiesce", "simulation_of")

NS_PER_MS = 1_000_000
SIMULATED = "simulated"
Watch = Callable[[Cluster, FaultRecorder], None]
"""Is handed the cluster and the log of its faults before anything is started."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """What came of a run."""

    directory: RunDirectory
    check: RunVerdict
    """The verdict, as whoever judges the directory again gets it."""
    run: Interpreted | None
    simulation: "Simulation | None" = None

    @property
    def verdict(self) -> Verdict:
        """The one verdict on the run."""
        return self.check.verdict

    @property
    def why(self) -> tuple[str, ...]:
        """Findings, mishaps and unmet guards, one sentence each; none for a valid run."""
        return self.check.why

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The broken promises, worst first."""
        return self.check.findings

    @property
    def figures(self) -> Figures | None:
        """The run in numbers; None if no operation was ever due."""
        return self.check.figures


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulation:
    """What a simulated run counts."""

    events: int
    simulated_ns: int
    violations: "tuple[Violation, ...]"
    conditions: str = ""
    """What its world was like, for people."""


def execute(
    options: RunOptions,
    directory: RunDirectory,
    schedule: Schedule,
    progress: Progress,
    *,
    guarded: bool = True,
    is_collected: bool = True,
    mutant_hash: str | None = None,
    watch: Watch | None = None,
) -> RunResult:
    """Do a run in its directory, whose options have been found possible.

    A run that is not `guarded` is one of a search: it may be vacuous, and Ctrl-C ends them all.
    One that is not collected is judged by the simulator's invariants and its history alone.
    """
    workload = make_workload(options.workload)
    session_ns = timeouts(options.timeouts).session_ns
    directory.write_run(options, workload.model, session_ns // NS_PER_MS, mutant_hash)
    attempt = _Attempt(options, directory, schedule, progress, watch)
    outcome = OutcomeRecorder(directory.path, is_guarded=guarded)
    try:
        backend = make_backend(options.backend)
        told = cluster_options(options, directory, is_collected=is_collected)
        backend.run(told, attempt.main, progress.phase)
    except KeyboardInterrupt:
        if not guarded:
            raise  # a search is ended as a whole
        sentence = "interrupted: all faults were healed, the history is partial"
        outcome.mishap(INTERRUPTED, sentence)
    except ViolationError:
        pass  # the cluster's violations say what it was
    except ClusterError as error:
        outcome.mishap(CLUSTER, f"the cluster failed: {error}")
    simulation = simulation_of(attempt.cluster)
    attempt.collect(with_tables=is_collected)
    run = attempt.so_far()
    violations = () if simulation is None else simulation.violations
    outcome.write(run, violations, is_complete=attempt.interpreted is not None)
    progress.phase(f"checking with the {options.engine} engine")
    check = check_run(directory.path, "spark" if options.engine == "spark" else "inline")
    return RunResult(directory=directory, check=check, run=run, simulation=simulation)


class _Attempt:
    """What happens with the cluster, and what is left of it."""

    def __init__(
        self,
        options: RunOptions,
        directory: RunDirectory,
        schedule: Schedule,
        progress: Progress,
        watch: Watch | None,
    ) -> None:
        self.options = options
        self.directory = directory
        self.schedule = schedule
        self.progress = progress
        self.watch = watch
        self.interpreted: Interpreted | None = None
        self.cluster: Cluster | None = None
        self._interpreter: Interpreter | None = None
        self.system: System = make_system(options.system)

    async def main(self, cluster: Cluster) -> None:
        """Bring the cluster up, interpret, take it down, collect."""
        scope = cluster.scope
        history = HistoryRecorder(self.directory.history, scope.now)
        faults = FaultRecorder(self.directory.faults, scope.now)
        interpreter = Interpreter(cluster, self.system, self.schedule, history, faults)
        self._interpreter = interpreter
        self.cluster = cluster
        if self.watch is not None:
            self.watch(cluster, faults)
        try:
            self.progress.phase(f"starting {len(cluster.nodes)} nodes ({cluster.backend})")
            await cluster.start()
            await self.system.prepare(cluster)
            self.progress.phase(f"{self.options.workload} for {self.options.time_limit_s:g} s")
            watching = self.progress.watch(scope, history, faults, self.options.time_limit_ns)
            self.interpreted = await self._interpret(interpreter)
            watching.cancel()
            await quiesce(cluster)
        except BaseException:
            if cluster.backend != SIMULATED:  # a simulated world simply ends
                await interpreter.heal_all()
                await cluster.stop()
            raise
        await cluster.stop()

    def so_far(self) -> Interpreted | None:
        """Return what was interpreted, also if the run was broken off."""
        if self.interpreted is None and self._interpreter is not None:
            return self._interpreter.so_far()
        return self.interpreted

    def collect(self, *, with_tables: bool) -> None:
        """End the files, and make tables of what the nodes wrote, however the run ended."""
        if self._interpreter is not None:
            self._interpreter.history.close()
            self._interpreter.faults.close()
        if self.cluster is not None and with_tables:
            self.progress.phase("collecting the nodes' files")
            collect(self.cluster, self.system, self.directory)

    async def _interpret(self, interpreter: Interpreter) -> Interpreted:
        options = self.options
        load = Load(
            rate=options.rate,
            concurrency=options.concurrency,
            session_ns=timeouts(options.timeouts).session_ns,
        )
        workload = make_workload(options.workload)
        return await interpreter.run(
            workload,
            load,
            seed=options.seed,
            time_limit_ns=options.time_limit_ns,
            operations=options.operations,
        )


async def quiesce(cluster: Cluster) -> None:
    """Let a simulated world settle, and be judged, once all is healed."""
    if cluster.backend == SIMULATED:
        from cluster.simulated.simulated_cluster import SimulatedCluster

        assert isinstance(cluster, SimulatedCluster), "only the simulator is called simulated"
        await cluster.quiesce()


def simulation_of(cluster: Cluster | None) -> Simulation | None:
    """Return what a simulated cluster has counted; None for a live one."""
    if cluster is None or cluster.backend != SIMULATED:
        return None
    from cluster.simulated.simulated_cluster import SimulatedCluster

    assert isinstance(cluster, SimulatedCluster), "only the simulator is called simulated"
    if cluster.violations and cluster.options.is_collected:
        cluster.write_files()  # the run was stopped where it stood
    return Simulation(
        events=cluster.events,
        simulated_ns=cluster.simulated_ns,
        violations=tuple(cluster.violations),
        conditions=cluster.world.conditions.describe(),
    )
