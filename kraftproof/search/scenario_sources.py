"""Sources of scenarios for `kraftproof sim` and `shrink`: seeds, or a schedule file.

A source plants its mutant before any module of the node is imported.
"""

from dataclasses import dataclass, field, replace
from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING, Any, Protocol

from kraftproof.errors import UsageError
from kraftproof.mutants.installation import install_mutant
from kraftproof.mutants.run_order import PlannedRun
from kraftproof.options import RunOptions, parse_pair
from kraftproof.search.defaults import TIME_LIMIT_S
from kraftproof.search.schedule_file import (
    ScheduleText,
    number_text,
    options_of,
    read_schedule_text,
)

if TYPE_CHECKING:
    from kraftproof.search.scenario import Scenario


class Source(Protocol):
    """A source of scenarios."""

    def install(self) -> str | None:
        """Plant the mutant, if there is one, and return its hash."""
        ...

    def scenario(self, seed: int) -> "Scenario":
        """Return the scenario of a seed."""
        ...

    def replay(self, seed: int) -> str:
        """Return the command that replays the scenario of a seed."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Seeds:
    """Scenarios drawn from seeds; the given options override drawn values.

    Raises:
        UsageError: the number of nodes or the time limit is out of range.
    """

    store: Path
    mutant: str | None = None
    nodes: str | None = None
    workload: str | None = None
    time_limit_s: float = TIME_LIMIT_S

    def __post_init__(self) -> None:
        """Check the options before the node is imported."""
        controllers, brokers = (1, 1) if self.nodes is None else parse_pair(self.nodes)
        if not controllers or not brokers:
            raise UsageError(f"--nodes {self.nodes}: at least one of each is expected, such as 3+3")
        RunOptions(nodes=f"{controllers}+{brokers}", time_limit_s=self.time_limit_s)

    def install(self) -> str | None:
        """Plant the mutant, if there is one, and return its hash."""
        return install_mutant(self.mutant, "simulated")

    def scenario(self, seed: int) -> "Scenario":
        """Draw the scenario of a seed."""
        from kraftproof.search.scenario import scenario

        return scenario(
            seed,
            self.store,
            mutant=self.mutant,
            time_limit_s=self.time_limit_s,
            nodes=None if self.nodes is None else parse_pair(self.nodes),
            workload=self.workload,
        )

    def replay(self, seed: int) -> str:
        """Return the command with all options that differ from the defaults."""
        return join(["kraftproof", "sim", "--seed", str(seed), *self._options()])

    def shrink(self, seed: int) -> str:
        """Return the command that shrinks the scenario of a seed."""
        return join(["kraftproof", "shrink", str(seed), *self._options()])

    def _options(self) -> list[str]:
        words = [] if self.mutant is None else ["--mutant", self.mutant]
        words += [] if self.nodes is None else ["--nodes", self.nodes]
        words += [] if self.workload is None else ["--workload", self.workload]
        if self.time_limit_s != TIME_LIMIT_S:
            words += ["--time-limit", number_text(self.time_limit_s)]
        return words


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedRuns:
    """The runs of a plan in their order, instead of seeds; the number of a run is its place.

    The unchanged node draws the workload of a seed without a workload, so that a run executes what
    was recorded of the unchanged node. After the plan come the seeds from `then` on, if set.
    """

    runs: tuple[PlannedRun, ...]
    seeds: Seeds
    then: int | None = None
    made: dict[int, tuple[PlannedRun, str]] = field(default_factory=dict)
    """The last run of each seed, and its workload."""

    @property
    def wanted(self) -> str:
        """The places of the plan, as seeds."""
        return "0:" if self.then is not None else f"0:{len(self.runs)}"

    def install(self) -> str | None:
        """Plant the mutant, if there is one, and return its hash."""
        return self.seeds.install()

    def scenario(self, seed: int) -> "Scenario":
        """Draw the scenario of the run in a place."""
        run, given = self._run(seed), self.seeds
        one = replace(given, mutant=None, **_own(run)).scenario(run.seed)
        self.made[run.seed] = run, one.options.workload
        return replace(one, options=replace(one.options, mutant=given.mutant))

    def _run(self, place: int) -> PlannedRun:
        if place < len(self.runs):
            return self.runs[place]
        assert self.then is not None, "a place of the plan"
        return PlannedRun(self.then + place - len(self.runs))

    def replay(self, seed: int) -> str:
        """Return the command for the last run of a seed."""
        run, workload = self.made[seed]
        return replace(self.seeds, **(_own(run) | {"workload": workload})).replay(seed)


def _own(run: PlannedRun) -> dict[str, Any]:
    """Return the options that a run of a plan sets itself."""
    own: dict[str, Any] = {} if run.workload is None else {"workload": run.workload}
    return own if run.time_limit_s is None else own | {"time_limit_s": run.time_limit_s}


class ScheduleFile:
    """The scenario of a schedule file.

    Raises:
        UsageError: the file is no schedule file; one line.
    """

    def __init__(self, path: Path, store: Path) -> None:
        self._text: ScheduleText = read_schedule_text(path)
        self._options = options_of(self._text, store)
        self.mutant = self._text.mutant

    @property
    def seed(self) -> int:
        """The seed of all random choices that the file does not fix."""
        return self._options.seed

    @property
    def violates(self) -> str | None:
        """The property that the run violates, according to the file."""
        return self._text.violates

    def install(self) -> str | None:
        """Plant the mutant, if there is one, and return its hash."""
        return install_mutant(self.mutant, "simulated")

    def scenario(self, seed: int) -> "Scenario":
        """Read the faults; the argument is ignored, since the file has its own seed."""
        from kraftproof.search.scenario import from_schedule

        assert seed == self.seed, "a file is one scenario"
        return from_schedule(self._options, self._text)

    def replay(self, seed: int) -> str:
        """Return the command that replays the file."""
        del seed
        return join(["kraftproof", "sim", "--schedule", str(self._text.path)])
