"""`kraftproof mutants`: plant each bug of the catalogue, and report which bugs are found."""

import os
import signal
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING, Annotated

import typer

from kraftproof.errors import INTERRUPTED_EXIT_CODE, UsageError
from kraftproof.mutants.first_seeds import read_first_seeds
from kraftproof.mutants.generator.review import section_of
from kraftproof.mutants.scoreboard import Score, Scoreboard, as_markdown, as_table
from kraftproof.mutants.search import (
    CLEAN,
    Search,
    Searcher,
    SeedRange,
    parse_range,
)
from kraftproof.mutants.sim_processes import SearchFailedError, SearchStoppedError
from kraftproof.option_files import option_file, refuse_path
from kraftproof.output import print_error, print_json, print_line

if TYPE_CHECKING:
    from kraftproof.mutants import Mutant

BUDGET_S = 112.0
REPEAT = 5
POLL_S = 0.5

SeedsFromOption = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help='JSON of earlier finds, {"A1": {"seed": 7}}: where the searches of each mutant in the '
        "file begin.",
    ),
]


def judge(
    *,
    ids: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="ID",
            help="Ids of the catalogue, Python files, or `clean` for the unchanged node; by "
            "default the complete catalogue.",
        ),
    ] = None,
    seeds: Annotated[str, typer.Option(help="Seeds of the first search: A: or A:B.")] = "0:",
    seeds_from: SeedsFromOption = None,
    budget_s: Annotated[
        float, typer.Option(help="CPU seconds after which a search has missed the bug.")
    ] = BUDGET_S,
    repeat: Annotated[
        int, typer.Option(min=1, help="Searches per mutant, each with different seeds.")
    ] = REPEAT,
    jobs: Annotated[
        int | None, typer.Option(min=1, help="Concurrent searches; by default one per core.")
    ] = None,
    scoreboard: Annotated[
        Path | None, typer.Option(help="Write the result table to this file, as Markdown.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a JSON object per mutant.")
    ] = False,
) -> None:
    """Plant known bugs in the node, one at a time, and report which bugs the simulation finds.

    [bold]kraftproof mutants[/]
    Runs the complete catalogue with five searches per bug, which takes minutes.

    [bold]kraftproof mutants A18 A19a --repeat 1[/]
    Runs one search for each of two bugs.

    [bold]kraftproof mutants ./my_bug.py[/]
    Plants your own bug: a Python file with a MUTANT.

    A bug is found if each search finds a violated property within the budget,
    with a seed that the unchanged node passes. A crash of the node does not
    count. The edit of a mutant must pass mypy first.

    Exit codes: 0 all found, 1 a missed bug or a false alarm, 3 wrong usage or
    input, 130 interrupted.
    """
    wanted = tuple(dict.fromkeys(ids or ()))
    drawn = parse_range(seeds)
    _refuse(budget_s, scoreboard)
    first_seeds = {} if seeds_from is None else read_first_seeds(seeds_from)
    chosen = _chosen(wanted)
    ranges = {
        one.mutant_id: drawn.from_first(first_seeds.get(one.mutant_id)).repeated(repeat)
        for one in chosen
    }
    clean_ranges = drawn.repeated(repeat) if CLEAN in wanted or not wanted else ()
    _type_check(chosen)
    searcher = Searcher(budget_s)
    try:
        with _pool(searcher, jobs or len(os.sched_getaffinity(0))) as pool:
            running = _Running(pool, searcher, chosen, ranges, clean_ranges)
            board = running.board(budget_s, as_json=as_json)
    except SearchStoppedError:
        raise typer.Exit(INTERRUPTED_EXIT_CODE) from None
    except SearchFailedError as error:
        print_error(f"kraftproof: {error}")
        raise typer.Exit(1) from None
    _print_result(board, as_json=as_json)
    if scoreboard is not None:
        options = ["--seeds", seeds]
        options += [] if seeds_from is None else ["--seeds-from", seeds_from.name]
        options += ["--budget-s", f"{budget_s:g}", "--repeat", str(repeat)]
        command = ["kraftproof", "mutants", *wanted, *options, "--scoreboard", scoreboard.name]
        _write(scoreboard, board, join(command))
    raise typer.Exit(0 if board.is_good else 1)


def _refuse(budget_s: float, scoreboard: Path | None) -> None:
    """Refuse an empty budget, and a table that no file can hold, before the searches begin."""
    if not budget_s > 0:
        raise UsageError(f"--budget-s {budget_s:g}: more than 0 is expected")
    refuse_path("--scoreboard", scoreboard)


