"""`python -m tests.requirements.edits [ROW ...]`: whether the tests of each requirement notice.

For each edit of breakages/, or of the given rows, the tests that carry the row run on the edited
node, one edit after the other. A line says `red` if they noticed, `GREEN` if they did not, and
`NO FIT` if the edit does not apply any more. The exit status is 0 only if all are red and each
requirement has an edit.
"""

import argparse
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import Final

from scripts.requirements import Row, read_rows
from tests.requirements.breakage import BREAKAGES, Breakage

ROOT: Final = Path(__file__).resolve().parents[2]
LONGEST_S: Final = 400
TESTS_FAILED: Final = 1


class Verdict(StrEnum):
    """What the tests of a requirement said of an edit."""

    RED = "red"
    GREEN = "GREEN"
    UNRUN = "NOT RUN"
    UNFIT = "NO FIT"


def tried(breakage: Breakage) -> tuple[Verdict, str]:
    """Run the tests of a requirement on the edited node; return the verdict and the reason."""
    if breakage.problem:
        return Verdict.UNFIT, breakage.problem
    command = [sys.executable, "-m", "tests.requirements.broken", breakage.name]
    try:
        done = subprocess.run(
            command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=LONGEST_S
        )
    except subprocess.TimeoutExpired:
        return Verdict.UNRUN, f"no end within {LONGEST_S} s"
    return verdict_of(done.returncode, done.stdout + done.stderr)


def verdict_of(status: int, output: str) -> tuple[Verdict, str]:
    """Return what pytest's end says: one test must fail, and none may be in error."""
    lines = output.strip().splitlines() or [""]
    if status == 0:
        return Verdict.GREEN, lines[-1]
    is_failure = status == TESTS_FAILED and "1 failed" in output
    if is_failure and "error" not in lines[-1]:
        named = [line for line in lines if line.startswith("FAILED")]
        return Verdict.RED, (named or lines)[-1].partition(" - ")[0].removeprefix("FAILED ")
    return Verdict.UNRUN, lines[-1]


def report(chosen: Sequence[Breakage], rows: Sequence[Row]) -> int:
    """Try the edits, print a line for each and the sums; return the exit status."""
    counts: Counter[Verdict] = Counter()
    for breakage in chosen:
        begun = time.monotonic()
        verdict, reason = tried(breakage)
        counts[verdict] += 1
        spent = time.monotonic() - begun
        print(f"{verdict:<8}{breakage.requirement:<8}{breakage.title} | {spent:.0f} s, {reason}")
        sys.stdout.flush()
    covered = {breakage.requirement for breakage in chosen}
    lacking = [row.requirement for row in rows if row.requirement not in covered]
    sums = ", ".join(f"{counts[verdict]} {verdict}" for verdict in Verdict)
    print(f"\n{len(chosen)} edits of {len(rows)} rows: {sums}; {len(lacking)} rows without an edit")
    if lacking:
        print(f"without an edit: {' '.join(lacking)}")
    return int(bool(lacking) or counts[Verdict.RED] < len(chosen))


def main() -> int:
    """Try all edits, or those of the rows on the command line."""
    parser = argparse.ArgumentParser(prog="edits", description=__doc__.splitlines()[0])
    parser.add_argument("rows", nargs="*", help="ids, such as 595-01; by default all")
    wanted = parser.parse_args().rows
    known = read_rows()
    unknown = sorted(set(wanted) - {row.requirement for row in known})
    if unknown:
        parser.error(f"no such row: {' '.join(unknown)}")
    rows = [row for row in known if not wanted or row.requirement in wanted]
    ids = {row.requirement for row in rows}
    return report([each for each in BREAKAGES if each.requirement in ids], rows)


if __name__ == "__main__":
    sys.exit(main())
