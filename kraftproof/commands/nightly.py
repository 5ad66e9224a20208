"""`kraftproof nightly`: a night of tests, with positive controls and a summary."""

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kraftproof.errors import UsageError
from kraftproof.option_files import option_file
from kraftproof.output import print_error, print_verdict

if TYPE_CHECKING:
    from kraftproof.nightly.steps import Step

PLAN = Path("tests/nightly.toml")
ROWS = Path("tests/track_record")
SECONDS_A_DAY = 86_400
VERDICT_CODES = {"valid": 0, "invalid": 1, "unknown": 2}


def nightly(
    *,
    plan: Annotated[Path, typer.Option(help="The plan of a night, a TOML file.")] = PLAN,
    rows: Annotated[
        Path, typer.Option(help="The folder with the rows of the track record.")
    ] = ROWS,
    out: Annotated[
        Path, typer.Option(help="The folder of all nights: runs, tables, summaries.")
    ] = Path("nights"),
    night: Annotated[
        int | None,
        typer.Option(
            help="The number of the night, from which all seeds follow.",
            show_default="days since 1970",
            min=0,
        ),
    ] = None,
    analyze: Annotated[
        bool, typer.Option(help="Judge the runs of all nights on Spark at the end.")
    ] = True,
) -> None:
    """Test for a night: known bugs first, then new seeds and runs under faults.

    [bold]kraftproof nightly[/]
    The plan of tests/nightly.toml; writes nights/N/summary.md and nights/N/junit.xml.

    [bold]kraftproof nightly --night 20418[/]
    The same seeds as in that night.

    The known bugs are positive controls: if one is not found, the night proves
    nothing. A run with a finding is done again several times. The tables below
    nights/steps and nights/findings keep the results of all nights as Parquet.

    Exit codes: 0 valid, 1 a finding, 2 the night proves nothing, 3 wrong usage or
    input, 130 interrupted.
    """
    from kraftproof.nightly.archive import earlier, keep
    from kraftproof.nightly.night import steps_of_night
    from kraftproof.nightly.plan import read_plan
    from kraftproof.nightly.summary import page, verdict_of, write_junit

    read = read_plan(plan)
    number = int(time.time()) // SECONDS_A_DAY if night is None else night
    day = time.strftime("%Y-%m-%d")
    folder = out / str(number)
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"--out {out}: {error.strerror}") from error
    before = earlier(out, "steps", number), earlier(out, "findings", number)
    steps = []
    for step in steps_of_night(read, number, folder, rows, print_error):
        print_error(f"  {step.name}: {step.verdict}, {step.seconds:.0f} s {step.detail}".rstrip())
        steps.append(step)
        keep(out, number, day, steps)  # what is done stays, if the night is ended
    if analyze:
        steps += _analysed(out, folder)
        keep(out, number, day, steps)
    with option_file("--out", folder / "summary.md") as part:
        part.write_text(page(number, day, steps, *before), encoding="utf-8")
    with option_file("--out", folder / "junit.xml") as part:
        write_junit(part, steps)
    verdict, reason = verdict_of(steps)
    print_verdict(verdict, f"  {reason}; {folder / 'summary.md'}")
    raise typer.Exit(VERDICT_CODES[verdict])


def _analysed(out: Path, folder: Path) -> list["Step"]:
    """Judge the runs of all nights on Spark, and return the step; no step without runs."""
    from kraftproof.nightly.steps import Step, carried_out, command_line

    runs = sorted(str(one.parent) for one in out.glob("*/store/*/run.json"))
    if not runs:
        return []
    analysis = folder / "analysis"
    arguments = ["analyze", *runs, "--out", str(analysis), "--json"]
    done = carried_out(arguments)
    counts = done.last.get("runs", {})
    # A run that is not valid has a step of its own; the analysis fails if there is no result.
    detail = ", ".join(f"{count} {name}" for name, count in counts.items()) or done.said
    return [
        Step(
            kind="analysis",
            name="analysis of all nights",
            verdict="valid" if counts else "unknown",
            seconds=done.seconds,
            command=command_line(["analyze", f"{out}/*/store/*", "--out", str(analysis)]),
            detail=f"{detail}; {analysis}/summary.html",
        )
    ]
