"""Run stages of tests one after another, and some of them in the background beside the others.

Standard library only.
"""

import os
import subprocess
import time
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

ROOT = Path(__file__).resolve().parent.parent
STAGE_SECONDS = 1800
CPU_TIMES = Path("/proc/stat")
"""Linux's counts of CPU time of the machine since its start; its first line sums all cores."""
IDLE = slice(3, 5)
"""Idle time and time of waiting for a disk in this line."""
MOST_SHOWN = 4
"""Files of a command that are printed by name."""
AT_LOW_PRIORITY = ("nice", "-n", "5")
"""Begins the commands of stages in the background: live clusters go first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """Commands under a common name.

    Attributes:
        name: Name of the stage in the table.
        commands: The commands; all run, even after a failed command.
        needs: Stage that must have passed before.
        at_once: Whether two commands run at a time; a command that failed prints its output at its
            end.
        is_first_shown: Whether the first of two commands at once prints its output during its run,
            and the second command the whole output at its end.
        in_background: Whether the stage runs at low priority beside the stages that follow. Stages
            in the background run one after another; each prints its output at its end.
        most_seconds: Time after which a command is stopped.
    """

    name: str
    commands: tuple[tuple[str, ...], ...]
    needs: str | None = None
    at_once: bool = False
    is_first_shown: bool = False
    in_background: bool = False
    most_seconds: int = STAGE_SECONDS


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result of a stage.

    Attributes:
        name: Name of the stage.
        seconds: Its time.
        verdict: `ok`, or what went wrong.
        busy: Share of the machine's CPU time that was used meanwhile, by whatever process; None
            where the machine does not tell. A stage that waits leaves a part of the CPU time.
    """

    name: str
    seconds: float
    verdict: str
    busy: float | None = None


def shown(command: Sequence[str]) -> str:
    """Return a command for people: paths relative to here, and of many files their number."""
    words = [os.path.relpath(word) if word[:1] == "/" else word for word in command]
    files = [word for word in words if word.startswith("tests/")]
    if len(files) <= MOST_SHOWN:
        return " ".join(words)
    others = [word for word in words if word not in files]
    return " ".join([*others, f"({len(files)} files)"])


def succeeds(
    command: Sequence[str],
    most_seconds: int,
    *,
    is_printed_late: bool = False,
    heading: str | None = None,
) -> bool:
    """Run a command; return whether the command succeeded in time.

    Args:
        command: The command.
        most_seconds: Time after which the command is stopped.
        is_printed_late: Whether the output is printed when the command has ended, and only of a
            command that failed; otherwise the command inherits the output.
        heading: Text above an output that is printed late, also of a command that succeeded.
    """
    line = f"{heading or ''}$ {shown(command)}\n"
    if not is_printed_late:
        print(line, end="", flush=True)
        return status_of(command, most_seconds) == 0
    # A file and no pipe: a process that a test left behind would keep a pipe open.
    with TemporaryFile("w+") as output:
        status = status_of(command, most_seconds, output)
        output.seek(0)
        print(line + (output.read() if status or heading else ""), end="", flush=True)
    return status == 0


def status_of(command: Sequence[str], most_seconds: int, output: IO[str] | None = None) -> int:
    """Run a command, with its output in a file if there is one; return its exit status, or -1."""
    try:
        done = subprocess.run(
            command,
            cwd=ROOT,
            check=False,
            timeout=most_seconds,
            stdout=output,
            stderr=None if output is None else subprocess.STDOUT,
        )
    except subprocess.TimeoutExpired:
        print(f"run_tests: {shown(command)} took more than {most_seconds} s and was stopped")
    except FileNotFoundError:
        print(f"run_tests: {command[0]} is missing: run 'make setup'")
    else:
        return done.returncode
    return -1


def results_of(stage: Stage) -> list[bool]:
    """Run the commands of a stage; return of each whether it succeeded."""
    if not stage.at_once:
        return [succeeds(command, stage.most_seconds) for command in stage.commands]
    late = partial(succeeds, most_seconds=stage.most_seconds, is_printed_late=True)
    with ThreadPoolExecutor(max_workers=2) as threads:
        if not stage.is_first_shown:
            return list(threads.map(late, stage.commands))
        first, second = stage.commands
        other = threads.submit(late, second, heading="\n")
        return [succeeds(first, stage.most_seconds), other.result()]


def behind(stage: Stage) -> list[bool]:
    """Run the commands of a stage at low priority, and print each output under a heading."""
    heading = f"\n=== {stage.name}, in the background until now\n"
    return [
        succeeds(
            (*AT_LOW_PRIORITY, *command), stage.most_seconds, is_printed_late=True, heading=heading
        )
        for command in stage.commands
    ]


def run(stage: Stage, failed: Sequence[str], *, is_behind: bool = False) -> Outcome:
    """Run a stage, unless the stage that it needs has failed."""
    print(f"\n=== {stage.name}{' begins in the background' if is_behind else ''}", flush=True)
    if stage.needs in failed:
        return Outcome(name=stage.name, seconds=0, verdict=f"not run: {stage.needs} failed")
    begun, cpu_begun = time.monotonic(), cpu_times()
    results = behind(stage) if is_behind else results_of(stage)
    return Outcome(
        name=stage.name,
        seconds=time.monotonic() - begun,
        verdict="ok" if all(results) else "failed",
        busy=busy_share(cpu_begun, cpu_times()),
    )


def cpu_times() -> list[int]:
    """Return the CPU times of the machine since its start by kind, or none where it tells none."""
    try:
        first, _, _ = CPU_TIMES.read_text(encoding="utf-8").partition("\n")
    except OSError:
        return []
    return [int(count) for count in first.split()[1:]]


def busy_share(begin: Sequence[int], end: Sequence[int]) -> float | None:
    """Return the share of the machine's CPU time that was used between two counts."""
    spent = [after - before for before, after in zip(begin, end, strict=True)]
    return 1 - sum(spent[IDLE]) / sum(spent) if sum(spent) else None


def run_all(every: Sequence[Stage], done: Sequence[Outcome]) -> list[Outcome]:
    """Run stages in order, those in the background beside the others; return all outcomes."""
    outcomes = list(done)
    later: list[Future[Outcome]] = []
    with ThreadPoolExecutor(max_workers=1) as background:
        for stage in every:
            if stage.in_background:
                later.append(background.submit(run, stage, (), is_behind=True))
            else:
                failed = [each.name for each in outcomes if each.verdict != "ok"]
                outcomes.append(run(stage, failed))
        return [*outcomes, *(each.result() for each in later)]


def table(outcomes: Sequence[Outcome], total: float) -> str:
    """The stages with their times and how busy the machine was, and the time of all."""
    busy = ["" if each.busy is None else f"{each.busy:.0%} busy" for each in outcomes]
    rows = [
        f"{each.name:<12}{each.seconds:>9.1f} s {share:>10}  {each.verdict}"
        for each, share in zip(outcomes, busy, strict=True)
    ]
    return "\n".join(["", "=== stages", *rows, f"{'all':<12}{total:>9.1f} s"])
