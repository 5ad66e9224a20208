"""Run all tests in stages, and print the time of each stage.

`make test` runs cheap stages first, and prints a table at the end. Every test is in
one stage only, by its markers. pytest, ruff and mypy do the work. Standard library only.
"""

import argparse
import os
import re
import sys
import time
from collections.abc import Sequence
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
"""Workers for tests most of which wait for live clusters, and for those of Java."""
BESIDE_WORKERS = str(MOST_WORKERS - 1)
"""Workers for tests that wait, beside tests that compute."""
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
COMPUTING = tuple(
    f"tests/{each}/" for each in ("checkers", "node/core", "node/storage", "node/wire")
)
"""Folders of fast tests that compute; most fast tests elsewhere wait for processes."""
OTHER_STAGE = re.compile(
    rf"^pytestmark\b.*\bmark\.({'|'.join((*STAGE_MARKERS, 'long'))})\b", re.MULTILINE
)
"""The mark of a file without fast tests."""
FAST = " and ".join(f"not {marker}" for marker in STAGE_MARKERS)
"""Tests that need no more than Python; those marked long among them are left to test-long."""


def marked_files(marker: str) -> list[str]:
    """Return the test files that name a marker, relative to the project.

    A stage collects these files only: each worker needs seconds to import all tests.
    """
    paths = sorted((ROOT / "tests").rglob(TEST_FILES))
    return [str(path.relative_to(ROOT)) for path in paths if names_marker(path, marker)]


def fast_files() -> tuple[list[str], list[str]]:
    """Return the files of fast tests that compute, and the files of fast tests that wait."""
    paths = [str(path.relative_to(ROOT)) for path in sorted((ROOT / "tests").rglob(TEST_FILES))]
    fast = [path for path in paths if not OTHER_STAGE.search(text_of(ROOT / path))]
    computing = [path for path in fast if path.startswith(COMPUTING)]
    return computing, [path for path in fast if path not in computing]


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


def pytest_command(
    name: str, markers: str, paths: Sequence[str], *, workers: str = "1", together: str = BY_FILE
) -> tuple[str, ...]:
    """Return a command of pytest, which keeps JUnit XML for CI.

    Args:
        name: Name of the report.
        markers: Expression of markers for pytest's -m.
        paths: Files or folders; all tests in them are collected by each worker.
        workers: Number of worker processes; `auto` means one a core, four at most.
        together: `BY_FILE` or `BY_GROUP`: unit of work of a worker.
    """
    report = f"--junitxml=build/junit/{name}.xml"
    most = ("--maxprocesses", "4") if workers == "auto" else ()
    # Tests begin in the order of tests/conftest.py, which is not that of the files' lengths.
    order = ("--dist", together, "--no-loadscope-reorder")
    spread = ("-n", workers, *most, *order) if workers != "1" else ()
    return (str(BIN / "pytest"), "-q", *spread, "-m", markers, report, *paths)


def pytest_stage(
    name: str,
    markers: str,
    *,
    needs: str | None = None,
    workers: str = "1",
    together: str = BY_FILE,
    in_background: bool = False,
) -> Stage:
    """Return a stage of one command of pytest.

    Args:
        name: Name of the stage; if it is a marker, only files that name the marker are collected.
        markers: See `pytest_command`.
        needs: See `Stage`.
        workers: See `pytest_command`.
        together: See `pytest_command`.
        in_background: See `Stage`.
    """
    paths = marked_files(name) if name in STAGE_MARKERS else ["tests"]
    command = pytest_command(name, markers, paths, workers=workers, together=together)
    return Stage(name=name, commands=(command,), needs=needs, in_background=in_background)


def fast_stage() -> Stage:
    """The stage of the tests that need Python only: two commands at once.

    A worker collects the tests of one command: collecting 18,000 tests took a tenth of the time.
    """
    markers = f"{FAST} and not long"
    computing, waiting = fast_files()
    return Stage(
        name="fast",
        commands=(
            pytest_command("fast", markers, waiting, workers=BESIDE_WORKERS),
            pytest_command("fast-computing", markers, computing, workers=CORES),
        ),
        at_once=True,
        is_first_shown=True,
    )


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
        fast_stage(),
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
