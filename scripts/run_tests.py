"""Run all tests in stages, and print the time of each stage.

`make test` runs cheap stages first, and prints a table at the end. Every test is in
one stage only, by its markers. pytest, ruff and mypy do the work. Standard library only.
"""

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = Path(sys.executable).parent
STAGE_SECONDS = 1800
LEFT_OUT = frozenset({"docker", "spark", "kafka", "wheel", "slow", "long"})
"""Markers of tests outside `make check`."""
BY_FILE = "loadfile"
BY_GROUP = "loadgroup"
"""Tests with a common costly fixture stay together (tests/support/groups.py)."""
MOST_WORKERS = 4
MOST_SHOWN = 4
"""Files of a command that are printed by name."""
CORES = str(min(MOST_WORKERS, len(os.sched_getaffinity(0))))
"""Workers for tests that compute all the time; each worker of Spark warms up a virtual machine."""
WORKERS = str(min(MOST_WORKERS, len(os.sched_getaffinity(0)) + 1))
"""Workers for most tests: one more than cores, since many tests wait for live clusters."""
WAITING_WORKERS = str(MOST_WORKERS)
"""Workers for tests of containers; live clusters mostly wait."""
STAGE_MARKERS = ("simulation", "spark", "docker", "kafka", "wheel")
"""Markers of tests with a stage of their own; the file of such a test names the marker."""
TEST_FILES = "test_*.py"
RECORD = Path(__file__).with_name("test_seconds.tsv")
"""Seconds of each test file, as `python -m scripts.check --record` wrote the table."""
CPU_S, WORKER_S = "cpu_s", "worker_s"
"""Columns of the table: CPU seconds in `make check`, and seconds of a worker of a stage."""
FAST = " and ".join(f"not {marker}" for marker in STAGE_MARKERS)
"""Tests that need no more than Python; those marked long among them are left to test-long."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """Commands under a common name.

    Attributes:
        name: Name of the stage in the table.
        commands: The commands; all run, even after a failed command.
        needs: Stage that must have passed before.
        at_once: Whether two commands run at a time; each prints its output at its end.
    """

    name: str
    commands: tuple[tuple[str, ...], ...]
    needs: str | None = None
    at_once: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The result of a stage: its time and its success."""

    name: str
    seconds: float
    verdict: str


def marked_files(marker: str) -> list[str]:
    """Return the test files that name a marker, relative to the project.

    A stage collects these files only: each worker needs seconds to import all tests.
    """
    paths = sorted((ROOT / "tests").rglob(TEST_FILES))
    return [str(path.relative_to(ROOT)) for path in paths if names_marker(path, marker)]


def names_marker(path: Path, marker: str) -> bool:
    """Return whether a path is that of a test file that names a marker."""
    return path.match(TEST_FILES) and f"mark.{marker}" in text_of(path)


@cache
def text_of(path: Path) -> str:
    """Return the text of a file of this project."""
    return path.read_text(encoding="utf-8")


def recorded(record: Path = RECORD, column: str = CPU_S) -> dict[str, float]:
    """Return a recorded column for each test file."""
    head, *rows = (line.split("\t") for line in record.read_text(encoding="utf-8").splitlines())
    return {row[0]: float(row[head.index(column)]) for row in rows}


def pytest_stage(
    name: str,
    markers: str,
    *,
    needs: str | None = None,
    workers: str = "1",
    together: str = BY_FILE,
) -> Stage:
    """Return a stage of pytest, which keeps JUnit XML for CI.

    Args:
        name: Name of the stage; if it is a marker, only files that name the marker are collected.
        markers: Expression of markers for pytest's -m.
        needs: See `Stage`.
        workers: Number of worker processes; `auto` means one a core, four at most.
        together: `BY_FILE` or `BY_GROUP`: unit of work of a worker.
    """
    report = f"--junitxml=build/junit/{name}.xml"
    most = ("--maxprocesses", "4") if workers == "auto" else ()
    # Tests begin in the order of tests/conftest.py, which is not that of the files' lengths.
    order = ("--dist", together, "--no-loadscope-reorder")
    spread = ("-n", workers, *most, *order) if workers != "1" else ()
    paths = marked_files(name) if name in STAGE_MARKERS else ["tests"]
    command = (str(BIN / "pytest"), "-q", *spread, "-m", markers, report, *paths)
    return Stage(name=name, commands=(command,), needs=needs)


