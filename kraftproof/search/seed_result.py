"""The result of a scenario, and the text of its schedule file; seeds.py runs scenarios."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kraftproof.checkers.verdict import FindingKind, Verdict
from kraftproof.nemesis.schedule_file import fault_line
from kraftproof.run.runner import RunResult
from kraftproof.search.scenario import Scenario
from kraftproof.search.schedule_file import schedule_text

if TYPE_CHECKING:
    from kraftproof.cluster.simulated.violation import Violation

MOST_OPERATIONS = 12
"""Largest number of operations that a schedule file lists as comments."""
OF_FILES = "kraft/"
"""Prefix of the names of all checks of the nodes' files."""


PROPERTY = "property"
CRASHES = frozenset({"crash", "assertion"})
"""Kinds of violations; the search for catalogued mutants counts only violated properties."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeedResult:
    """The result of a seed."""

    seed: int
    scenario: Scenario
    result: RunResult
    cpu_s: float
    diagram: str = ""
    """Sequence diagram of the events before the violation."""

    @property
    def violation(self) -> "Violation | None":
        """The violated invariant, or None."""
        return violation_of(self.result)

    @property
    def reasons(self) -> tuple[str, ...]:
        """The names of the violated properties: an invariant, otherwise checks; empty if valid.

        Checks of the nodes' files come last, since most runs are judged without these checks.
        """
        if self.violation is not None:
            return (self.violation.invariant,)
        unsafe = [one.check for one in self.result.findings if one.kind is FindingKind.SAFETY]
        return tuple(dict.fromkeys(sorted(unsafe, key=lambda name: name.startswith(OF_FILES))))

    @property
    def is_crash(self) -> bool:
        """Return whether the code of a node crashed; a crash is no evidence about a property."""
        return self.violation is not None and self.violation.kind in CRASHES

    def violation_as_json(self) -> dict[str, object]:
        """Return the violated property as a value for `--json`: an invariant, otherwise a check."""
        violation, sentence = self.violation, self.result.why[0] if self.result.why else ""
        time_ns = None if violation is None else violation.time_ns
        return {
            "seed": self.seed,
            "event": self.event,
            "invariant": self.reason,
            "kind": PROPERTY if violation is None else str(violation.kind),
            "sentence": sentence if violation is None else violation.sentence,
            "node": None if violation is None else violation.node,
            "time": None if time_ns is None else time_ns / 1e9,
            "detail": None if violation is None else violation.detail,
            "why": list(self.result.why),
            "crash": self.outlived_crash,
        }

    @property
    def reason(self) -> str | None:
        """The first violated property; None for a valid run."""
        return next(iter(self.reasons), None)

    @property
    def outlived_crash(self) -> str | None:
        """The first crash of a node that the run has outlived before the violation, or None."""
        simulation = self.result.simulation
        crashes = () if simulation is None else simulation.crashes
        return crashes[0].detail if crashes else None

    @property
    def events(self) -> int:
        """Number of events of the run."""
        simulation = self.result.simulation
        return simulation.events if simulation is not None else 0

    @property
    def simulated_s(self) -> float:
        """Simulated seconds of the run."""
        simulation = self.result.simulation
        return simulation.simulated_ns / 1e9 if simulation is not None else 0.0

    @property
    def event(self) -> int:
        """The number of the violating event; of the last event for a check of the complete run."""
        return self.events if self.violation is None else self.violation.event

    @property
    def is_violation(self) -> bool:
        """Return whether the run violates a property or crashed."""
        return self.result.verdict is Verdict.INVALID

    def describe(self) -> str:
        """Return the options and the result of the run in one line."""
        operations = self.result.check.operations
        simulation = self.result.simulation
        conditions = "" if simulation is None else simulation.conditions
        return (
            f"{self.seed:>6}  {self.result.verdict.value:<8} {self.scenario.describe():<76} "
            f"{operations:>5} ops {self.events:>7} events {self.cpu_s:>6.2f} CPU-s  {conditions}"
        )

    def schedule_text(self) -> str:
        """Return the schedule file, with the violated property and the time of each fault."""
        said = [self.result.why[0]] if self.result.why else []
        return schedule_text(
            self.scenario.options,
            tuple(self._fault_lines()),
            violates=self.reason,
            comments=[*said, *self._operations(), "From and until are seconds of the workload."],
        )

    def _operations(self) -> Iterator[str]:
        """Yield a comment line per invoked operation; nothing for a run of many operations."""
        run = self.result.run
        if run is None or len(run.operations) > MOST_OPERATIONS:
            return
        for one in sorted(run.operations, key=lambda one: one.invoke_ns):
            yield f"at {one.invoke_ns / 1e6:.0f} ms of the run: {one.f} {one.key}: {one.outcome}"

    def _fault_lines(self) -> Iterator[str]:
        run = self.result.run
        applied = {} if run is None else {e.name: e for e in run.faults if e.phase == "applied"}
        for one in self.scenario.schedule:
            event = applied.get(one.name)
            if event is not None:
                yield f"# at {event.time_ns / 1e6:.0f} ms of the run: {event.detail}"
            yield fault_line(one)


def violation_of(result: RunResult) -> "Violation | None":
    """Return the violated invariant of a run, or None."""
    simulation = result.simulation
    return simulation.violations[0] if simulation is not None and simulation.violations else None
