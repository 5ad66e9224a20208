"""Search for a generated mutant until a kill or the end of the budget."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from kraftproof.mutants.generator.candidates import Candidate
from kraftproof.mutants.generator.seed_order import SeedOrder
from kraftproof.mutants.run_order import PlannedRun
from kraftproof.mutants.sim_processes import SearchCrashedError, SearchHungError, SimProcesses

PROPERTY, ASSERTION, CRASH, SURVIVED, NOT_REACHED = RESULTS = (
    "property",
    "assertion",
    "crash",
    "survived",
    "not reached",
)
UNKILLED: Final = (SURVIVED, NOT_REACHED)
MOST_CRASHES: Final = 2
"""Crashed seeds after which a mutant counts as killed by a crash; before, the search goes on."""
HANG_S: Final = 60
"""CPU seconds beyond the budget after which a process counts as hung."""
AFTER: Final = " after "
"""What stands between a property and the exception of an earlier crash of the run."""
COMPARISONS: Final = "comparisons"
"""What stands in place of a workload in the result of an edit without a run."""
HUNG: Final = "an endless loop"
OUTSIDE: Final = "outside of the node"


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """A mutant with the result of its search."""

    mutant: str
    """The id."""
    module: str
    line: int
    operator: str
    edit: str
    """The removed and the inserted text in a line."""
    result: str
    by: str | None
    """The violated property or the exception; None without a kill."""
    cpu_seconds: float
    seed: int | None
    searched: int
    """Number of executed seeds."""
    reached: int
    """Number of recorded seeds with runs of the edited block."""
    workload: str | None = None
    """The workload of the run; None for the workload that the seed draws."""
    time_limit_s: float | None = None
    """The simulated seconds of the run."""


@dataclass(slots=True, kw_only=True)
class _Search:
    """A search so far."""

    last: PlannedRun | None = None
    """The violating run, or the last one."""
    spent_s: float = 0.0
    searched: int = 0
    crashes: int = 0
    kill: dict[str, Any] | None = None

    def is_over(self, budget_s: float) -> bool:
        """Return whether the budget is spent, or the mutant is killed."""
        is_killed = self.kill is not None and self.kill["kind"] != CRASH
        return is_killed or self.crashes >= MOST_CRASHES or self.spent_s >= budget_s


class Searches:
    """Runs trials from any number of threads."""

    def __init__(
        self,
        processes: SimProcesses,
        order: SeedOrder,
        budget_s: float,
        files: Path,
        time_limit_s: float,
    ) -> None:
        self._processes = processes
        self._order = order
        self._budget_s = budget_s
        self._files = files
        self._time_limit_s = time_limit_s

    def run(self, candidate: Candidate) -> Trial:
        """Search for a mutant whose file is written.

        A mutant is not reached if no recorded seed runs the edited block.

        Raises:
            SearchFailedError: the search failed or was stopped.
        """
        mutant = candidate.mutant()
        plan = self._order.of(candidate, self._time_limit_s)
        search, left = _Search(), plan.runs
        while left and not search.is_over(self._budget_s):
            left = self._search(mutant.mutant_id, left, search)
        kill, last = search.kill, search.last
        missed = SURVIVED if plan.reached else NOT_REACHED
        return Trial(
            mutant=mutant.mutant_id,
            module=candidate.source.module.removeprefix("kraftproof."),
            line=candidate.line,
            operator=candidate.operator,
            edit=one_line(candidate),
            result=missed if kill is None else kill["kind"],
            by=None if kill is None else _by(kill),
            cpu_seconds=round(search.spent_s, 2),
            seed=None if kill is None else kill["seed"],
            searched=search.searched,
            reached=plan.reached,
            workload=None if last is None else last.workload,
            time_limit_s=None if last is None else last.time_limit_s,
        )

    def _search(
        self, mutant_id: str, runs: list[PlannedRun], search: "_Search"
    ) -> list[PlannedRun]:
        """Search the runs until a violation, and return the runs that are left to search."""
        try:
            found = self._sim(mutant_id, runs, search.spent_s)
        except SearchHungError:
            search.kill = {"kind": CRASH, "invariant": HUNG, "detail": HUNG, "seed": None}
            search.spent_s, search.crashes = self._budget_s, MOST_CRASHES
            return []
        except SearchCrashedError as error:
            reason = f"{str(error).partition(':')[0]} {OUTSIDE}"
            search.kill = {"kind": CRASH, "invariant": OUTSIDE, "detail": reason, "seed": None}
            search.crashes = MOST_CRASHES
            return []
        search.spent_s += found["cpu_seconds"]
        search.searched += found["seeds"]
        search.last = runs[found["seeds"] - 1]
        if not found["violations"]:
            return []
        search.kill = found["violations"][0]
        search.crashes += search.kill["kind"] == CRASH
        return runs[found["seeds"] :]

    def is_spent(self, trial: Trial) -> bool:
        """Return whether an earlier trial is final: a kill, or a survivor of this budget."""
        is_whole = trial.cpu_seconds >= self._budget_s
        return trial.result not in UNKILLED or (is_whole and trial.result == SURVIVED)

    def _sim(self, mutant_id: str, runs: list[PlannedRun], spent_s: float) -> dict[str, Any]:
        budget_s = self._budget_s - spent_s
        arguments = ["--mutant", str(self._files / f"{mutant_id}.py"), "--in-order", "--bare"]
        arguments += ["--runs", ",".join(map(str, runs)), "--budget-s", f"{budget_s:.2f}"]
        return self._processes.run(arguments, mutant_id, int(self._budget_s) + HANG_S)


def _by(kill: dict[str, Any]) -> str:
    """Return the violated property, or the exception of a crash.

    A property that is violated only after a crash has the exception behind it.
    """
    if kill["kind"] == PROPERTY:
        crash = kill.get("crash")
        after = f"{AFTER}{crash.partition(' ')[0]}" if crash else ""
        return f"{kill['invariant']}{after}"
    return str(kill["detail"]).partition(":")[0]


def one_line(candidate: Candidate) -> str:
    """Return the changed lines of an edit in a line: the old text, an arrow, the new text."""
    lines = candidate.source.diff(candidate.replacement).splitlines()
    changed = [line for line in lines if line[:3] not in {"---", "+++"}]
    old = [line[1:].strip() for line in changed if line.startswith("-")]
    new = [line[1:].strip() for line in changed if line.startswith("+")]
    return f"{' '.join(old)} -> {' '.join(new)}".strip()
