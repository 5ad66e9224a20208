"""`kraftproof shrink`: cuts a failing run in simulation down to a small schedule file."""

from dataclasses import replace
from pathlib import Path
from shlex import join
from typing import TYPE_CHECKING, Annotated

import typer

from kraftproof import interrupts
from kraftproof.commands.sim import refuse_budget, tell_diagram
from kraftproof.errors import UsageError
from kraftproof.options import refuse_store
from kraftproof.output import say
from kraftproof.run.directory import SCHEDULE_FILE
from kraftproof.search.scenario_sources import TIME_LIMIT_S, ScheduleFile, Seeds, Source

if TYPE_CHECKING:
    from kraftproof.search.seed_result import SeedResult
    from kraftproof.search.shrinking import Shrinking

DEFAULT_BUDGET_S = 300.0


def shrink(
    *,
    run: Annotated[
        str,
        typer.Argument(
            metavar="RUN", help="A seed, a run's directory in the store, or a schedule file."
        ),
    ],
    mutant: Annotated[
        str | None, typer.Option(help="The bug that was planted in the seed's run.")
    ] = None,
    nodes: Annotated[
        str | None, typer.Option(help="Controllers+brokers, if the search was given any.")
    ] = None,
    time_limit: Annotated[
        float, typer.Option(help="Simulated seconds, if the search was given any.")
    ] = TIME_LIMIT_S,
    out: Annotated[
        Path | None,
        typer.Option(help="The file to write.", show_default="shrunk-SEED.txt in the store"),
    ] = None,
    budget_s: Annotated[
        float, typer.Option(help="CPU seconds; what has been reached by then stands.")
    ] = DEFAULT_BUDGET_S,
    store: Annotated[Path, typer.Option(help="Where runs are kept.")] = Path("store"),
) -> None:
    """Cut a failing run down to the faults and operations that it takes.

    What is left fails for the same reason: the same invariant, or the same check. It is written
    as a schedule file, one line a fault, which can be read, changed and replayed.

    [bold]kraftproof shrink 7 --mutant A18 --out small.txt[/]
    Starts from a seed that a search has found.

    [bold]kraftproof shrink store/sim-seed7[/]
    Starts from the run that it has kept.

    [bold]kraftproof sim --schedule small.txt[/]
    Replays the result: the same violation, with its diagram.

    Ctrl-C keeps the best so far. Exit codes: 0 written, 3 a mistake, or a run that does not fail,
    130 interrupted.
    """
    refuse_budget(budget_s)
    refuse_store(store)
    source: Source
    if run.isdecimal():
        seed = int(run)
        source = Seeds(store=store, mutant=mutant, nodes=nodes, time_limit_s=time_limit)
    else:
        if (mutant, nodes, time_limit) != (None, None, TIME_LIMIT_S):
            raise UsageError(
                f"{run}: it says itself what is run; --mutant, --nodes and "
                "--time-limit are for seeds"
            )
        source = ScheduleFile(_schedule_path(Path(run)), store)
        seed = source.seed
    target = out or store / f"shrunk-{seed}.txt"
    if not target.absolute().parent.is_dir() and out is not None:
        raise UsageError(f"--out {target}: {target.absolute().parent} is not a directory")
    raise typer.Exit(_shrink(source, seed, target, budget_s))


def _schedule_path(run: Path) -> Path:
    """Return the schedule file that is meant: this one, or that of a run's directory."""
    if not run.exists():
        raise UsageError(f"{run}: a seed, a run's directory or a schedule file is expected")
    if not run.is_dir():
        return run
    if not (run / SCHEDULE_FILE).exists():
        raise UsageError(f"{run}: it has no {SCHEDULE_FILE}; only what `kraftproof sim` keeps has")
    return run / SCHEDULE_FILE


def _shrink(source: Source, seed: int, target: Path, budget_s: float) -> int:
    mutant_hash = source.install()
    from kraftproof.search.seeds import run_seed, shown
    from kraftproof.search.shrinking import Shrinking
    from kraftproof.search.shrinking_progress import ShrinkingProgress

    first = run_seed(source.scenario(seed), mutant_hash)
    if first.reason is None:
        found = "all holds in this run" if first.result.verdict == "valid" else first.result.why[0]
        raise UsageError(f"{source.replay(seed)}: {found}, so it can't be shrunk")
    target.parent.mkdir(parents=True, exist_ok=True)
    with ShrinkingProgress(target) as progress:
        progress.tell(first, 0)
        work = Shrinking(first, mutant_hash, budget_s, progress.tell)
        interrupts.note(f"the best so far is in {target}")
        ending = _run(work, budget_s)
    best = replace(work.best, scenario=replace(work.best.scenario, name=target.stem))
    _tell(first, shown(best, mutant_hash), f"after {work.runs} runs: {ending}", target)
    return 0


def _run(work: "Shrinking", budget_s: float) -> str:
    """Shrink, and return why it ended."""
    from kraftproof.search.shrinking import BudgetSpentError

    try:
        work.run()
    except BudgetSpentError:
        return f"the {budget_s:g} CPU seconds are over"
    return "nothing more can be left out"


def _tell(first: "SeedResult", best: "SeedResult", ending: str, target: Path) -> None:
    from kraftproof.search.smaller import Size

    say("")
    say(f"{best.reason}, {ending}")
    say(f"before  {Size.of(first).describe()}")
    say(f"after   {Size.of(best).describe()}")
    say(f"replay  {join(['kraftproof', 'sim', '--schedule', str(target)])}")
    say("")
    say(target.read_text(encoding="utf-8").rstrip())
    tell_diagram(best)
