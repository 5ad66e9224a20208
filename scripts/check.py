"""Check what changed against main within 90 seconds: style, and the tests nearest to the change.

`make check` runs this all day; `make test` runs everything. Containers, Spark, Kafka's jars and the
wheel are left out, and so are tests marked slow or long. What was left out is printed.
"""

import argparse
import os
import subprocess
import sys
import time
import xml.etree.ElementTree as ET
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from scripts.changed_tests import ROOT, importers, nearest_first, within_budget
from scripts.run_tests import (
    BIN,
    CPU_S,
    LEFT_OUT,
    RECORD,
    WORKER_S,
    recorded,
    stages,
)
from scripts.stage_runs import results_of

SECONDS = 90.0
RESERVE_SECONDS = 12.0
"""For collecting the tests and starting the workers."""
BUSY = 0.75
"""Assumed share of computing in a worker's time; tests of live nodes also wait."""
STYLE_SECONDS = 32.0
"""Time of the stage `style` on two quiet cores, subtracted by --dry-run."""
UNKNOWN_SECONDS = 3.0
WORKERS = min(4, os.cpu_count() or 1)
EXCLUDED = " and ".join(f"not {marker}" for marker in sorted(LEFT_OUT))
SHOWN = 8


def changed_files(base: str) -> list[str]:
    """Return the files that differ from where this branch left `base`, the work tree included."""
    left = git("merge-base", base, "HEAD").strip()
    tracked = git("diff", "--name-only", left).splitlines()
    return sorted({*tracked, *git("ls-files", "--others", "--exclude-standard").splitlines()})


def git(*arguments: str) -> str:
    """Return the output of git.

    Raises:
        SystemExit: git fails; one line.
    """
    done = subprocess.run(
        ["git", *arguments], cwd=ROOT, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"check: git {' '.join(arguments)}: {done.stderr.strip()}")
    return done.stdout


def record(reports: Iterable[Path]) -> None:
    """Write the seconds of each test file from JUnit reports of `make test`.

    tests/conftest.py puts the CPU seconds of each test into the report. Load changes only the time
    of a worker, which says which files a stage begins with. CPU seconds of tests outside
    `make check` count as 0. A file that no report names keeps its seconds.
    """
    seconds: defaultdict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for report in reports:
        for case in ET.parse(report).iter("testcase"):
            name = case.get("classname", "").split(".")
            while name and not (path := ROOT.joinpath(*name).with_suffix(".py")).is_file():
                name.pop()
            properties = {one.get("name"): one.get("value", "") for one in case.iter("property")}
            if name and "cpu_s" in properties:
                is_left_out = "left_out_of_check" in properties
                found = seconds[str(path.relative_to(ROOT))]
                found[0] += 0.0 if is_left_out else float(properties["cpu_s"])
                found[1] += float(case.get("time", 0))
    rows = {path: found for path, found in old_rows().items() if (ROOT / path).is_file()}
    lines = [
        f"{path}\t{cpu_s:.1f}\t{worker_s:.1f}\n"
        for path, (cpu_s, worker_s) in sorted((rows | seconds).items())
    ]
    RECORD.write_text("".join([f"file\t{CPU_S}\t{WORKER_S}\n", *lines]), encoding="utf-8")


def old_rows() -> dict[str, list[float]]:
    """Return the recorded seconds of each test file, none if there is no record yet."""
    if not RECORD.is_file():
        return {}
    columns = [recorded(RECORD, column) for column in (CPU_S, WORKER_S)]
    return {path: [column[path] for column in columns] for path in columns[0]}


def run_tests(tests: list[str], seconds: float) -> bool:
    """Run test files on all cores; False if one fails or time is up."""
    if not tests:
        return True
    spread = (
        ["-n", str(WORKERS), "--dist", "loadfile", "--no-loadscope-reorder"]
        if len(tests) > 1
        else []
    )
    command = [str(BIN / "pytest"), "-q", "-m", EXCLUDED, *spread, *tests]
    try:
        # 5: none of the files has a test that may run here.
        return subprocess.run(command, cwd=ROOT, check=False, timeout=seconds).returncode in {0, 5}
    except subprocess.TimeoutExpired:
        print(f"check: stopped after {seconds:.0f} s; run 'python -m scripts.check --record' after")
        print("       'make test' if the recorded times of the tests are out of date")
        return False


def named(tests: list[str]) -> str:
    """Return a few of the tests by name, and the number of the others."""
    more = [f"and {len(tests) - SHOWN} more"] if len(tests) > SHOWN else []
    return ", ".join([*tests[:SHOWN], *more])


def main() -> int:
    """Run style and tests; 1 if one of them failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--base", default="main", help="the branch to compare with")
    parser.add_argument(
        "--record", action="store_true", help="take the times of the last 'make test', run nothing"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="print the tests that would run, run nothing"
    )
    options = parser.parse_args()
    if options.record:
        record(sorted((ROOT / "build" / "junit").glob("*.xml")))
        return 0
    begun = time.monotonic()
    changed = changed_files(options.base)
    all_tests = [str(path.relative_to(ROOT)) for path in (ROOT / "tests").rglob("test_*.py")]
    near = nearest_first(changed, importers(), all_tests)
    results = [] if options.dry_run else style_results()
    left_seconds = SECONDS - (time.monotonic() - begun)
    if options.dry_run:
        left_seconds -= STYLE_SECONDS
    budget = (left_seconds - RESERVE_SECONDS) * WORKERS * BUSY
    chosen, left_out = within_budget(near, recorded(RECORD), budget, UNKNOWN_SECONDS)
    print(f"check: {len(changed)} changed files, {len(near)} test files concerned")
    print(f"check: runs {len(chosen)}: {named(chosen)}")
    sys.stdout.flush()
    if not options.dry_run:
        results.append(run_tests(chosen, left_seconds))
    is_good = all(results)
    if left_out:
        print(f"check: left out {len(left_out)} for time: {named(left_out)}")
    print(f"check: left out tests marked {', '.join(sorted(LEFT_OUT))}: make test")
    print(f"check: {'ok' if is_good else 'failed'} in {time.monotonic() - begun:.0f} s")
    return 0 if is_good else 1


def style_results() -> list[bool]:
    """Run the commands of the stage `style`, and return whether each succeeded."""
    (style,) = (stage for stage in stages() if stage.name == "style")
    return results_of(style)


if __name__ == "__main__":
    raise SystemExit(main())
