"""`kraftproof sim`: searches seeds in simulation until something does not hold."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kraftproof.errors import INTERRUPTED_EXIT_CODE, UsageError
from kraftproof.mutation import install_mutant
from kraftproof.options import refuse_store
from kraftproof.output import complain, say, say_json, say_verdict

if TYPE_CHECKING:
    from kraftproof.search import SearchSummary

DEFAULT_BUDGET_S = 112.0


def sim(
    *,
    seeds: Annotated[
        str, typer.Option(help="A:B (A to B-1), A: (until the budget is used up) or A.")
    ] = "0:",
    mutant: Annotated[
        str | None, typer.Option(help="Plant this bug: an id, or a file with MUTANT.")
    ] = None,
    time_limit: Annotated[
        float | None, typer.Option(help="Seconds of workload a seed, for all seeds.")
    ] = None,
    budget_s: Annotated[
        float | None,
        typer.Option(help="CPU seconds after which no new seed is begun [112 where open-ended]."),
    ] = None,
    store: Annotated[Path, typer.Option(help="Where the run of a violation is kept.")] = Path(
        "store"
    ),
    as_json: Annotated[bool, typer.Option("--json", help="A JSON object as last line.")] = False,
) -> None:
    """Search seeds in simulation until an invariant or a model is violated.

    Whole clusters on virtual time: a seed draws workload, faults and nodes.

    [bold]kraftproof sim --seeds 0:200[/]
    Judges 200 runs of the node as it is.

    [bold]kraftproof sim --seeds 0: --mutant A18[/]
    Plants a known bug and looks for it.

    Exit codes: 0 none, 1 a violation, 2 a run without a verdict, 3 a mistake.
    """
    _refuse(seeds, budget_s, store)
    mutant_hash = install_mutant(mutant, "simulated")
    try:
        status = _search(
            seeds,
            mutant=mutant,
            mutant_hash=mutant_hash,
            time_limit_s=time_limit,
            budget_s=budget_s,
            store=store,
            as_json=as_json,
        )
    except KeyboardInterrupt:
        complain("kraftproof: interrupted")
        status = INTERRUPTED_EXIT_CODE
    raise typer.Exit(status)


def _refuse(seeds: str, budget_s: float | None, store: Path) -> None:
    """Refuse a search that would do nothing, or could not keep what it finds."""
    first, _, last = seeds.partition(":")
    if first.isdecimal() and last.isdecimal() and int(first) >= int(last):
        raise UsageError(f"--seeds {seeds}: no seed is in it; A:B is A to B-1, for example 0:200")
    if budget_s is not None and not budget_s > 0:
        raise UsageError(f"--budget-s {budget_s:g}: more than 0 is expected")
    refuse_store(store)


def _search(
    seeds: str,
    *,
    mutant: str | None,
    mutant_hash: str | None,
    time_limit_s: float | None,
    budget_s: float | None,
    store: Path,
    as_json: bool,
) -> int:
    from kraftproof.search import parse_seeds, search

    is_open = seeds.endswith(":")
    found = search(
        parse_seeds(seeds),
        store,
        mutant=mutant,
        mutant_hash=mutant_hash,
        time_limit_s=time_limit_s,
        budget_s=DEFAULT_BUDGET_S if budget_s is None and is_open else budget_s,
        tell=lambda one: say(one.describe()),
    )
    _tell(found, as_json=as_json)
    if found.violations:
        return 1
    return 2 if found.unknown else 0


def _tell(found: "SearchSummary", *, as_json: bool) -> None:
    for violation in found.violations:
        say(f"seed {violation.seed}: {violation.result.directory.path}")
        for sentence in violation.result.why[:5]:
            say(f"  {sentence}")
    if as_json:
        say_json(
            {
                "seeds": found.seeds,
                "violations": [
                    {"seed": one.seed, "why": list(one.result.why)} for one in found.violations
                ],
                "unknown": found.unknown,
                "simulated_seconds": round(found.simulated_s, 3),
                "cpu_seconds": round(found.cpu_s, 3),
                "events": found.events,
            }
        )
        return
    verdict = "invalid" if found.violations else "unknown" if found.unknown else "valid"
    say_verdict(
        verdict,
        f"  {found.seeds} seeds, {found.simulated_s:.0f} simulated s, {found.events} events, "
        f"{found.cpu_s:.1f} CPU-s ({found.events / max(found.cpu_s, 1e-9):.0f} events a CPU-s)",
    )
