"""Progress of a search: a line per seed, and on a terminal a progress bar."""

import sys
import time
from collections.abc import Iterable, Sized
from types import TracebackType
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

from kraftproof.output import print_line
from kraftproof.search.seed_result import SeedResult


class SearchProgress:
    """Prints each finished seed; as a context manager, removes the bar at the end.

    The bar counts seeds, or CPU seconds if only the CPU budget ends the search.
    """

    def __init__(self, seeds: Iterable[int], budget_s: float | None) -> None:
        self._by_seeds = isinstance(seeds, Sized)
        self._total = float(len(seeds)) if isinstance(seeds, Sized) else budget_s
        self._started_s = time.process_time()
        self._seeds = 0
        self._simulated_s = 0.0
        is_watched = sys.stdout.isatty() and sys.stderr.isatty()
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TimeElapsedColumn(),
            console=Console(stderr=True, highlight=False),
            transient=True,
            disable=not is_watched,
        )
        self._task = self._bar.add_task("the first seed", total=self._total)

    def __enter__(self) -> Self:
        """Show the bar."""
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Remove the bar."""
        self._bar.stop()

    def show(self, one: SeedResult) -> None:
        """Print the result of a seed."""
        print_line(one.describe())
        self._seeds += 1
        self._simulated_s += one.simulated_s
        cpu_s = time.process_time() - self._started_s
        self._bar.update(
            self._task,
            completed=self._seeds if self._by_seeds else cpu_s,
            description=f"{self._seeds} seeds, {self._simulated_s:.0f} simulated s, "
            f"{self._simulated_s / max(cpu_s, 1e-9):.0f} a CPU-s",
        )
