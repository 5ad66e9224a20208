"""`python -m bench.checkers`: see the package. Exit codes: 0 measured, 3 a compiler is missing."""

import argparse
import os
import sys
from collections.abc import Iterable
from pathlib import Path

from bench.checkers import __doc__ as introduction
from bench.checkers.histories import ROWS, BenchError
from bench.checkers.kept import Kept, replace, state_of
from bench.checkers.measure import measure
from bench.checkers.page import page
from bench.checkers.peers import sides
from bench.checkers.processes import Limits
from bench.checkers.shared import shared_histories

CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "kraftproof" / "bench"


def main() -> int:
    """Measure all rows, and write the page after each row."""
    given = _parser().parse_args()
    limits = Limits(seconds=given.seconds, memory_bytes=int(given.memory_gb * 1e9))
    given.cache.mkdir(parents=True, exist_ok=True)
    try:
        _run(given, limits)
    except BenchError as error:
        sys.stderr.write(f"bench.checkers: {error}\n")
        return 3
    return 0


def _parser() -> argparse.ArgumentParser:
    names = [row.name for row in ROWS]
    parser = argparse.ArgumentParser(description=str(introduction).splitlines()[0])
    parser.add_argument("--only", action="append", choices=names, help="this row; may be repeated")
    parser.add_argument("--repetitions", type=int, help="checks a side, instead of 15 or 5")
    parser.add_argument("--seconds", type=float, default=60.0, help="limit of one check")
    parser.add_argument("--memory-gb", type=float, default=12.0, help="limit of one process")
    parser.add_argument("--cache", type=Path, default=CACHE, help="for histories and peers")
    parser.add_argument("--out", type=Path, help="the page; printed if not given")
    parser.add_argument(
        "--resume",
        action="store_true",
        help="keep the rows of a run that ended early, if it was of the same sources and limits",
    )
    return parser


def _run(given: argparse.Namespace, limits: Limits) -> None:
    rows = [row for row in ROWS if not given.only or row.name in given.only]
    _say("building the peers")
    all_sides = sides(given.cache)
    path = given.cache / "measured.json"
    of = state_of([given.repetitions, limits])
    kept = Kept.read(path, of) if given.resume else Kept(of)
    for row in rows:
        if row.name in kept.measured:
            continue
        try:
            results = measure(row, all_sides, given.cache, limits, given.repetitions, _say)
        except BenchError as error:
            _say(f"{row.name}: left out: {error}")
            continue
        kept.measured[row.name], kept.files[row.name] = results, len(row.files(given.cache))
        kept.write(path)
        if given.out is not None:
            _write(given.out, page(kept.measured, kept.files, all_sides, limits))
    _say("tests/histories")
    lines = page(kept.measured, kept.files, all_sides, limits, shared_histories(limits))
    if given.out is None:
        print("\n".join(lines))
    else:
        _write(given.out, lines)


def _write(path: Path, lines: Iterable[str]) -> None:
    replace(path, "".join(f"{line}\n" for line in lines).encode())


def _say(what: str) -> None:
    sys.stderr.write(f"\r\x1b[K{what}" if sys.stderr.isatty() else f"{what}\n")
    sys.stderr.flush()


if __name__ == "__main__":
    sys.exit(main())
