"""Run all tests in stages, and print the time of each stage.

`make test` runs cheap stages first, and prints a table at the end. Every test is in
one stage only, by its markers. pytest, ruff and mypy do the work. Standard library only.
"""

import argparse
import os
import sys
import time
from functools import cache
from pathlib import Path

from scripts.stage_runs import ROOT, Outcome, Stage, run, run_all, table

BIN = Path(sys.executable).parent
LEFT_OUT = frozenset({"docker", "spark", "kafka", "wheel", "slow", "long"})
"""Markers of tests outside `make check`."""
BY_FILE = "loadfile"
BY_GROUP = "loadgroup"
"""Tests with a common costly fixture stay together (tests/support/groups.py)."""
MOST_WORKERS = 4
CORES = str(min(MOST_WORKERS, len(os.sched_getaffinity(0))))
"""Workers for tests that compute all the time; each worker of Spark warms up a virtual machine."""
WAITING_WORKERS = str(MOST_WORKERS)
"""Workers for most tests and those of Java, since many tests wait for live clusters."""
CONTAINER_WORKERS = str(MOST_WORKERS + 1)
"""Workers for tests of containers, most of which wait."""
STAGE_MARKERS = ("simulation", "spark", "docker", "kafka", "wheel")
"""Markers of tests with a stage of their own; the file of such a test names the marker."""
TEST_FILES = "test_*.py"
RECORD = Path(__file__).with_name("test_seconds.tsv")
"""Seconds of each test file, as `python -m scripts.check --record` wrote the table."""
CPU_S, WORKER_S = "cpu_s", "worker_s"
"""Columns of the table: CPU seconds in `make check`, and seconds of a worker of a stage."""
MOST_LONG_SECONDS = 3 * 3600
"""Time after which the stage of `make test-long` is stopped; an hour on a quiet machine."""
FAST = " and ".join(f"not {marker}" for marker in STAGE_MARKERS)
"""Tests that need no more than Python; those marked long among them are left to test-long."""


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
    in_background: bool = False,
) -> Stage:
    """Return a stage of pytest, which keeps JUnit XML for CI.

    Args:
        name: Name of the stage; if it is a marker, only files that name the marker are collected.
        markers: Expression of markers for pytest's -m.
        needs: See `Stage`.
        workers: Number of worker processes; `auto` means one a core, four at most.
        together: `BY_FILE` or `BY_GROUP`: unit of work of a worker.
        in_background: See `Stage`.
    """
    report = f"--junitxml=build/junit/{name}.xml"
    most = ("--maxprocesses", "4") if workers == "auto" else ()
    # Tests begin in the order of tests/conftest.py, which is not that of the files' lengths.
    order = ("--dist", together, "--no-loadscope-reorder")
    spread = ("-n", workers, *most, *order) if workers != "1" else ()
    paths = marked_files(name) if name in STAGE_MARKERS else ["tests"]
    command = (str(BIN / "pytest"), "-q", *spread, "-m", markers, report, *paths)
    return Stage(name=name, commands=(command,), needs=needs, in_background=in_background)


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
        pytest_stage("fast", f"{FAST} and not long", workers=WAITING_WORKERS),
        # Setting up a fresh environment mostly waits, and no live cluster runs beside the two.
        pytest_stage("wheel", "wheel and not docker and not long", in_background=True),
        pytest_stage(
            "simulation",
            "simulation and not spark and not docker and not long",
            workers="auto",
            together=BY_GROUP,
        ),
        Stage(name="jars", commands=((str(ROOT / "scripts" / "bootstrap" / "kafka.sh"),),)),
        pytest_stage(
            "kafka",
            "kafka and not long",
            needs="jars",
            workers=WAITING_WORKERS,
            together=BY_GROUP,
        ),
        pytest_stage(
            "spark", "spark and not docker and not long", workers=CORES, together=BY_GROUP
        ),
        pytest_stage(
            "docker",
            "docker and not long",
            needs="engine",
            workers=CONTAINER_WORKERS,
            together=BY_GROUP,
        ),
    )


def long_stage() -> Stage:
    """The stage of `make test-long`: what is marked long, and the random tests with all cases."""
    stage = pytest_stage("long", f"long or ({FAST})", workers="auto")
    commands = tuple(("env", "KRAFTPROOF_TEST_LONG=1", *command) for command in stage.commands)
    return Stage(name=stage.name, commands=commands, most_seconds=MOST_LONG_SECONDS)


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
    begun = time.monotonic()
    outcomes: list[Outcome] = []
    if options.started is not None:
        spent = max(0.0, time.time() - options.started)
        outcomes.append(Outcome(name="setup", seconds=spent, verdict="ok"))
    before = sum(each.seconds for each in outcomes)
    if options.only:
        outcomes.append(run(known[options.only], ()))
    else:
        outcomes = run_all(every, outcomes)
    print(table(outcomes, before + time.monotonic() - begun))
    return 0 if all(each.verdict == "ok" for each in outcomes) else 1


if __name__ == "__main__":
    raise SystemExit(main())
