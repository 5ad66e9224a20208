"""`kraftproof mutate`: generate small bugs of the node, and report which bugs are found."""

import signal
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, as_completed
from contextlib import contextmanager
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from shlex import join
from typing import Annotated

import typer

from kraftproof.commands.sim import refuse_budget
from kraftproof.errors import INTERRUPTED_EXIT_CODE, UsageError
from kraftproof.mutants.generator.acceptance import accepted
from kraftproof.mutants.generator.candidates import Candidate, read_sources
from kraftproof.mutants.generator.files import DIFF_SUFFIX
from kraftproof.mutants.generator.results import (
    append_result,
    as_json,
    as_table,
    line_of,
    read_results,
    totals,
)
from kraftproof.mutants.generator.review import (
    EQUIVALENT,
    read_review,
    section,
    with_section,
)
from kraftproof.mutants.generator.sampling import draw
from kraftproof.mutants.generator.seed_order import load_seed_order
from kraftproof.mutants.generator.trial import SURVIVED, Searches, Trial
from kraftproof.mutants.sim_processes import SearchFailedError, SearchStoppedError, SimProcesses
from kraftproof.mutants.type_check import TypeCheckUnavailableError
from kraftproof.option_files import option_file
from kraftproof.output import print_error, print_json, print_line
from kraftproof.search.defaults import TIME_LIMIT_S

BUDGET_S = 30.0
COUNT = 20
RECORDED_SEEDS = 48
"""Seeds of the unchanged node whose block counts are recorded, twice the seeds of a budget."""

TABLE_WIDTH = 160
"""Columns of the table where the output is no terminal."""


PathsArgument = Annotated[
    list[Path] | None,
    typer.Argument(metavar="PATH", help="Files and folders of the node's source."),
]
CountOption = Annotated[int, typer.Option(min=1, help="Number of mutants.")]
SeedOption = Annotated[int, typer.Option(min=0, help="Seed of the choice of mutants.")]
BudgetOption = Annotated[float, typer.Option(help="CPU seconds after which a mutant has survived.")]
JobsOption = Annotated[int, typer.Option(min=1, help="Concurrent searches.")]
RecordedOption = Annotated[
    int, typer.Option(min=1, help="Seeds to record, of which a search takes the reaching seeds.")
]
TimeLimitOption = Annotated[float, typer.Option(help="Simulated seconds of workload per seed.")]
StoreOption = Annotated[
    Path, typer.Option(help="Folder of the mutants' files and of the recorded block counts.")
]
OutOption = Annotated[
    Path | None,
    typer.Option(
        help="Append each result to this file. Mutants in the file are skipped, unless their "
        "search had a smaller budget."
    ),
]
AgainOption = Annotated[
    bool,
    typer.Option(
        help="Search the survivors of --out again, except for those that --review has as "
        "equivalent."
    ),
]
ShowOption = Annotated[
    str | None, typer.Option(metavar="MUTANT", help="Print the diff of a written mutant.")
]
ReviewOption = Annotated[
    Path | None, typer.Option(help="Table of reviewed survivors, for the scoreboard.")
]
ScoreboardOption = Annotated[
    Path | None, typer.Option(help="Write the totals to this page's section of the mutants.")
]