def _chosen(wanted: Sequence[str]) -> "tuple[Mutant, ...]":
    """Return the mutants of the given ids, in order; without ids the complete catalogue.

    Raises:
        UsageError: an id is unknown, or a mutant does not fit the node.
    """
    from kraftproof import mutants
    from kraftproof.mutants.hook import source_of

    try:
        chosen = tuple(mutants.load(one) for one in wanted if one != CLEAN)
        chosen = chosen if wanted else mutants.ALL
        for mutant in chosen:
            for module in mutant.modules:
                mutant.mutate(module, source_of(module))
    except (LookupError, ValueError) as error:
        raise UsageError(str(error.args[0] if error.args else error)) from error
    return chosen


def _type_check(chosen: "Sequence[Mutant]") -> None:
    """Refuse mutants whose edits do not type-check, since such a mutant would only crash.

    Raises:
        UsageError: mypy reports an error in a mutant, or mypy can't run.
    """
    from kraftproof import mutants

    try:
        errors = mutants.type_errors(chosen)
    except mutants.TypeCheckUnavailableError as error:
        raise UsageError(str(error)) from error
    for mutant_id, said in errors.items():
        raise UsageError(f"mutant {mutant_id}: its edits do not type-check: {said}")


@contextmanager
def _pool(searcher: Searcher, side_by_side: int) -> Iterator[ThreadPoolExecutor]:
    """Yield a pool of threads that wait for searches; an early end stops the searches.

    Ctrl-C stops the searches, and the end of the searches ends the command. An exception of Ctrl-C
    could leave a lock of the threads held.
    """
    otherwise = signal.signal(signal.SIGINT, lambda *_: searcher.stop())
    pool = ThreadPoolExecutor(max_workers=side_by_side)
    try:
        yield pool
    finally:
        searcher.stop()
        pool.shutdown(cancel_futures=True)
        signal.signal(signal.SIGINT, otherwise)


def _result(future: Future[Search]) -> Search:
    """Wait for a search in short turns: a signal just before a wait is handled after the wait."""
    while True:
        with suppress(TimeoutError):
            return future.result(POLL_S)


class _Running:
    """Running and waiting searches."""

    def __init__(
        self,
        pool: ThreadPoolExecutor,
        searcher: Searcher,
        chosen: "Sequence[Mutant]",
        ranges: Mapping[str, Sequence[SeedRange]],
        clean_ranges: Sequence[SeedRange],
    ) -> None:
        self._mutants = chosen
        self._searches: dict[str, list[Future[Search]]] = {
            mutant.mutant_id: [
                pool.submit(searcher.find, mutant.mutant_id, one, mutant.run_workload)
                for one in ranges[mutant.mutant_id]
            ]
            for mutant in chosen
        }
        self._clean = [pool.submit(searcher.find, CLEAN, one) for one in clean_ranges]

    def board(self, budget_s: float, *, as_json: bool) -> Scoreboard:
        """Wait for all searches, and print each mutant as soon as all earlier mutants are done."""
        from rich.console import Console
        from rich.progress import Progress

        console = Console(stderr=True, highlight=False, soft_wrap=True)
        everything = [*(one for many in self._searches.values() for one in many), *self._clean]
        scores: list[Score] = []
        with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
            task = bar.add_task("searching", total=len(everything))
            for future in everything:
                future.add_done_callback(lambda _: bar.advance(task))
            for mutant in self._mutants:
                searches = tuple(map(_result, self._searches[mutant.mutant_id]))
                scores.append(Score(mutant=mutant, searches=searches, budget_s=budget_s))
                if as_json:
                    print_json(scores[-1].as_json())
                else:
                    console.print(_line(scores[-1]), markup=False)
            clean = tuple(map(_result, self._clean))
        return Scoreboard(scores=tuple(scores), clean=clean)


def _line(score: Score) -> str:
    by = score.typical.by or "-"
    return f"{score.mutant.mutant_id:<16} {score.result:<8} {by:<28} CPU-s {score.all_costs}"


def _print_result(board: Scoreboard, *, as_json: bool) -> None:
    if as_json:
        if board.false_alarms:
            print_error(
                f"kraftproof: false alarms at seeds {', '.join(map(str, board.false_alarms))}"
            )
        return
    from rich.console import Console

    if board.scores:
        Console(highlight=False).print(as_table(board))
        print_line("")
    for line in board.summary():
        print_line(line)


def _write(path: Path, board: Scoreboard, command: str) -> None:
    date = datetime.now(UTC).date().isoformat()
    generated = section_of(path.read_text(encoding="utf-8")) if path.exists() else ""
    text = as_markdown(board, command=command, date=date)
    with option_file("--scoreboard", path) as part:
        part.write_text(f"{text}\n{generated}" if generated else text, encoding="utf-8")
