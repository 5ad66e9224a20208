"""Do the runs of a row: of the version until the bug is found, and of the control."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Final

import msgspec

from kraftproof.checkers.verdict import Verdict
from kraftproof.errors import INTERRUPTED_EXIT_CODE, UsageError
from kraftproof.options import RunOptions
from kraftproof.run.planning import plan, preflight
from kraftproof.run.runner import RunResult
from kraftproof.running import run_and_report
from kraftproof.track_record.rows import Row

Say = Callable[[str], None]
NS_PER_S: Final = 1_000_000_000


class Runs(msgspec.Struct, frozen=True, kw_only=True):
    """The runs of a version.

    Attributes:
        version: The release, with settings that only the control has.
        done: The number of runs.
        unknown: The number of runs without a verdict.
        found: The number of runs with a finding of the check.
        seconds: The time from the first start to the finding, or of all runs.
        sentence: The first finding of the check.
        others: The names of other checks with findings.
        path: The directory of the run with the finding, or of the last run.
        why: The reason for the first run without a verdict.
    """

    version: str
    done: int
    unknown: int
    found: int
    seconds: float
    sentence: str = ""
    others: tuple[str, ...] = ()
    path: str = ""
    why: str = ""


class Recorded(msgspec.Struct, frozen=True, kw_only=True):
    """The result of a row: the runs of the version with the bug, and of the control."""

    row: str
    issue: str
    title: str
    check: str
    day: str
    affected: Runs
    control: Runs

    @property
    def holds(self) -> bool:
        """Return whether the bug is found, on the affected version only, by runs with verdicts."""
        control = self.control
        is_control_clear = control.found == 0 and control.unknown < control.done
        return self.affected.found > 0 and is_control_clear

    def describe(self) -> str:
        """Return the result in a line; without a find, with the other checks that had findings."""
        affected, control = self.affected, self.control
        state = "holds" if self.holds else "does not hold"
        found = f"found in {affected.found} of {affected.done} runs, {affected.seconds:.0f} s"
        if affected.others and not affected.found:
            found = f"{found} (not by {self.check}, but by {', '.join(affected.others)})"
        told = f"{self.row}: {state}; {found}; control {control.found} of {control.done}"
        why = affected.why or control.why
        return f"{told}; a run without a verdict: {why}" if why else told

    def as_json(self) -> dict[str, object]:
        """Return the row as the line of `--json`."""
        return {
            "row": self.row,
            "version": self.affected.version,
            "found": self.affected.found > 0,
            "control": self.control.version,
            "found_on_control": self.control.found > 0,
            "seconds": round(self.affected.seconds, 1),
            "runs": self.affected.done,
            "control_runs": self.control.done,
            "unknown": self.affected.unknown + self.control.unknown,
            "finding": self.affected.sentence,
            "run": self.affected.path,
        }


def refuse(row: Row) -> None:
    """Refuse a row that no run can be made of, before any row is run.

    Raises:
        UsageError: one line that names the file, and the version or the control.
    """
    for key, options in (("version", row.options), ("control", row.control_options)):
        try:
            plan(options, row.schedule)
        except ValueError as error:
            raise UsageError(f"{row.path}: {key}: {error}") from error


def record(row: Row, say: Say) -> Recorded:
    """Do the runs of a row.

    Args:
        row: The row.
        say: Takes a line of progress for each run.

    Raises:
        UsageError: the row can't be run here, for example without Docker.
        KeyboardInterrupt: a run was interrupted.
    """
    return Recorded(
        row=row.name,
        issue=row.issue,
        title=row.title,
        check=row.finding,
        day=time.strftime("%Y-%m-%d"),
        affected=_runs(row, row.version, row.options, row.runs, say, is_affected=True),
        control=_runs(
            row, row.control_name, row.control_options, row.control_runs, say, is_affected=False
        ),
    )


def _why(run: RunResult) -> str:
    """Return why a run has no verdict; empty for a run with a verdict."""
    return next(iter(run.why), "") if run.verdict is Verdict.UNKNOWN else ""


def _runs(
    row: Row, version: str, options: RunOptions, most: int, say: Say, *, is_affected: bool
) -> Runs:
    preflight(options)
    begun_s = time.monotonic()
    result = Runs(version=version, done=0, unknown=0, found=0, seconds=0.0)
    for number in range(most):
        if number and time.monotonic() - begun_s > row.budget_s:
            break
        seeded = replace(options, seed=options.seed + number)
        run, _ = run_and_report(seeded, plan(seeded, row.schedule), None, is_silent=True)
        if run.exit_code == INTERRUPTED_EXIT_CODE:
            raise KeyboardInterrupt
        mine = [one for one in run.findings if one.check == row.finding]
        others = {one.check for one in run.findings} - {row.finding}
        result = msgspec.structs.replace(
            result,
            done=result.done + 1,
            unknown=result.unknown + (run.verdict is Verdict.UNKNOWN),
            found=result.found + bool(mine),
            seconds=time.monotonic() - begun_s,
            sentence=result.sentence or (mine[0].sentence if mine else ""),
            others=tuple(sorted({*result.others, *others})),
            path=str(run.directory.path),
            why=result.why or _why(run),
        )
        told = mine[0].sentence if mine else next(iter(run.why), "no finding")
        say(f"{row.name} {version} run {number + 1}: {run.verdict.value}, {told}")
        if mine and is_affected:
            break
    return result
