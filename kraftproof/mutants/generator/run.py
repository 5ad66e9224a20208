"""Run the trials of chosen mutants, print each result, and append each to a file."""

from collections.abc import Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Final, Protocol

from kraftproof.mutants.generator.candidates import Candidate
from kraftproof.mutants.generator.results import append_result, as_json, as_table, line_of, totals
from kraftproof.mutants.generator.trial import RESULTS, Trial
from kraftproof.output import print_json, print_line

TABLE_WIDTH: Final = 160
"""Columns of the table where the output is no terminal."""


class Trials(Protocol):
    """Searches for mutants, from any number of threads."""

    def run(self, candidate: Candidate) -> Trial:
        """Search for a mutant."""
        ...

    def is_spent(self, trial: Trial) -> bool:
        """Return whether an earlier trial is final."""
        ...


class Output:
    """Prints results, and appends them to a file."""

    def __init__(
        self, done: dict[str, Trial], out: Path | None, *, is_json: bool, expected: int
    ) -> None:
        self.done = done
        self._out = out
        self._is_json = is_json
        self._expected = expected
        self._shown = 0

    def take(self, trial: Trial) -> None:
        """Print a result; append the result unless the file has it."""
        self._shown += 1
        if self.done.get(trial.mutant) != trial and self._out is not None:
            append_result(self._out, trial)
        if self._is_json:
            print_json(as_json(trial))
        else:
            print_line(f"{self._shown:>4}/{self._expected}  {line_of(trial)}")


def run_all(
    chosen: Iterable[Candidate], searches: Trials, output: Output, jobs: int
) -> list[Trial]:
    """Search for mutants as they are accepted; return the trials in the order of the draw."""
    trials: dict[str, Trial] = {}
    ids: list[str] = []
    running: dict[Future[Trial], None] = {}
    with ThreadPoolExecutor(max_workers=jobs) as pool:
        for candidate in chosen:
            mutant_id = candidate.mutant().mutant_id
            ids.append(mutant_id)
            if mutant_id in output.done and searches.is_spent(output.done[mutant_id]):
                trials[mutant_id] = output.done[mutant_id]
                output.take(trials[mutant_id])
                continue
            running[pool.submit(searches.run, candidate)] = None
            while len(running) > jobs:
                _finish(running, trials, output)
        while running:
            _finish(running, trials, output)
    return [trials[one] for one in ids]


def _finish(running: dict[Future[Trial], None], trials: dict[str, Trial], output: Output) -> None:
    """Wait for one search, and report its result."""
    future = next(as_completed(running))
    del running[future]
    trial = future.result()
    trials[trial.mutant] = trial
    output.take(trial)


def print_result(
    trials: Sequence[Trial], *, is_json: bool, results: Sequence[str] = RESULTS
) -> None:
    """Print the totals of all trials, and a table of those with some results."""
    if is_json:
        return
    from rich.console import Console

    print_line("")
    console = Console(highlight=False)
    width = None if console.is_terminal else TABLE_WIDTH
    console.print(as_table([one for one in trials if one.result in results]), width=width)
    print_line(totals(trials))
