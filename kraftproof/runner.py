"""A whole run: options to verdict. It composes and decides nothing that a part can decide.

Order: refuse what can't be run; write run.json; bring the cluster up; interpret; take it down;
collect; check; report. Ctrl-C heals, keeps what there is, and leaves the verdict unknown.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import msgspec

from checkers import Engine, check_run
from checkers.verdict import Finding, FindingKind, RunVerdict, Verdict
from cluster.profiles import timeouts
from cluster.protocol import Cluster, ClusterError
from cluster.systems.system import System, make_system
from kraftproof.backends import ViolationError, make_backend
from kraftproof.collector import collect
from kraftproof.guards import Figures, figures, unmet
from kraftproof.history import FaultRecorder, HistoryRecorder
from kraftproof.interpreter import Interpreted, Interpreter
from kraftproof.options import RunOptions
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
    verdict: Verdict
    why: tuple[str, ...]
    """Findings, unmet guards and mishaps, one sentence each; empty for a valid run."""
    check: RunVerdict | None
    run: Interpreted | None
    figures: Figures | None
    simulation: "Simulation | None" = None

    @property
    def findings(self) -> tuple[Finding, ...]:
        """The broken promises, worst first."""
        return () if self.check is None else self.check.findings


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
    why: list[str] = []
    try:
        backend = make_backend(options.backend)
        told = cluster_options(options, directory, is_collected=is_collected)
        backend.run(told, attempt.main, progress.phase)
    except KeyboardInterrupt:
        if not guarded:
            raise  # a search is ended as a whole
        why.append("interrupted: all faults were healed, the history is partial")
    except ViolationError:
        pass  # the cluster's violations say what it was
    except ClusterError as error:
        why.append(f"the cluster failed: {error}")
    simulation = simulation_of(attempt.cluster)
    attempt.collect(with_tables=is_collected)
    progress.phase(f"checking with the {options.engine} engine")
    engine: Engine = "spark" if options.engine == "spark" else "inline"
    check = check_run(directory.path, engine, report=progress.phase)
    run = attempt.interpreted
    if run is not None and guarded:
        why += unmet(run, options.nemeses)
    return _result(attempt, simulation, check, why)


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
        self.progress.phase("stopping the nodes")
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


def _result(
    attempt: _Attempt, simulation: Simulation | None, check: RunVerdict, mishaps: Sequence[str]
) -> RunResult:
    violations = simulation.violations if simulation is not None else ()
    if violations:
        check = _with_violations(check, violations)
    verdict = check.verdict
    if verdict is Verdict.VALID and mishaps:
        verdict = Verdict.UNKNOWN
    findings = [f"{one.check}: {one.sentence}" for one in check.findings]
    notes = list(check.notes) if verdict is not Verdict.VALID else []
    run = attempt.so_far()
    return RunResult(
        directory=attempt.directory,
        verdict=verdict,
        why=(*findings, *mishaps, *notes),
        check=check,
        run=run,
        figures=None if run is None else figures(run),
        simulation=simulation,
    )


def _with_violations(check: RunVerdict, violations: "Sequence[Violation]") -> RunVerdict:
    """Return the check's verdict with the simulator's violated invariants in it."""
    found = tuple(
        Finding(check="invariant", kind=FindingKind.SAFETY, sentence=str(violation))
        for violation in violations
    )
    return msgspec.structs.replace(check, verdict=Verdict.INVALID, findings=found + check.findings)
