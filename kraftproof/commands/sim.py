"""`kraftproof sim`: searches seeds in simulation until something does not hold, or replays one."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kraftproof.errors import CRASH_EXIT_CODE, UsageError
from kraftproof.option_files import option_file
from kraftproof.options import refuse_store
from kraftproof.output import in_one_line, say, say_json, say_verdict
from kraftproof.search.scenario_sources import TIME_LIMIT_S, ScheduleFile, Seeds, Source

if TYPE_CHECKING:
    from kraftproof.search.seed_result import SeedResult
    from kraftproof.search.seeds import SearchSummary, Unjudged

DEFAULT_BUDGET_S = 112.0
SENTENCES_SHOWN = 5

SeedsOption = Annotated[
    str | None,
    typer.Option(help="A:B (A to B-1), A: (until the budget is used up) or A.", show_default="0:"),
]
ScheduleOption = Annotated[
    Path | None, typer.Option(help="Replay a schedule file, as `kraftproof shrink` writes it.")
]
NodesOption = Annotated[
    str | None,
    typer.Option(help="Controllers+brokers, such as 3+3.", show_default="drawn from each seed"),
]
BudgetOption = Annotated[
    float | None,
    typer.Option(
        help="CPU seconds after which no new seed is begun.",
        show_default="112 for A:, else none",
    ),
]
CoverageOption = Annotated[
    Path | None,
    typer.Option(help="Write a table of what was covered: role, event, fault, runs."),
]
InOrderOption = Annotated[
    bool,
    typer.Option(
        "--in-order",
        help="Run the seeds one after the other, also where a budget ends the search; else "
        "it turns to those first that promise what is not yet covered.",
    ),
]
PastCrashesOption = Annotated[
    bool,
    typer.Option(
        "--past-crashes",
        help="Go on after a seed in which a node crashes, until a property is broken.",
    ),
]


def sim(
    *,
    seeds: SeedsOption = None,
    seed: Annotated[
        int | None, typer.Option(help="One seed: exactly what a search did with it.")
    ] = None,
    schedule: ScheduleOption = None,
    nodes: NodesOption = None,
    time_limit: Annotated[
        float, typer.Option(help="Simulated seconds of workload a seed.")
    ] = TIME_LIMIT_S,
    mutant: Annotated[
        str | None, typer.Option(help="Plant this bug: an id, or a file with MUTANT.")
    ] = None,
    budget_s: BudgetOption = None,
    store: Annotated[Path, typer.Option(help="Where the run of a violation is kept.")] = Path(
        "store"
    ),
    coverage: CoverageOption = None,
    in_order: InOrderOption = False,
    past_crashes: PastCrashesOption = False,
    as_json: Annotated[bool, typer.Option("--json", help="A JSON object as last line.")] = False,
) -> None:
    """Search seeds in simulation until an invariant or a model is violated.

    Whole clusters on virtual time. A seed draws workload, faults, nodes and all chance: the same
    seed is the same run, byte for byte.

    [bold]kraftproof sim --seeds 0:200[/]
    Judges 200 runs of the node as it is.

    [bold]kraftproof sim --seeds 0: --mutant A18[/]
    Plants a known bug and looks for it.

    [bold]kraftproof sim --seed 7 --mutant A18[/]
    Replays one seed: what did not hold, and the events before it as a diagram.

    [bold]kraftproof sim --schedule small.txt[/]
    Replays what [bold]kraftproof shrink 7 --mutant A18 --out small.txt[/] has cut down.

    A violation keeps its run in the store: history, faults, the nodes' files and diagram.txt.
    A crash of a node's code is a violation too, of the kind crash; crash.txt has its traceback.
    Exit codes: 0 none, 1 a violation, 2 a run without a verdict, 3 a mistake,
    70 a mistake in Kraftproof itself, named with its seed.
    """
    refuse_budget(budget_s)
    refuse_store(store)
    source: Source
    if schedule is None:
        wanted = _seeds_wanted(seeds, seed)
        source = Seeds(store=store, mutant=mutant, nodes=nodes, time_limit_s=time_limit)
    else:
        given = (seeds, seed, nodes, mutant, None if time_limit == TIME_LIMIT_S else time_limit)
        if any(option is not None for option in given):
            raise UsageError(
                f"--schedule {schedule}: the file says what is run, change it there; --seeds, "
                "--seed, --nodes, --mutant and --time-limit are for seeds"
            )
        source = ScheduleFile(schedule, store)
        wanted = str(source.seed)
    if budget_s is None and wanted.endswith(":"):
        budget_s = DEFAULT_BUDGET_S
    status = _search(
        wanted,
        source,
        budget_s,
        coverage=coverage,
        is_steered=budget_s is not None and not in_order,
        past_crashes=past_crashes,
        as_json=as_json,
    )
    raise typer.Exit(status)


def refuse_budget(budget_s: float | None) -> None:
    """Refuse a budget in which nothing can be done.

    Raises:
        UsageError: it is not above 0; one line.
    """
    if budget_s is not None and not budget_s > 0:
        raise UsageError(f"--budget-s {budget_s:g}: more than 0 is expected")


def _seeds_wanted(seeds: str | None, seed: int | None) -> str:
    """Return the seeds in the one form of A:B, A: or A, refusing what is no seed at all."""
    if seed is not None:
        if seeds is not None:
            raise UsageError(f"--seed {seed}: --seeds {seeds} is given too; one of them, please")
        if seed < 0:
            raise UsageError(f"--seed {seed}: 0 or more is expected")
        return str(seed)
    if seeds is None:
        return "0:"
    first, _, last = seeds.partition(":")
    if first.isdecimal() and last.isdecimal() and int(first) >= int(last):
        raise UsageError(f"--seeds {seeds}: no seed is in it; A:B is A to B-1, for example 0:200")
    return seeds


def _search(
    seeds: str,
    source: Source,
    budget_s: float | None,
    *,
    coverage: Path | None,
    is_steered: bool,
    past_crashes: bool,
    as_json: bool,
) -> int:
    mutant_hash = source.install()
    from kraftproof.search.progress import SearchProgress
    from kraftproof.search.seeds import parse_seeds, search

    with SearchProgress(parse_seeds(seeds), budget_s) as progress:
        found = search(
            parse_seeds(seeds),
            source.scenario,
            mutant_hash=mutant_hash,
            budget_s=budget_s,
            is_steered=is_steered,
            tell=progress.tell,
            past_crashes=past_crashes,
        )
    for violation in (*found.crashes[:1], *found.violations):
        _tell_violation(violation, source)
    for unjudged in found.unjudged:
        _tell_unjudged(unjudged)
    if as_json:
        say_json(_as_json(found))
    else:
        _tell_summary(found)
    if coverage is not None:
        with option_file("--coverage", coverage) as part:
            found.covered.write(part)
    if found.violations or found.crashes:
        return 1
    if any(one.is_own_crash for one in found.unjudged):
        return CRASH_EXIT_CODE
    return 2 if found.unknown else 0


def _tell_unjudged(one: "Unjudged") -> None:
    """Say why a seed has no verdict, and where its run is kept."""
    for sentence in one.why[:SENTENCES_SHOWN]:
        say(f"seed {one.seed}: {in_one_line(sentence)}")
    say(f"kept    {one.directory}")


def _tell_violation(one: "SeedResult", source: Source) -> None:
    """Say what did not hold, where, how to see it again, and how it came about."""
    say("")
    say(f"seed {one.seed}, event {one.event}: {one.reason}{' (a crash)' if one.is_crash else ''}")
    for sentence in one.result.why[:SENTENCES_SHOWN]:
        say(f"  {sentence}")
    say(f"replay  {source.replay(one.seed)}")
    if isinstance(source, Seeds):
        say(f"shrink  {source.shrink(one.seed)}")
    say(f"kept    {one.result.directory.path}")
    if isinstance(source, ScheduleFile) and source.violates not in {None, *one.reasons}:
        say(f"The file names another violation: {source.violates}")
    tell_diagram(one)


def tell_diagram(one: "SeedResult") -> None:
    """Show how a violation came about."""
    say("")
    say(one.diagram.rstrip("\n"))
    say("")


def _as_json(found: "SearchSummary") -> dict[str, object]:
    return {
        "seeds": found.seeds,
        "violations": [one.violation_as_json() for one in (*found.violations, *found.crashes)],
        "unknown": found.unknown,
        "unjudged": [asdict(one) for one in found.unjudged],
        "simulated_seconds": round(found.simulated_s, 3),
        "cpu_seconds": round(found.cpu_s, 3),
        "events": found.events,
        "covered": len(found.covered.runs),
    }


def _tell_summary(found: "SearchSummary") -> None:
    is_invalid = found.violations or found.crashes
    verdict = "invalid" if is_invalid else "unknown" if found.unknown else "valid"
    say_verdict(
        verdict,
        f"  {found.seeds} seeds, {found.simulated_s:.0f} simulated s, {found.events} events, "
        f"{found.cpu_s:.1f} CPU-s ({found.events / max(found.cpu_s, 1e-9):.0f} events a CPU-s, "
        f"{found.simulated_s / max(found.cpu_s, 1e-9):.0f} simulated s a CPU-s)",
    )
    if found.crashes:
        seeds = ", ".join(str(one.seed) for one in found.crashes)
        say(f"crashed in {len(found.crashes)} seeds: {seeds}")
    say(f"covered {found.covered.describe()}")