def stages() -> tuple[Stage, ...]:
    """All stages, in order."""
    ruff, mypy = str(BIN / "ruff"), str(BIN / "mypy")
    style = (
        (mypy,),
        # Also writes the bytecode of all tests: else each worker of the next stage compiles them.
        (str(BIN / "pytest"), "-qq", "--collect-only", "tests"),
        (ruff, "check", "."),
        (ruff, "format", "--check", "."),
        (mypy, "scripts"),
        (sys.executable, "-m", "scripts.vacuous_tests"),
        (str(BIN / "lint-imports"), "--no-logo"),
        (sys.executable, "-m", "scripts.prose", "--worst", "0"),
    )
    return (
        Stage(name="engine", commands=((str(ROOT / "scripts" / "bootstrap" / "docker.sh"),),)),
        Stage(name="style", commands=style, at_once=True),
        Stage(name="browser", commands=((str(ROOT / "scripts" / "bootstrap" / "chromium.sh"),),)),
        pytest_stage("fast", f"{FAST} and not long", workers=WORKERS),
        pytest_stage("wheel", "wheel and not docker and not long"),
        pytest_stage(
            "simulation",
            "simulation and not spark and not docker and not long",
            workers="auto",
            together=BY_GROUP,
        ),
        Stage(name="jars", commands=((str(ROOT / "scripts" / "bootstrap" / "kafka.sh"),),)),
        pytest_stage(
            "kafka", "kafka and not long", needs="jars", workers=WORKERS, together=BY_GROUP
        ),
        pytest_stage(
            "spark", "spark and not docker and not long", workers=CORES, together=BY_GROUP
        ),
        pytest_stage(
            "docker",
            "docker and not long",
            needs="engine",
            workers=WAITING_WORKERS,
            together=BY_GROUP,
        ),
    )


def long_stage() -> Stage:
    """The stage of `make test-long`: what is marked long, and the random tests with all cases."""
    stage = pytest_stage("long", f"long or ({FAST})", workers="auto")
    commands = tuple(("env", "KRAFTPROOF_TEST_LONG=1", *command) for command in stage.commands)
    return Stage(name=stage.name, commands=commands)


def shown(command: Sequence[str]) -> str:
    """Return a command for people: paths relative to here, and of many files their number."""
    words = [os.path.relpath(word) if word[:1] == "/" else word for word in command]
    files = [word for word in words if word.startswith("tests/")]
    if len(files) <= MOST_SHOWN:
        return " ".join(words)
    others = [word for word in words if word not in files]
    return " ".join([*others, f"({len(files)} files)"])


def succeeds(command: Sequence[str], *, is_printed_late: bool = False) -> bool:
    """Run a command; return whether the command succeeded in time.

    Args:
        command: The command.
        is_printed_late: Whether the output is printed when the command has ended, and only of a
            command that failed; otherwise the command inherits the output.
    """
    line = f"$ {shown(command)}\n"
    output = subprocess.PIPE if is_printed_late else None
    if not is_printed_late:
        sys.stdout.write(line)
    sys.stdout.flush()
    try:
        done = subprocess.run(
            command,
            cwd=ROOT,
            check=False,
            timeout=STAGE_SECONDS,
            stdout=output,
            stderr=None if output is None else subprocess.STDOUT,
            text=True,
        )
        if is_printed_late:
            sys.stdout.write(line + (done.stdout if done.returncode else ""))
    except subprocess.TimeoutExpired:
        print(f"run_tests: {command[0]} took more than {STAGE_SECONDS} s and was stopped")
    except FileNotFoundError:
        print(f"run_tests: {command[0]} is missing: run 'make setup'")
    else:
        return done.returncode == 0
    return False


def results_of(stage: Stage) -> list[bool]:
    """Run the commands of a stage; return of each whether it succeeded."""
    if not stage.at_once:
        return [succeeds(command) for command in stage.commands]
    with ThreadPoolExecutor(max_workers=2) as threads:
        return list(threads.map(partial(succeeds, is_printed_late=True), stage.commands))


def run(stage: Stage, failed: Sequence[str]) -> Outcome:
    """Run a stage, unless the stage that it needs has failed."""
    print(f"\n=== {stage.name}")
    if stage.needs in failed:
        return Outcome(name=stage.name, seconds=0, verdict=f"not run: {stage.needs} failed")
    begun = time.monotonic()
    results = results_of(stage)
    verdict = "ok" if all(results) else "failed"
    return Outcome(name=stage.name, seconds=time.monotonic() - begun, verdict=verdict)


def table(outcomes: Sequence[Outcome]) -> str:
    """The stages and their times, with the sum."""
    rows = [f"{each.name:<12}{each.seconds:>9.1f} s  {each.verdict}" for each in outcomes]
    total = sum(each.seconds for each in outcomes)
    return "\n".join(["", "=== stages", *rows, f"{'all':<12}{total:>9.1f} s"])


def main() -> int:
    """Run the stages; return 1 if a stage failed."""
    every = stages()
    known = {stage.name: stage for stage in (*every, long_stage())}
    parser = argparse.ArgumentParser(description="Run every test in stages.")
    parser.add_argument("--only", choices=sorted(known), help="one stage, even long")
    parser.add_argument("--started", type=int, help="when set-up began, in seconds of the epoch")
    options = parser.parse_args()
    # The tests start Python a thousand times; without bytecode each compiles all that it imports.
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    outcomes: list[Outcome] = []
    if options.started is not None:
        spent = max(0.0, time.time() - options.started)
        outcomes.append(Outcome(name="setup", seconds=spent, verdict="ok"))
    for stage in [known[options.only]] if options.only else every:
        outcomes.append(run(stage, [each.name for each in outcomes if each.verdict != "ok"]))
    print(table(outcomes))
    return 0 if all(each.verdict == "ok" for each in outcomes) else 1


if __name__ == "__main__":
    raise SystemExit(main())