def mutate(
    *,
    paths: PathsArgument = None,
    count: CountOption = COUNT,
    seed: SeedOption = 0,
    budget_s: BudgetOption = BUDGET_S,
    jobs: JobsOption = 1,
    recorded: RecordedOption = RECORDED_SEEDS,
    time_limit: TimeLimitOption = TIME_LIMIT_S,
    store: StoreOption = Path("store/mutants"),
    out: OutOption = None,
    again: AgainOption = False,
    show: ShowOption = None,
    review: ReviewOption = None,
    scoreboard: ScoreboardOption = None,
    as_json_: Annotated[
        bool, typer.Option("--json", help="Print a JSON object per mutant.")
    ] = False,
) -> None:
    """Make small edits of the node, and report which edits the simulation finds.

    [bold]kraftproof mutate kraftproof/node/core --count 40 --seed 7[/]
    Searches for 40 mutants, each for at most 30 CPU seconds.

    [bold]kraftproof mutate kraftproof/node --count 400 --out results.jsonl[/]
    Continues after an interruption: mutants in the file are not searched again.

    [bold]kraftproof mutate --show core.raft.elections-boundary-306c2595[/]
    Prints the diff of a mutant, and the command that replays the mutant.

    A mutant type-checks (mypy --strict) and imports. A search runs seeds whose
    unchanged run executes the edited code, most executions first. The result is
    property (an invariant or a check of the history), assertion (a check of the
    node itself), crash (another exception), survived, or not reached (no recorded
    seed runs the edited code).

    Exit codes: 0 searched, whatever survived, 3 wrong usage or input, 130
    interrupted.
    """
    if show is not None:
        _show(show, store)
        return
    refuse_budget(budget_s)
    sources = read_sources(_given(paths))
    reviewed = {} if review is None else read_review(review)
    if scoreboard is not None and not scoreboard.parent.is_dir():
        raise UsageError(f"--scoreboard {scoreboard}: no directory {scoreboard.parent}")
    done = {} if out is None else read_results(out)
    if again:
        done = {
            mutant: trial
            for mutant, trial in done.items()
            if trial.result != SURVIVED or reviewed.get(mutant) == EQUIVALENT
        }
    _make_folder(store)
    output = _Output(done, out, is_json=as_json_, expected=count)
    try:
        with _interruptible() as processes:
            order = load_seed_order(store, recorded, time_limit, processes)
            searches = Searches(processes, order, budget_s, store, time_limit)
            trials = _search(_chosen(draw(sources, seed), count, store), searches, output, jobs)
    except SearchStoppedError:
        raise typer.Exit(INTERRUPTED_EXIT_CODE) from None
    except SearchFailedError as error:
        print_error(f"kraftproof: {error}")
        raise typer.Exit(1) from None
    _print_result(trials, is_json=as_json_)
    if scoreboard is not None:
        options = ["--count", str(count), "--seed", str(seed), "--budget-s", f"{budget_s:g}"]
        options += ["--recorded", str(recorded), "--time-limit", f"{time_limit:g}"]
        command = join(["kraftproof", "mutate", *map(str, paths or ()), *options])
        _write_section(scoreboard, trials, reviewed, command)


def _write_section(
    scoreboard: Path, trials: Sequence[Trial], reviewed: Mapping[str, str], command: str
) -> None:
    """Write the section of the scoreboard about generated mutants; keep the rest of the page."""
    date = datetime.now(UTC).date().isoformat()
    page = scoreboard.read_text(encoding="utf-8") if scoreboard.exists() else ""
    with option_file("--scoreboard", scoreboard) as part:
        text = with_section(page, section(trials, reviewed, command, date))
        part.write_text(text, encoding="utf-8")


def _given(paths: Sequence[Path] | None) -> Sequence[Path]:
    if not paths:
        raise UsageError("PATH: a file or a folder of the node is expected, or --show MUTANT")
    return paths


def _make_folder(store: Path) -> None:
    try:
        store.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--store {store}: {error.strerror}") from error


def _show(mutant_id: str, store: Path) -> None:
    """Print the diff of a written mutant, and the command that replays the mutant."""
    file = store / f"{mutant_id}.py"
    diff = store / f"{mutant_id}{DIFF_SUFFIX}"
    if not file.is_file() or not diff.is_file():
        raise UsageError(f"--show {mutant_id}: no such mutant in {store}")
    print_line(diff.read_text(encoding="utf-8").rstrip("\n"))
    print_line(join(["kraftproof", "sim", "--seeds", "0:", "--mutant", str(file)]))


@contextmanager
def _interruptible() -> Iterator[SimProcesses]:
    """Yield the processes of the searches; Ctrl-C stops the searches, which end the command."""
    processes = SimProcesses()

    def interrupted(*_: object) -> None:
        processes.stop()
        raise SearchStoppedError("stopped")

    otherwise = signal.signal(signal.SIGINT, interrupted)
    try:
        yield processes
    finally:
        processes.stop()
        signal.signal(signal.SIGINT, otherwise)


def _chosen(drawn: Iterator[Candidate], count: int, store: Path) -> Iterator[Candidate]:
    """Yield the first candidates that type-check and import; their files are written.

    Raises:
        UsageError: mypy can't run.
    """
    try:
        yield from islice(accepted(drawn, store), count)
    except TypeCheckUnavailableError as error:
        raise UsageError(str(error)) from error


class _Output:
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


def _search(
    chosen: Iterator[Candidate], searches: Searches, output: _Output, jobs: int
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


def _finish(running: dict[Future[Trial], None], trials: dict[str, Trial], output: _Output) -> None:
    """Wait for one search, and report its result."""
    future = next(as_completed(running))
    del running[future]
    trial = future.result()
    trials[trial.mutant] = trial
    output.take(trial)


def _print_result(trials: Sequence[Trial], *, is_json: bool) -> None:
    if is_json:
        return
    from rich.console import Console

    print_line("")
    console = Console(highlight=False)
    width = None if console.is_terminal else TABLE_WIDTH
    console.print(as_table(trials), width=width)
    print_line(totals(trials))
