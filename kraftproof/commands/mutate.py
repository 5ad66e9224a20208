"""`kraftproof mutate`: generate small bugs of the node, and report which bugs are found."""

import signal
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from shlex import join
from typing import Annotated

import typer

from kraftproof.commands.sim import refuse_budget
from kraftproof.errors import INTERRUPTED_EXIT_CODE, UsageError
from kraftproof.mutants.comparing.comparison_trials import ComparisonTrials, record_draws
from kraftproof.mutants.generator.acceptance import accepted
from kraftproof.mutants.generator.candidates import Candidate, read_sources
from kraftproof.mutants.generator.files import DIFF_SUFFIX
from kraftproof.mutants.generator.results import read_results
from kraftproof.mutants.generator.review import (
    EQUIVALENT,
    read_review,
    section,
    with_section,
)
from kraftproof.mutants.generator.run import Output, print_result, run_all
from kraftproof.mutants.generator.sampling import draw
from kraftproof.mutants.generator.seed_order import load_seed_order
from kraftproof.mutants.generator.source import Source
from kraftproof.mutants.generator.trial import SURVIVED, UNKILLED, Searches, Trial
from kraftproof.mutants.sim_processes import SearchFailedError, SearchStoppedError, SimProcesses
from kraftproof.mutants.type_check import STRICT, TypeCheckUnavailableError, type_checker
from kraftproof.option_files import option_file
from kraftproof.output import print_error, print_line
from kraftproof.run.backends import specification_of
from kraftproof.search.defaults import TIME_LIMIT_S

BUDGET_S = 30.0
COUNT = 20
RECORDED_SEEDS = 48
"""Seeds of the unchanged node whose block counts are recorded, twice the seeds of a budget."""

DRAWS = 40
"""Draws of each comparison, as many as ten compared runs have."""


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
ComparisonsOption = Annotated[
    bool,
    typer.Option(
        "--comparisons-only",
        help="Try the edits against the comparisons of the edited packages, without any run of a "
        "cluster.",
    ),
]
DrawsOption = Annotated[
    int, typer.Option(min=1, help="Draws of each comparison, with --comparisons-only.")
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
    comparisons_only: ComparisonsOption = False,
    draws: DrawsOption = DRAWS,
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

    [bold]kraftproof mutate kraftproof/node/core/security --comparisons-only --count 500[/]
    Tries 500 edits in minutes. A survivor type-checks; the others need not.

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
    output = Output(done, out, is_json=as_json_, expected=count)
    try:
        with _interruptible() as processes:
            if comparisons_only:
                trying = _Trying(count=count, seed=seed, draws=draws, budget_s=budget_s, jobs=jobs)
                tried = _try_all(sources, trying, store, output, processes)
                print_result(tried, is_json=as_json_, results=UNKILLED)
                return
            order = load_seed_order(store, recorded, time_limit, processes)
            searches = Searches(processes, order, budget_s, store, time_limit)
            trials = run_all(_chosen(draw(sources, seed), count, store), searches, output, jobs)
    except SearchStoppedError:
        raise typer.Exit(INTERRUPTED_EXIT_CODE) from None
    except SearchFailedError as error:
        print_error(f"kraftproof: {error}")
        raise typer.Exit(1) from None
    print_result(trials, is_json=as_json_)
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


@dataclass(frozen=True, slots=True, kw_only=True)
class _Trying:
    """The options of `--comparisons-only`."""

    count: int
    seed: int
    draws: int
    budget_s: float
    jobs: int


def _try_all(
    sources: Sequence[Source],
    options: _Trying,
    store: Path,
    output: Output,
    processes: SimProcesses,
) -> list[Trial]:
    """Try edits against the comparisons alone.

    Raises:
        UsageError: mypy can't run.
    """
    recorded = record_draws(sources, options.draws, specification_of, processes)
    with type_checker(STRICT) as checker:
        trials = ComparisonTrials(
            *(processes, recorded, specification_of, checker),
            budget_s=options.budget_s,
            files=store,
        )
        try:
            drawn = islice(draw(sources, options.seed), options.count)
            return run_all(drawn, trials, output, options.jobs)
        except TypeCheckUnavailableError as error:
            raise UsageError(str(error)) from error
