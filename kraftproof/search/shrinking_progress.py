"""How shrinking goes: the best so far on disk, a line for each, and a live line on a terminal."""

import sys
from pathlib import Path
from types import TracebackType
from typing import Self

from rich.console import Console

from kraftproof.option_files import option_file
from kraftproof.output import say
from kraftproof.search.seed_result import SeedResult
from kraftproof.search.smaller import Size


class ShrinkingProgress:
    """Keeps and tells each smaller run; a context, since the live line has to go at the end."""

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
        """Take the live line away."""
        self._live.stop()

    def tell(self, found: SeedResult, runs: int) -> None:
        """Keep a run that fails, in the place of a larger one; the file is never half written."""
        with option_file("--out", self._target) as part:
            part.write_text(found.schedule_text(), encoding="utf-8")
        say(f"run {runs:>4}: {Size.of(found).describe()}")
        self._live.update(f"run {runs}: {found.reason} with {len(found.scenario.schedule)} faults")
