"""Progress of shrinking: the smallest run on disk, a line per smaller run, and a live line."""

import sys
from pathlib import Path
from types import TracebackType
from typing import Self

from rich.console import Console

from kraftproof.option_files import option_file
from kraftproof.output import print_line
from kraftproof.search.seed_result import SeedResult
from kraftproof.search.smaller import Size


class ShrinkingProgress:
    """Writes and prints each smaller run; the context manager shows and removes a live line."""

    def __init__(self, target: Path) -> None:
        self._target = target
        console = Console(stderr=True, highlight=False)
        self._live = console.status("shrinking")
        self._is_watched = sys.stdout.isatty() and sys.stderr.isatty()

    def __enter__(self) -> Self:
        """Show the live line."""
        if self._is_watched:
            self._live.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Remove the live line."""
        self._live.stop()

    def show(self, found: SeedResult, runs: int) -> None:
        """Replace the file by a smaller failing run in one step, and print the run's size."""
        with option_file("--out", self._target) as part:
            part.write_text(found.schedule_text(), encoding="utf-8")
        print_line(f"run {runs:>4}: {Size.of(found).describe()}")
        self._live.update(f"run {runs}: {found.reason} with {len(found.scenario.schedule)} faults")
