"""Measures the first check and explanation on a machine: with empty caches of kernels, and warm.

A page of Markdown on standard output: processor and wall-clock seconds, the least of some runs.
Run it on a machine that does nothing else: `python -m bench.first_check --runs 5`.
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

KRAFTPROOF: Final = str(Path(sys.executable).with_name("kraftproof"))
CASES: Final = (
    ("check", "cas-register", 100, None),
    ("check", "cas-register", 2_000, "stale-read"),
    ("explain", "cas-register", 2_000, "stale-read"),
    ("explain", "cas-register", 5_000, "stale-read"),
    ("check", "list-append", 100, None),
    ("explain", "multi-register", 500, "stale-read"),
    ("explain", "topics", 2_000, "gone-id"),
    ("explain", "mutex", 2_000, "double-acquire"),
    ("check", "queue", 2_000, None),
    ("check", "stack", 2_000, "false-empty"),
)
"""Command, model, operations, and the corruption; None for a valid history."""


class Took(NamedTuple):
    """What one command took."""

    cpu_seconds: float
    wall_seconds: float


def main() -> None:
    """Print the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--runs", type=int, default=3, help="runs of each, of which the least counts"
    )
    runs = parser.parse_args().runs
    with tempfile.TemporaryDirectory(prefix="kraftproof-first-check-") as folder:
        sys.stdout.writelines(f"{line}\n" for line in _page(Path(folder), runs))


def _page(folder: Path, runs: int) -> Iterator[str]:
    yield "# The first check on a machine"
    yield ""
    yield f"`python -m bench.first_check --runs {runs}`: seconds of processor and of wall clock,"
    yield f"the least of {runs} runs, on {len(os.sched_getaffinity(0))} cores. Cold: each run"
    yield "begins with an empty cache of compiled kernels. Warm: with the cache of an earlier run."
    yield ""
    columns = ("command", "model", "operations", "corrupted", "cold CPU", "cold wall", "warm CPU")
    yield f"| {' | '.join(columns)} | warm wall |"
    yield "|---|---|---|---|---|---|---|---|"
    for command, model, operations, corruption in CASES:
        history = str(folder / f"{model}-{operations}-{corruption}.jsonl")
        options = ["--model", model, "--operations", str(operations), "--out", history]
        corrupt = [] if corruption is None else ["--corrupt", corruption]
        _run([KRAFTPROOF, "generate", *options, *corrupt], os.environ)
        cold = [_took(folder / f"cold-{run}", command, history) for run in range(runs)]
        warm = [_took(folder / "cold-0", command, history) for _ in range(runs)]
        times = [min(column) for some in (cold, warm) for column in zip(*some, strict=True)]
        figures = " | ".join(f"{seconds:.2f}" for seconds in times)
        yield f"| {command} | {model} | {operations} | {corruption or 'no'} | {figures} |"


def _took(cache: Path, command: str, history: str) -> Took:
    """Return what a command took with a folder for caches, of which each case has its own part."""
    kept = cache / Path(history).stem / command
    kept.mkdir(parents=True, exist_ok=True)
    environment = {**os.environ, "XDG_CACHE_HOME": str(kept)}
    environment.pop("NUMBA_CACHE_DIR", None)
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    _run([KRAFTPROOF, command, history], environment)
    wall = time.monotonic() - begun
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Took(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, wall)


def _run(command: list[str], environment: Mapping[str, str]) -> None:
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if done.returncode not in {0, 1}:
        sys.exit(f"{' '.join(command)}: exit {done.returncode}: {done.stderr}")


if __name__ == "__main__":
    main()
