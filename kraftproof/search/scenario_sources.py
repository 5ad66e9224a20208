"""Where the scenarios of `kraftproof sim` and `shrink` come from: seeds, or a schedule file.

A source first plants its mutant; only then may anything of the node be imported.
"""

from dataclasses import dataclass
from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING, Protocol

from kraftproof.errors import UsageError
from kraftproof.mutants.installation import install_mutant
from kraftproof.options import RunOptions, parse_pair
from kraftproof.search.schedule_file import (
    ScheduleText,
    number_text,
    options_of,
    read_schedule_text,
)

if TYPE_CHECKING:
    from kraftproof.search.scenario import Scenario

TIME_LIMIT_S = 60.0


class Source(Protocol):
    """Makes scenarios."""

    def install(self) -> str | None:
        """Plant the mutant, if there is one, and return its hash."""
        ...

    def scenario(self, seed: int) -> "Scenario":
        """Return the scenario of a seed."""
        ...

    def replay(self, seed: int) -> str:
        """Return the command that runs that scenario again."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Seeds:
    """Scenarios drawn from seeds; what is given here overrides what is drawn.

    Raises:
        UsageError: nodes or a time limit that no run can have.
    """

    store: Path
    mutant: str | None = None
    nodes: str | None = None
    time_limit_s: float = TIME_LIMIT_S

    def __post_init__(self) -> None:
        """Refuse them before anything is imported."""
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
        )

    def replay(self, seed: int) -> str:
        """Return the command with all that is not as it is by default."""
        return join(["kraftproof", "sim", "--seed", str(seed), *self._options()])

    def shrink(self, seed: int) -> str:
        """Return the command that cuts that scenario down."""
        return join(["kraftproof", "shrink", str(seed), *self._options()])

    def _options(self) -> list[str]:
        words = [] if self.mutant is None else ["--mutant", self.mutant]
        words += [] if self.nodes is None else ["--nodes", self.nodes]
        if self.time_limit_s != TIME_LIMIT_S:
            words += ["--time-limit", number_text(self.time_limit_s)]
        return words


class ScheduleFile:
    """The one scenario of a schedule file.

    Raises:
        UsageError: the file is no schedule; one line.
    """

    def __init__(self, path: Path, store: Path) -> None:
        self._text: ScheduleText = read_schedule_text(path)
        self._options = options_of(self._text, store)
        self.mutant = self._text.mutant

    @property
    def seed(self) -> int:
        """The seed that its chance is drawn from."""
        return self._options.seed

    @property
    def violates(self) -> str | None:
        """What the file says will not hold."""
        return self._text.violates

    def install(self) -> str | None:
        """Plant the mutant, if there is one, and return its hash."""
        return install_mutant(self.mutant, "simulated")

    def scenario(self, seed: int) -> "Scenario":
        """Read the faults; the seed is the file's own."""
        from kraftproof.search.scenario import from_schedule

        assert seed == self.seed, "a file is one scenario"
        return from_schedule(self._options, self._text)

    def replay(self, seed: int) -> str:
        """Name the file."""
        del seed
        return join(["kraftproof", "sim", "--schedule", str(self._text.path)])
