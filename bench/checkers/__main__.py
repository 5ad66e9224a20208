"""`python -m bench.checkers`: see the package. Exit codes: 0 measured, 3 a compiler is missing."""

import argparse
import os
import sys
from pathlib import Path

from bench.checkers import __doc__ as introduction
from bench.checkers.histories import ROWS, BenchError
from bench.checkers.measure import Results, measure
from bench.checkers.page import page
from bench.checkers.peers import sides
from bench.checkers.processes import Limits
from bench.checkers.shared import shared_histories

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kraftproof" / "bench"


def main() -> int:
    """Measure, and print the page."""
    names = [row.name for row in ROWS]
    parser = argparse.ArgumentParser(description=str(introduction).splitlines()[0])
    parser.add_argument("--only", action="append", choices=names, help="this row; may be repeated")
    parser.add_argument("--repetitions", type=int, help="checks a side, instead of 15 or 5")
    parser.add_argument("--seconds", type=float, default=60.0, help="limit of one check")
    parser.add_argument("--memory-gb", type=float, default=12.0, help="limit of one process")
    parser.add_argument("--cache", type=Path, default=CACHE, help="for histories and peers")
    given = parser.parse_args()
    limits = Limits(seconds=given.seconds, memory_bytes=int(given.memory_gb * 1e9))
    given.cache.mkdir(parents=True, exist_ok=True)
    try:
        print("\n".join(_measured(given, limits)))
    except BenchError as error:
        sys.stderr.write(f"bench.checkers: {error}\n")
        return 3
    return 0


def _measured(given: argparse.Namespace, limits: Limits) -> list[str]:
    _say("building the peers")
    all_sides = sides(given.cache)
    measured: dict[str, Results] = {}
    files: dict[str, int] = {}
    for row in ROWS:
        if given.only and row.name not in given.only:
            continue
        try:
            measured[row.name] = measure(
                row, all_sides, given.cache, limits, given.repetitions, _say
            )
        except BenchError as error:
            _say(f"{row.name}: left out: {error}\n")
            continue
        files[row.name] = len(row.files(given.cache))
    _say("tests/histories")
    shared = ("not measured", "") if given.only else shared_histories(limits)
    return list(page(measured, files, all_sides, limits, shared))


def _say(what: str) -> None:
    sys.stderr.write(f"\r\x1b[K{what}" if sys.stderr.isatty() else f"{what}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
