"""`kraftproof sim`: search seeds in simulation for a violation, or replay a seed."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kraftproof.errors import CRASH_EXIT_CODE, UsageError
from kraftproof.mutants.installation import workload_of
from kraftproof.option_files import option_file, refuse_paths
from kraftproof.options import refuse_store
from kraftproof.output import print_json
from kraftproof.quick_start import without_pandas
from kraftproof.search import summary_text
from kraftproof.search.block_counts import BlockCounts
from kraftproof.search.defaults import TIME_LIMIT_S
from kraftproof.search.planning import of_edits, of_runs
from kraftproof.search.scenario_sources import PlannedRuns, ScheduleFile, Seeds, Source

if TYPE_CHECKING:
    from kraftproof.search.seed_result import SeedResult

DEFAULT_BUDGET_S = 112.0

SeedsOption = Annotated[
    str | None,
    typer.Option(
        help="A:B (A to B-1), A: (from A until the budget is spent) or A (a single seed).",
        show_default="0:",
    ),
]
ScheduleOption = Annotated[
    Path | None, typer.Option(help="Replay a schedule file written by `kraftproof shrink`.")
]
NodesOption = Annotated[
    str | None,
    typer.Option(
        help="Number of controllers + brokers, such as 3+3.", show_default="drawn from each seed"
    ),
]
WorkloadOption = Annotated[
    str | None,
    typer.Option(
        help="Workload of every seed, such as log.",
        show_default="topics or registration, drawn from each seed; others too with --mutant",
    ),
]
BudgetOption = Annotated[
    float | None,
    typer.Option(
        help="CPU seconds after which no further seed starts.",
        show_default="112 for A:, else none",
    ),
]
CoverageOption = Annotated[
    Path | None,
    typer.Option(help="Write a coverage table to this file: role, event, fault, runs."),
]
InOrderOption = Annotated[
    bool,
    typer.Option(
        "--in-order",
        help="Run seeds in numeric order. By default a search with a budget prefers seeds that "
        "are likely to add coverage.",
    ),
]
PastCrashesOption = Annotated[
    bool,
    typer.Option(
        "--past-crashes",
        help="Continue after a seed in which a node crashes, until a property is violated.",
    ),
]
RunsOption = Annotated[
    str | None,
    typer.Option(
        metavar="SEED:WORKLOAD:SECONDS,...",
        help="Run these seeds in this order, each with its workload and its simulated seconds.",
    ),
]
PlanOption = Annotated[
    bool,
    typer.Option(
        "--plan/--no-plan",
        help="Begin an open search with runs that execute the edited code: what differs from the "
        "last commit, or the edits of a mutant's file.",
    ),
]
BlocksOption = Annotated[
    Path | None,
    typer.Option(
        help="Write to this file how often each seed runs each block of the node's code: a JSON "
        "object per seed."
    ),
]
BareOption = Annotated[
    bool,
    typer.Option(
        "--bare",
        help="Skip the second run of a violating seed; a run goes on after a crash of a node.",
    ),
]


def sim(
    *,
    seeds: SeedsOption = None,
    seed: Annotated[
        int | None, typer.Option(help="Replay this seed exactly as in a search.")
    ] = None,
    schedule: ScheduleOption = None,
    nodes: NodesOption = None,
    workload: WorkloadOption = None,
    time_limit: Annotated[
        float, typer.Option(help="Simulated seconds of workload per seed.")
    ] = TIME_LIMIT_S,
    mutant: Annotated[
        str | None,
        typer.Option(help="Bug to plant in the node: a catalogue id, or a Python file."),
    ] = None,
    budget_s: BudgetOption = None,
    store: Annotated[
        Path, typer.Option(help="Parent of the run directories of violations.")
    ] = Path("store"),
    coverage: CoverageOption = None,
    in_order: InOrderOption = False,
    past_crashes: PastCrashesOption = False,
    blocks: BlocksOption = None,
    bare: BareOption = False,
    runs: RunsOption = None,
    plan: PlanOption = True,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the result as a JSON object on the last line.")
    ] = False,
) -> None:
    """Run simulated clusters, one per seed, until an invariant or a model is violated.

    [bold]kraftproof sim --seeds 0:200[/]
    Runs and judges 200 seeds of the unchanged node.

    [bold]kraftproof sim --seeds 0: --mutant A18[/]
    Plants a known bug and searches for a seed that shows the bug.

    [bold]kraftproof sim --seed 7 --mutant A18[/]
    Replays a seed: prints the violation and a diagram of the events before it.

    [bold]kraftproof sim --schedule small.txt[/]
    Replays the result of [bold]kraftproof shrink 7 --mutant A18 --out small.txt[/].

    A seed determines the workload, the faults, the nodes and every random
    choice: the same seed gives the same run, byte for byte, in virtual time.

    The run of a violation stays in the store: history, faults, files of the
    nodes and diagram.txt. A crash of the node's code is a violation of the kind
    crash; crash.txt has the traceback.

    Exit codes: 0 no violation, 1 a violation, 2 a run without a verdict, 3 wrong
    usage or input, 70 a bug in Kraftproof (the message names the seed), 130
    interrupted.
    """
    refuse_budget(budget_s)
    refuse_store(store)
    refuse_paths({"--coverage": coverage, "--blocks": blocks})
    if schedule is None:
        drawn = Seeds(
            store=store,
            mutant=mutant,
            nodes=nodes,
            workload=workload or workload_of(mutant),
            time_limit_s=time_limit,
        )
        is_open = plan and not (in_order or nodes or workload or blocks)
        source, wanted = _chosen(drawn, (seeds, seed), runs, workload, is_open=is_open)
    else:
        _refuse_beside(schedule, (seeds, seed, runs, nodes, workload, mutant), time_limit)
        source = ScheduleFile(schedule, store)
        wanted = str(source.seed)
    status = _search(
        wanted,
        source,
        DEFAULT_BUDGET_S if budget_s is None and wanted.endswith(":") else budget_s,
        coverage=coverage,
        in_order=in_order,
        past_crashes=past_crashes,
        blocks=blocks,
        is_bare=bare,
        as_json=as_json,
    )
    raise typer.Exit(status)


def _chosen(
    drawn: Seeds,
    given: tuple[str | None, int | None],
    runs: str | None,
    workload: str | None,
    *,
    is_open: bool,
) -> tuple[Source, str]:
    """Return the source of the runs, and its seeds: those given, or a plan."""
    planned, wanted = None, _seeds_wanted(*given)
    if runs is not None:
        if given != (None, None):
            raise UsageError(f"--runs {runs}: names the seeds; --seeds and --seed can't be added")
        planned = of_runs(drawn, runs, workload)
    elif is_open and wanted.endswith(":"):
        planned = of_edits(drawn, int(wanted[:-1]))
    return (drawn, wanted) if planned is None else (planned, planned.wanted)


def _refuse_beside(schedule: Path, given: tuple[object, ...], time_limit: float) -> None:
    """Refuse options that a schedule file sets itself."""
    if time_limit != TIME_LIMIT_S or any(option is not None for option in given):
        raise UsageError(
            f"--schedule {schedule}: the file itself sets the options of the run; --seeds, --seed, "
            "--runs, --nodes, --workload, --mutant and --time-limit can't be combined with "
            "--schedule"
        )


def refuse_budget(budget_s: float | None) -> None:
    """Refuse a budget of 0 or less.

    Raises:
        UsageError: the budget is not above 0.
    """
    if budget_s is not None and not budget_s > 0:
        raise UsageError(f"--budget-s {budget_s:g}: more than 0 is expected")


def _seeds_wanted(seeds: str | None, seed: int | None) -> str:
    """Return the seeds in the form A:B, A: or A, and refuse invalid seeds."""
    if seed is not None:
        if seeds is not None:
            raise UsageError(f"--seed {seed}: can't be combined with --seeds {seeds}")
        if seed < 0:
            raise UsageError(f"--seed {seed}: 0 or more is expected")
        return str(seed)
    if seeds is None:
        return "0:"
    first, _, last = seeds.partition(":")
    if first.isdecimal() and last.isdecimal() and int(first) >= int(last):
        raise UsageError(f"--seeds {seeds}: the range is empty; A:B is A to B-1, for example 0:200")
    return seeds


def _search(
    seeds: str,
    source: Source,
    budget_s: float | None,
    *,
    coverage: Path | None,
    in_order: bool,
    past_crashes: bool,
    blocks: Path | None,
    is_bare: bool,
    as_json: bool,
) -> int:
    without_pandas()
    mutant_hash = source.install()
    block_counts = BlockCounts(blocks)
    is_planned = isinstance(source, PlannedRuns)
    from kraftproof.search.progress import SearchProgress
    from kraftproof.search.seeds import parse_seeds, search

    with SearchProgress(parse_seeds(seeds), budget_s) as progress:

        def on_result(one: "SeedResult") -> None:
            block_counts.take(one)
            progress.show(one)

        found = search(
            parse_seeds(seeds),
            source.scenario,
            mutant_hash=mutant_hash,
            budget_s=budget_s,
            is_steered=budget_s is not None and not in_order and not is_planned,
            on_result=on_result,
            past_crashes=past_crashes,
            is_bare=is_bare,
        )
    for violation in (*found.crashes[:1], *found.violations):
        summary_text.print_violation(violation, source)
    for unjudged in found.unjudged:
        summary_text.print_unjudged(unjudged)
    if as_json:
        print_json(summary_text.as_json(found))
    else:
        summary_text.print_summary(found)
    if coverage is not None:
        with option_file("--coverage", coverage) as part:
            found.covered.write(part)
    block_counts.write()
    if found.violations or found.crashes:
        return 1
    if any(one.is_own_crash for one in found.unjudged):
        return CRASH_EXIT_CODE
    return 2 if found.unknown else 0
