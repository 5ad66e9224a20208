"""`kraftproof shrink`: reduce a failing run to the faults and operations that cause the failure."""

from dataclasses import replace
from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING, Annotated

import typer

from kraftproof import interrupts
from kraftproof.commands.shrink_live import shrink_live
from kraftproof.commands.sim import refuse_budget
from kraftproof.errors import UsageError
from kraftproof.mutants.installation import workload_of
from kraftproof.option_files import refuse_path
from kraftproof.options import refuse_store
from kraftproof.output import print_line
from kraftproof.quick_start import without_pandas
from kraftproof.run.directory import SCHEDULE_FILE
from kraftproof.search.defaults import TIME_LIMIT_S
from kraftproof.search.scenario_sources import ScheduleFile, Seeds, Source
from kraftproof.search.summary_text import print_diagram

if TYPE_CHECKING:
    from kraftproof.search.seed_result import SeedResult
    from kraftproof.search.shrinking import Shrinking

DEFAULT_BUDGET_S = 300.0
TRIES = 3
MOST_TRIES = 100


def shrink(
    *,
    run: Annotated[
        str,
        typer.Argument(
            metavar="RUN", help="A seed, a run directory of the store, or a schedule file."
        ),
    ],
    mutant: Annotated[str | None, typer.Option(help="Planted bug of the seed's run.")] = None,
    nodes: Annotated[
        str | None, typer.Option(help="The value of --nodes in the search, if any.")
    ] = None,
    workload: Annotated[
        str | None, typer.Option(help="The value of --workload in the search, if any.")
    ] = None,
    time_limit: Annotated[
        float, typer.Option(help="The value of --time-limit in the search.")
    ] = TIME_LIMIT_S,
    out: Annotated[
        Path | None,
        typer.Option(help="File to write.", show_default="shrunk-SEED.txt in the store"),
    ] = None,
    budget_s: Annotated[
        float,
        typer.Option(
            help="CPU seconds, or seconds for a run directory of `kraftproof test`, after which "
            "the smallest run so far is the result."
        ),
    ] = DEFAULT_BUDGET_S,
    tries: Annotated[
        int,
        typer.Option(help="Runs of each candidate on a live cluster.", min=1, max=MOST_TRIES),
    ] = TRIES,
    store: Annotated[Path, typer.Option(help="Parent of the run directories.")] = Path("store"),
) -> None:
    """Reduce a failing run to the faults and operations that cause the failure.

    [bold]kraftproof shrink 7 --mutant A18 --out small.txt[/]
    Starts from a failing seed of a search.

    [bold]kraftproof shrink store/sim-seed7[/]
    Starts from a run directory that a search kept.

    [bold]kraftproof sim --schedule small.txt[/]
    Replays the result: the same violation, with its diagram.

    [bold]kraftproof shrink store/RUN --tries 5[/]
    Starts from a run of [bold]kraftproof test[/], on any backend: fewer faults in
    less time. The result is a run directory for [bold]kraftproof replay[/].

    The result fails for the same reason as the given run: the same invariant, or
    the same check. The schedule file has a line per fault, and can be edited and
    replayed. Ctrl-C keeps the smallest run so far.

    Exit codes: 0 written, 3 wrong usage or input or a run that does not fail,
    130 interrupted.
    """
    refuse_budget(budget_s)
    refuse_store(store)
    source: Source
    if run.isdecimal():
        seed = int(run)
        workload = workload or workload_of(mutant)
        source = Seeds(
            store=store, mutant=mutant, nodes=nodes, workload=workload, time_limit_s=time_limit
        )
    else:
        if (mutant, nodes, workload, time_limit) != (None, None, None, TIME_LIMIT_S):
            raise UsageError(
                f"{run}: the file itself sets the options of the run; --mutant, --nodes, "
                "--workload and --time-limit can only be combined with a seed"
            )
        if _is_run_of_test(Path(run)):
            if out is not None:
                raise UsageError(f"--out {out}: the result of a run of `test` is a run directory")
            raise typer.Exit(shrink_live(Path(run), store, tries=tries, budget_s=budget_s))
        source = ScheduleFile(_schedule_path(Path(run)), store)
        seed = source.seed
    target = out or store / f"shrunk-{seed}.txt"
    refuse_path("--out", out)
    raise typer.Exit(_shrink(source, seed, target, budget_s))


def _is_run_of_test(run: Path) -> bool:
    return (run / "run.json").is_file() and not (run / SCHEDULE_FILE).exists()


def _schedule_path(run: Path) -> Path:
    """Return the path if the path is a file, or the schedule file of a run directory."""
    if not run.exists():
        raise UsageError(f"{run}: a seed, a run directory or a schedule file is expected")
    if not run.is_dir():
        return run
    if not (run / SCHEDULE_FILE).exists():
        raise UsageError(f"{run}: not a run directory, no {SCHEDULE_FILE} and no run.json")
    return run / SCHEDULE_FILE


def _shrink(source: Source, seed: int, target: Path, budget_s: float) -> int:
    without_pandas()
    mutant_hash = source.install()
    from kraftproof.search.seeds import run_seed, shown
    from kraftproof.search.shrinking import Shrinking
    from kraftproof.search.shrinking_progress import ShrinkingProgress

    first = run_seed(source.scenario(seed), mutant_hash)
    if first.reason is None:
        found = "the run is valid" if first.result.verdict == "valid" else first.result.why[0]
        raise UsageError(f"{source.replay(seed)}: {found}, so the run can't be shrunk")
    target.parent.mkdir(parents=True, exist_ok=True)
    with ShrinkingProgress(target) as progress:
        progress.show(first, 0)
        work = Shrinking(first, mutant_hash, budget_s, progress.show)
        interrupts.note(f"the smallest run so far is in {target}")
        ending = _run(work, budget_s)
    best = replace(work.best, scenario=replace(work.best.scenario, name=target.stem))
    _print_result(first, shown(best, mutant_hash), f"after {work.runs} runs: {ending}", target)
    return 0


def _run(work: "Shrinking", budget_s: float) -> str:
    """Shrink, and return the reason for the end."""
    from kraftproof.search.shrinking import BudgetSpentError

    try:
        work.run()
    except BudgetSpentError:
        return f"the {budget_s:g} CPU seconds are spent"
    return "no fault or operation can be removed"


def _print_result(first: "SeedResult", best: "SeedResult", ending: str, target: Path) -> None:
    from kraftproof.search.smaller import Size

    print_line("")
    print_line(f"{best.reason}, {ending}")
    print_line(f"before  {Size.of(first).describe()}")
    print_line(f"after   {Size.of(best).describe()}")
    print_line(f"replay  {join(['kraftproof', 'sim', '--schedule', str(target)])}")
    print_line("")
    print_line(target.read_text(encoding="utf-8").rstrip())
    print_diagram(best)
