"""Do a night: controls, simulation, runs, and each run with a finding several times again."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import msgspec

from kraftproof.checkers import check_run
from kraftproof.checkers.verdict import CheckerInputError, FindingKind, Verdict
from kraftproof.nightly.fingerprint import fingerprint
from kraftproof.nightly.plan import LiveRun, Plan
from kraftproof.nightly.steps import Finding, Outcome, Step, carried_out, command_line

CONTROL: Final = "control"
SIMULATION: Final = "simulation"
RUN: Final = "run"
SEEDS_A_NIGHT: Final = 10_000
"""The first new seed of night N is N times the number."""
VERDICTS: Final = {0: "valid", 1: "invalid", 2: "unknown"}
Say = Callable[[str], None]


def steps_of_night(plan: Plan, night: int, folder: Path, rows: Path, say: Say) -> Iterator[Step]:
    """Do the steps of a night in order, and yield each result.

    Args:
        plan: The steps.
        night: The number of the night, the source of the seeds.
        folder: The folder of the night.
        rows: The folder with the rows of the track record.
        say: Takes a line of progress before each step.
    """
    store = folder / "store"
    for mutant in plan.controls.mutants:
        say(f"control: mutant {mutant}")
        yield _mutant(mutant, night, plan.controls.mutant_budget_s)
    for row in plan.controls.rows:
        say(f"control: row {row}")
        yield _row(row, rows, folder)
    if plan.simulation is not None:
        say("simulation: new seeds")
        budget = f"{plan.simulation.budget_s:g}"
        yield _seeds("new seeds", f"{night * SEEDS_A_NIGHT}:", store, ("--budget-s", budget))
        for seed in plan.simulation.past_seeds:
            say(f"simulation: seed {seed}")
            yield _seeds(f"past seed {seed}", f"{seed}:{seed + 1}", store, ())
    for number, run in enumerate(plan.runs):
        say(f"run: {run.name}")
        yield _live(run, night * 100 + number, store, plan.repeats)


def _mutant(mutant: str, night: int, budget_s: float) -> Step:
    seeds = f"{night * SEEDS_A_NIGHT}:"
    arguments = ["mutants", mutant, "--repeat", "1", "--seeds", seeds, "--json"]
    arguments += ["--budget-s", f"{budget_s:g}", "--jobs", "1"]
    done = carried_out(arguments)
    line = next((one for one in done.lines if one.get("mutant") == mutant), {})
    is_found = line.get("found") is True
    return Step(
        kind=CONTROL,
        name=f"mutant {mutant}",
        verdict="found" if is_found else "missed",
        seconds=float(line.get("cpu_seconds") or done.seconds),
        command=command_line(arguments),
        detail=f"by {line.get('by')}" if is_found else done.said,
    )


def _row(row: str, rows: Path, folder: Path) -> Step:
    arguments = ["track-record", row, "--rows", str(rows), "--json"]
    arguments += ["--page", str(folder / "track_record.md"), "--store", str(folder / "controls")]
    done = carried_out(arguments)
    line = next((one for one in done.lines if one.get("row") == row), {})
    is_found = done.status == 0 and line.get("found") is True
    return Step(
        kind=CONTROL,
        name=f"row {row}",
        verdict="found" if is_found else "missed",
        seconds=float(line.get("seconds") or done.seconds),
        command=command_line(arguments),
        detail=str(line.get("finding") or done.said),
    )


def _seeds(name: str, seeds: str, store: Path, more: tuple[str, ...]) -> Step:
    arguments = ["sim", "--seeds", seeds, "--store", str(store), *more, "--json"]
    done = carried_out(arguments)
    found = []
    for one in done.last.get("violations", ()):
        check = str(one.get("invariant", ""))
        sentence = ": ".join(str(one[key]) for key in ("sentence", "detail") if one.get(key))
        again = ["sim", "--seed", str(one.get("seed", seeds))]
        found.append(
            Finding(
                fingerprint=fingerprint("simulated reference", check, sentence),
                check=check,
                sentence=sentence,
                command=command_line(again),
                reproduced=1,  # a seed gives one run, and the search has run the seed twice
                repeats=1,
            )
        )
    return Step(
        kind=SIMULATION,
        name=name,
        verdict=VERDICTS.get(done.status, "unknown"),
        seconds=done.seconds,
        command=command_line(arguments),
        detail="" if done.status == 0 else done.said,
        findings=tuple(found),
        ok=_judged(done),
    )


def _judged(done: Outcome) -> int:
    return int(done.last.get("seeds", 0)) - int(done.last.get("unknown", 0))


def _live(run: LiveRun, seed: int, store: Path, repeats: int) -> Step:
    arguments = ["test", *run.arguments, "--seed", str(seed), "--store", str(store), "--json"]
    done = carried_out(arguments)
    directory = str(done.last.get("run", ""))
    step = Step(
        kind=RUN,
        name=run.name,
        verdict=str(done.last.get("verdict", "unknown")),
        seconds=done.seconds,
        command=command_line(arguments),
        detail=next(iter(done.last.get("why", ())), "" if done.last else done.said),
        run=directory,
        ok=int(done.last.get("ok", 0)),
        ok_in_faults=int(done.last.get("ok_in_faults", 0)),
        bitten=dict(done.last.get("bitten", {})),
    )
    if step.verdict != Verdict.INVALID or not directory:
        return step
    again = carried_out(
        ["replay", directory, "--times", str(repeats), "--store", f"{store}-again", "--json"]
    )
    return msgspec.structs.replace(step, findings=tuple(_findings(directory, again)))


def _findings(directory: str, again: Outcome) -> Iterator[Finding]:
    """Yield the findings of a run, each check once, with the number of repeated findings."""
    try:
        judged = check_run(Path(directory), "inline", write_tables=False)
    except CheckerInputError:
        return
    runs = again.last.get("runs", [])
    seen: set[str] = set()
    for one in sorted(judged.findings, key=lambda each: each.kind is not FindingKind.SAFETY):
        if one.check in seen:
            continue
        seen.add(one.check)
        yield Finding(
            fingerprint=fingerprint(judged.model, one.check, one.sentence),
            check=one.check,
            sentence=one.sentence,
            command=command_line(["replay", directory]),
            report=f"{directory}/report.html",
            reproduced=sum(one.check in run.get("findings", ()) for run in runs),
            repeats=len(runs),
        )
