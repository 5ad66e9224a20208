"""A whole run, from options to verdict, composed of the modules of this package.

Order: refuse what can't be run; write run.json; start; interpret; stop; collect; write
outcome.json; check; report. `checkers` judges the run directory. Ctrl-C leaves no verdict.
"""

from dataclasses import dataclass

from kraftproof.checkers.figures import Figures
from kraftproof.checkers.guards.contamination import signs
from kraftproof.checkers.run_outcome import Mishap
from kraftproof.checkers.verdict import Finding, RunVerdict, Verdict
from kraftproof.nemesis.schedule import Schedule
from kraftproof.options import RunOptions
from kraftproof.run.attempt import Attempt, Watch
from kraftproof.run.backends import Simulation, simulation_of
from kraftproof.run.directory import RunDirectory
from kraftproof.run.display.progress import Progress
from kraftproof.run.interpreter.interpreter import Interpreted
from kraftproof.run.judging import judge_run
from kraftproof.run.mishaps import exit_code_of, writing
from kraftproof.run.outcome import OutcomeRecorder
from kraftproof.run.run_nodes import nodes_of_run
from kraftproof.workloads.catalogue import make_workload


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResult:
    """Result of a run."""

    directory: RunDirectory
    check: RunVerdict
    """The verdict, as whoever judges the directory again gets it."""
    run: Interpreted | None
    simulation: Simulation | None = None
    mishaps: tuple[Mishap, ...] = ()

    @property
    def exit_code(self) -> int:
        """The verdict's, but for a run that was interrupted or that a mistake of ours ended."""
        return exit_code_of({one.kind for one in self.mishaps}, self.verdict)

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
    attempt = Attempt(options, directory, schedule, progress, watch, is_collected=is_collected)
    nodes = nodes_of_run(options, attempt.system)
    guarantees = attempt.guarantees()
    directory.write_run(options, workload, nodes, schedule, mutant_hash, guarantees)
    if not attempt.mishaps:
        attempt.drive()
    if not guarded and attempt.is_interrupted:
        raise KeyboardInterrupt  # a search is ended as a whole
    with writing(directory.path):
        simulation = simulation_of(attempt.cluster)
    attempt.collect(with_tables=is_collected)
    run = attempt.so_far()
    if not options.is_virtual:
        attempt.mishaps += signs(directory.history, directory.nodes, directory.run_id(options))
    outcome = OutcomeRecorder(directory.path, is_guarded=guarded)
    for one in attempt.mishaps:
        outcome.mishap(one.kind, one.sentence)
    with writing(directory.path):
        seen = attempt.broken_promises()
        violations = () if simulation is None else simulation.violations
        outcome.write(
            run,
            violations,
            seen,
            is_complete=attempt.interpreted is not None,
            events=attempt.events(),
            leader_changes=attempt.leader_changes(),
        )
    progress.phase(f"checking with the {options.engine} engine")
    check = judge_run(directory, workload.model, options.engine, progress.phase, attempt.note)
    return RunResult(
        directory=directory,
        check=check,
        run=run,
        simulation=simulation,
        mishaps=tuple(attempt.mishaps),
    )
